// How large a request's head may be. The runtime refuses what is over its own limit before we see it, with
// an empty 431; a lower limit is ours to keep.

import { Problem } from "../problem.ts";

export const runtimeHeaderBytesMax = 16 * 1024;

export function checkHeaders(request: Request, bytesMax: number): void {
  let bytes = request.method.length + request.url.length;
  // Each field takes four bytes more: the colon and space, and the line end.
  for (const [name, value] of request.headers) bytes += name.length + value.length + 4;
  if (bytes <= bytesMax) return;
  throw new Problem(
    "HeadersTooLarge",
    `The request's head is larger than ${bytesMax} bytes, the most this instance takes.`,
  );
}
