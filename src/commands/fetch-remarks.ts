// Tells the user of a command, while it runs, that the service does not answer.

import { remark } from "./output.ts";

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** After this time without an answer, the user hears of it. The request goes on. */
const slowMs = 5_000;

/** Says once that the service has not answered yet. Without that, the command would seem to hang. */
export function remarkingSlow(fetch: Fetch): Fetch {
  let hasRemarked = false;
  return async (url, init) => {
    const timer = setTimeout(() => {
      if (!hasRemarked) remark(`Still waiting for ${new URL("/", url)} to answer. To stop, press Ctrl-C.`);
      hasRemarked = true;
    }, slowMs);
    try {
      return await fetch(url, init);
    } finally {
      clearTimeout(timer);
    }
  };
}
