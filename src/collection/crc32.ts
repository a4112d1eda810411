// Combines the checksums of two byte sequences into the checksum of both together, without reading the bytes again. A
// CRC-32 is a polynomial modulo a fixed polynomial. Appending n bytes multiplies the first checksum by x^(8n). Then the
// checksum of the appended bytes is added. As in zlib, the highest bit stands for x^0.

const polynomial = 0xedb88320;
const one = 0x80000000;
const x8 = one >>> 8;

/** The factor by which a checksum is multiplied if this many bytes are appended. */
export function factorOf(byteCount: number): number {
  let factor = one;
  let square = x8;
  for (let rest = byteCount; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) factor = multiply(factor, square);
    square = multiply(square, square);
  }
  return factor;
}

/** The checksum of two sequences, one after the other. `factor` is `factorOf` the length of the second one. */
export function combine(first: number, second: number, factor: number): number {
  return (multiply(first, factor) ^ second) >>> 0;
}

function multiply(a: number, b: number): number {
  let product = 0;
  let term = b;
  for (let bit = one; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= term;
    term = term & 1 ? (term >>> 1) ^ polynomial : term >>> 1;
  }
  return product >>> 0;
}
