// Writes bytes to an open file or to standard output. Fails unless all of them were written. (Bun's own writers report
// a full disk or a closed pipe late, or not at all.)

import { write } from "node:fs";
import { isSystemError } from "../../files/system-reason.ts";

export const standardOutput = 1;

/** How long to wait before writing again, if the reader of a pipe is slow. */
const retryMs = 5;

export async function writeAll(file: number, bytes: Uint8Array): Promise<void> {
  for (let start = 0; start < bytes.byteLength; ) {
    try {
      start += await writeSome(file, bytes.subarray(start));
    } catch (error) {
      if (!isSystemError(error) || error.code !== "EAGAIN") throw error;
      await Bun.sleep(retryMs);
    }
  }
}

/** Returns the number of bytes that were written. */
function writeSome(file: number, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    write(file, bytes, (error, count) => (error ? reject(error) : resolve(count)));
  });
}
