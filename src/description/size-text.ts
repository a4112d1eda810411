// Sizes for people to read.

const units = [
  { name: "GiB", bytes: 1024 ** 3 },
  { name: "MiB", bytes: 1024 ** 2 },
  { name: "KiB", bytes: 1024 },
];

/** Uses the largest unit that gives a whole number. */
export function sizeText(bytes: number): string {
  const unit = units.find((one) => bytes % one.bytes === 0);
  return unit ? `${bytes / unit.bytes} ${unit.name}` : `${bytes.toLocaleString("en")} bytes`;
}
