// Makes the address of a service on this machine from its settings, and asks a service whether it is ready.

import { isIPv6 } from "node:net";
import { scanIfObject } from "../items/json-text.ts";
import { stringOf } from "../items/object-text.ts";
import { parseToken } from "../items/token.ts";
import { addressesOf } from "../serve/loopback.ts";
import type { Settings } from "../serve/settings-table.ts";
import { printable } from "../terminal/text.ts";
import { fetchOrProbe, HttpsExpected } from "./https-probe.ts";
import { unknownNameCodes } from "./server-address.ts";
import { certificateCode, certificateFaults } from "./trusting-fetch.ts";

/** A check of the store may take some seconds. After this time, the service counts as hanging. */
const answerMs = 5_000;
/** What the service says about its health is shorter than this. */
const healthLengthMax = 10_000;

/** Addresses that stand for every address of the machine, each with an address by which this machine reaches itself. */
const anyAddress = new Map([
  ["0.0.0.0", "127.0.0.1"],
  ["::", "::1"],
]);

export interface Health {
  /**
   * `foreign` means that the answer does not come from todoitems. `other scheme` means that the address has http
   * instead of https, or the reverse. `not trusted` means that this machine does not trust the certificate. `unknown
   * name` means that no server with this name was found. `silent` means that there was no answer.
   */
  readonly state: "ready" | "not ready" | "foreign" | "other scheme" | "not trusted" | "unknown name" | "silent";
  /** What happened, as the end of a sentence. */
  readonly detail: string;
}

/** The URL by which this machine reaches its own listener. */
export function ownUrl(scheme: "http" | "https", { host }: Settings, port: number): URL {
  const address = anyAddress.get(host) ?? addressesOf(host)[0] ?? host;
  return new URL(`${scheme}://${isIPv6(address) ? `[${address}]` : address}:${port}/`);
}

/**
 * Asks the service at this address whether it is ready. If `trusts` is true, any certificate is accepted, which is
 * right only on this machine.
 */
export async function askHealth(base: URL, { trusts }: { readonly trusts: boolean }): Promise<Health> {
  try {
    return await judge(await get(new URL("health/ready", base), trusts));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return wrongScheme(error, base) ?? { state: failedState(error), detail: reasonOf(error) };
  }
}

/**
 * Asks the service at this address for its epoch, which is the name of its store's history. Undefined if the service
 * does not say, for example because it needs credentials.
 */
export async function askEpoch(base: URL, { trusts }: { readonly trusts: boolean }): Promise<string | undefined> {
  try {
    // With this condition, the answer is the entity tag of the list, without the list.
    const { headers } = await get(new URL("api/todoitems", base), trusts, { "If-None-Match": "*" });
    return parseToken(headers.get("etag") ?? "")?.epoch;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return undefined;
  }
}

function get(url: URL, trusts: boolean, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetchOrProbe(url.href, {
    headers,
    proxy: false,
    redirect: "manual",
    signal: AbortSignal.timeout(answerMs),
    tls: { rejectUnauthorized: !trusts },
  });
}

function wrongScheme(error: Error, { href }: URL): Health | undefined {
  const state = "other scheme";
  if (error instanceof HttpsExpected)
    return { state, detail: `the server there uses HTTPS. Use ${href.replace("http:", "https:")} instead` };
  if ("code" in error && error.code === "EPROTO")
    return { state, detail: `the server there does not use HTTPS. Use ${href.replace("https:", "http:")} instead` };
  return undefined;
}

function failedState(error: Error): Health["state"] {
  if (isUntrusted(error)) return "not trusted";
  return isUnknownName(error) ? "unknown name" : "silent";
}

/** Why `fetch` failed, in words for people. */
export function reasonOf(error: Error): string {
  if (error.name === "TimeoutError") return `there was no answer within ${answerMs / 1_000} s`;
  if (isUnknownName(error)) return "no server with this name was found";
  if (!isUntrusted(error)) return "nothing answers there";
  const code = "code" in error ? String(error.code) : "";
  return `its certificate ${certificateFaults.get(code)?.fault ?? "is not trusted"}`;
}

/** True if `fetch` failed because it did not find the server's name. */
export function isUnknownName(error: Error): boolean {
  return "code" in error && unknownNameCodes.includes(String(error.code));
}

/** True if `fetch` failed because of the server's certificate. */
export function isUntrusted(error: Error): boolean {
  return "code" in error && certificateCode.test(String(error.code));
}

const notReadyReasons = new Map([
  ["store unavailable", "it cannot use its store, and its log says why"],
  ["stopping", "it is about to stop"],
]);

/** Why a service says that it is not ready, in words for people. Undefined if the text is not from todoitems. */
function whyNotReady(text: string): string | undefined {
  const fields = scanIfObject(text)?.toMap();
  // The text may also be a problem document. A document's status is a number.
  const detail = stringOf(fields?.get("detail"))?.replace(/\.$/, "");
  return notReadyReasons.get(stringOf(fields?.get("status")) ?? "") ?? detail;
}

/** The beginning of a body, because a server that is not ours may send one that never ends. */
async function beginningOf({ body }: Response): Promise<string> {
  let text = "";
  for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    if (text.length > healthLengthMax) break;
  }
  return text;
}

/** What an answer to the question about readiness means. `detail` is safe to print. */
export async function judge(response: Response): Promise<Health> {
  const { status } = response;
  const text = await beginningOf(response);
  if (status === 200 && text === '{"status":"ready"}') return { state: "ready", detail: "the service is ready" };
  const reason = status === 503 ? whyNotReady(text) : undefined;
  if (reason !== undefined) return { state: "not ready", detail: `the service is not ready: ${printable(reason)}` };
  if (status === 429) return { state: "not ready", detail: "the service refused the question because of --rate-limit" };
  return { state: "foreign", detail: `the answer (status ${status}) is not one of todoitems` };
}
