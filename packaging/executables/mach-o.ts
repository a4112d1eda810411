// Removes the signature from an executable for Macs with Intel processors. Bun leaves the signature of its own binary
// in the executable. That signature does not match the changed file, and macOS ends a program whose signature does not
// match. Without any signature, such a program runs. (Programs for Apple's own processors need a signature, and Bun
// makes a new one for them.)

const headerBytes = 32;
const magic = 0xfeedfacf;
const segmentCommand = 0x19;
const signatureCommand = 0x1d;

/**
 * Returns the file without its signature. The signature must belong to the last load command and be at the end of the
 * file, as linkers and `codesign` write it. Throws otherwise.
 */
export function withoutSignature(file: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const header = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const word = (offset: number) => header.getUint32(offset, true);
  if (word(0) !== magic) throw new Error("this is not a Mach-O file of 64 bits");
  const [commandCount, commandBytes] = [word(16), word(20)];
  let command = headerBytes;
  let linkEdit = 0;
  for (let index = 1; index < commandCount; index++) {
    if (word(command) === segmentCommand && nameAt(file, command + 8) === "__LINKEDIT") linkEdit = command;
    command += word(command + 4);
  }
  const [kind, length, start, size] = [word(command), word(command + 4), word(command + 8), word(command + 12)];
  if (kind !== signatureCommand || start + size !== file.byteLength || linkEdit === 0)
    throw new Error("the signature is not at the end of the Mach-O file");
  const unsigned = file.slice(0, start);
  const changed = new DataView(unsigned.buffer);
  changed.setUint32(16, commandCount - 1, true);
  changed.setUint32(20, commandBytes - length, true);
  unsigned.fill(0, command, command + length);
  // The last segment of the file contained the signature, so the segment gets shorter. The segment begins at this
  // offset of the file.
  const segmentStart = changed.getBigUint64(linkEdit + 40, true);
  changed.setBigUint64(linkEdit + 48, BigInt(start) - segmentStart, true);
  return unsigned;
}

function nameAt(file: Uint8Array, offset: number): string {
  const name = new TextDecoder().decode(file.subarray(offset, offset + 16));
  return name.slice(0, name.indexOf("\0"));
}
