// Holds every answer that a test client gets to the description. Throws if the answer is not described.

import { describeApi } from "../../src/description/api-description.ts";
import type { DescribedInstance } from "../../src/description/described-instance.ts";
import { differences } from "./described-answers.ts";

// Every limit and check is on, so every status that any instance can answer with is described.
const strictest: DescribedInstance = {
  version: "0.0.0",
  forms: "both",
  fieldNames: "as-sent",
  requiredFields: ["Name"],
  auth: "all",
  readOnly: false,
  checksHosts: true,
  rateLimitPerSecond: 1,
  bodyBytesMax: 1,
  headerBytesMax: 1,
  nestingDepthMax: 1,
  storeBytesMax: 1,
};
/** Larger bodies are not parsed. Some tests fetch long lists a thousand times. */
const bodyBytesMax = 32 * 1024;

const description = describeApi(strictest, "/");

/** Returns the response unchanged. Its body can still be read. */
export async function checkedAnswer(response: Response, method: string, path: string): Promise<Response> {
  const { status, headers } = response;
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  // The body is read as text only if it was not compressed, or if the client has decompressed it.
  const text = isStream || method === "HEAD" ? undefined : await response.clone().text();
  const isChecked = text !== undefined && text.length <= bodyBytesMax && /^(?:[[{]|$)/.test(text);
  const body = isChecked ? text : undefined;
  const seen = { method, path: path.split("?")[0] ?? path, status, headers, body };
  const found = differences(description, seen);
  if (found.length > 0) throw new Error(`an answer differs from the API's description:\n${found.join("\n")}`);
  return response;
}
