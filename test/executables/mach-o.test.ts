// Tests that the signature of an executable for macOS is removed. The file in this test has only the parts that matter
// here.

import { expect, test } from "bun:test";
import { withoutSignature } from "../../packaging/executables/mach-o.ts";

const contents = "contents";
const signature = "signature";
const commandsEnd = 32 + 72 + 16;

/**
 * A header, the segment __LINKEDIT with the contents and the signature, and the command that points to the signature.
 */
function machO(signatureStart = commandsEnd + contents.length): Uint8Array<ArrayBuffer> {
  const file = new Uint8Array(commandsEnd + contents.length + signature.length);
  const view = new DataView(file.buffer);
  const words = (offset: number, ...values: number[]) =>
    values.forEach((value, index) => {
      view.setUint32(offset + index * 4, value, true);
    });
  words(0, 0xfeedfacf, 0x01000007, 3, 2, 2, 72 + 16, 0, 0);
  words(32, 0x19, 72);
  file.set(Buffer.from("__LINKEDIT"), 40);
  view.setBigUint64(32 + 40, BigInt(commandsEnd), true);
  view.setBigUint64(32 + 48, BigInt(contents.length + signature.length), true);
  words(32 + 72, 0x1d, 16, signatureStart, signature.length);
  file.set(Buffer.from(contents + signature), commandsEnd);
  return file;
}

test("a Mach-O file loses its signature and the command for it, and keeps everything else", () => {
  const file = withoutSignature(machO());
  const view = new DataView(file.buffer);
  expect(Buffer.from(file.subarray(commandsEnd)).toString()).toBe(contents);
  expect({ commands: view.getUint32(16, true), commandBytes: view.getUint32(20, true) }).toEqual({
    commands: 1,
    commandBytes: 72,
  });
  expect(view.getBigUint64(32 + 48, true)).toBe(BigInt(contents.length));
  expect(file.subarray(32 + 72, commandsEnd)).toEqual(new Uint8Array(16));
});

test("a file of another kind, or with its signature elsewhere, is refused", () => {
  expect(() => withoutSignature(new Uint8Array(200))).toThrow("not a Mach-O file");
  expect(() => withoutSignature(machO(commandsEnd))).toThrow("not at the end");
});
