// Writes bytes to an open file or to standard output. Fails unless all of them were written. (Bun's own writers report
// a full disk or a closed pipe late, or not at all.)

import { writeSync } from "node:fs";
import { isSystemError } from "../../files/system-reason.ts";
import { outputError } from "../command-line/output.ts";

export const standardOutput = 1;

/** How long to wait before writing again, if the reader of a pipe is slow. */
const retryMs = 5;

export async function writeAll(file: number, bytes: Uint8Array): Promise<void> {
  for (let start = 0; start < bytes.byteLength; )
    try {
      start += writeSync(file, bytes, start);
    } catch (error) {
      if (!isSystemError(error) || error.code !== "EAGAIN") throw file === standardOutput ? outputError(error) : error;
      await Bun.sleep(retryMs);
    }
}
