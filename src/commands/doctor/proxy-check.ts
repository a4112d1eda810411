// Checks the proxy in front of the service. If the public address is given and the service is stopped, doctor listens
// in its place for a moment. It sends a request through the proxy and looks at the headers that arrive.

import { isIP } from "node:net";
import { Problem } from "../../http/problem.ts";
import { checkPortIsFree, ListenError } from "../../serve/listen-advice.ts";
import { addressesOf, checksHosts, isLoopback, knownHosts } from "../../serve/loopback.ts";
import type { Settings } from "../../serve/settings-table.ts";
import { asTyped } from "../../terminal/program-name.ts";
import { askEpoch, askHealth, isUnknownName, isUntrusted, judge, ownUrl, reasonOf } from "../own-service.ts";
import { isOnThisMachine } from "../server-address.ts";
import { type Finding, fail, pass, type Subject, warn } from "./finding.ts";

/**
 * An address for documentation (RFC 5737), which no client has. The check sends it in X-Forwarded-For as its own
 * address. A proxy has to append the real address, or replace this one.
 */
const forged = "192.0.2.1";
const probeMs = 5_000;

const certificateHint =
  "give the proxy a certificate that clients trust; if it is from an authority of your own, set NODE_EXTRA_CA_CERTS to the authority's file, and run doctor again";

/** What to do if the service does not answer through the proxy, by the state that was found. */
const hints: ReadonlyMap<string, string> = new Map([
  ["other scheme", "give doctor the address that clients use"],
  ["not trusted", certificateHint],
]);

export async function checkProxy({ settings, publicUrl }: Subject): Promise<Finding[]> {
  const findings = staticFindings(settings);
  if (publicUrl === undefined) return findings;
  const { port } = settings;
  if (!port || !isFree(settings, port)) return [...findings, await askThroughProxy(settings, publicUrl)];
  return [...findings, ...(await throughProxy(settings, port, publicUrl))];
}

function staticFindings({ host, trustProxy, allowedHosts: names, auth, rateLimitPerSecond }: Settings): Finding[] {
  if (trustProxy && !isLoopback(host))
    return [
      warn(
        `X-Forwarded-For is trusted, and anybody who reaches ${host} without the proxy can forge it`,
        "let only the proxy reach the port, with a firewall or with --host localhost",
      ),
    ];
  if (!trustProxy && names.length > 0 && (auth !== "off" || rateLimitPerSecond !== undefined))
    return [
      warn(
        "all clients of a proxy on this machine share one limit of requests and wrong passwords",
        "if there is a proxy that sets X-Forwarded-For, add --trust-proxy",
      ),
    ];
  return [
    pass(trustProxy ? "the last entry of X-Forwarded-For is the client's address" : "X-Forwarded-For is ignored"),
  ];
}

function isFree({ host }: Settings, port: number): boolean {
  try {
    checkPortIsFree(addressesOf(host), port, "--port");
    return true;
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    return false;
  }
}

/**
 * Asks the running service twice, through the proxy and at its own port. If both answers have the same epoch, the proxy
 * leads to the right service.
 */
async function askThroughProxy(settings: Settings, url: URL): Promise<Finding> {
  const { state, detail } = await askHealth(url, { trusts: false });
  if (state !== "ready")
    return fail(
      `${url}: ${detail}`,
      hints.get(state) ??
        "does the proxy forward to this address and port? If the service refuses the name (421), add --allow-host",
    );
  const { port, httpsPort } = settings;
  const [scheme, number] = port ? (["http", port] as const) : (["https", httpsPort] as const);
  const own = number ? await askEpoch(ownUrl(scheme, settings, number), { trusts: true }) : undefined;
  const found = await askEpoch(url, { trusts: false });
  const advice = "to look at the headers as well, run doctor while the service is stopped";
  if (number && own !== undefined && own === found) return pass(`${url} leads to the service; ${advice}`);
  if (number && own !== undefined && found !== undefined)
    return mayBeService(url)
      ? describeOther(url, number)
      : fail(`${url} leads to another service than the one on port ${number}`, "let the proxy forward to this port");
  return pass(`${url} leads to a todoitems service, but doctor cannot see whether it is this one; ${advice}`);
}

/** True if this may be the address of a service itself, without a proxy. */
function mayBeService(url: URL): boolean {
  return isOnThisMachine(url) && url.pathname === "/";
}

/** Listens on the service's port, sends a request through the proxy, and judges the request that arrives. */
async function throughProxy(settings: Settings, port: number, publicUrl: URL): Promise<Finding[]> {
  const { promise, resolve } = Promise.withResolvers<Request>();
  const servers = addressesOf(settings.host).map((hostname) =>
    Bun.serve({
      hostname,
      port,
      fetch(request) {
        resolve(request);
        return new Response("doctor");
      },
    }),
  );
  try {
    const sent = fetch(new URL("health/ready", publicUrl), {
      proxy: false,
      redirect: "manual",
      headers: { "X-Forwarded-For": forged },
      signal: AbortSignal.timeout(probeMs),
    });
    const arrived = await Promise.race([promise, sent.catch((error: Error) => error)]);
    if (arrived instanceof Request) return judgeRequest(settings, arrived);
    if (mayBeService(publicUrl) && arrived instanceof Response && (await judge(arrived)).state === "ready")
      return [describeOther(publicUrl, port)];
    const reason = arrived instanceof Error ? reasonOf(arrived) : `status ${arrived.status}`;
    return [fail(`${publicUrl} did not reach port ${port} (${reason})`, hintFor(arrived))];
  } finally {
    await Promise.all(servers.map((server) => server.stop(true)));
  }
}

function hintFor(arrived: Response | Error): string {
  if (arrived instanceof Error && isUntrusted(arrived)) return certificateHint;
  if (arrived instanceof Error && isUnknownName(arrived)) return "check the address, and that its name is in the DNS";
  return "let the proxy forward to this address and port, and for this check to no other instance";
}

/**
 * The address may be that of a service, and not that of a proxy. Then no proxy has failed, so this is only a warning.
 */
function describeOther(url: URL, port: number): Finding {
  const flag = url.protocol === "https:" ? "https-port" : "port";
  const own = url.port || (url.protocol === "https:" ? "443" : "80");
  return warn(
    `${url} is a todoitems service, but not the one of these settings, which say port ${port}`,
    `to examine that service, give its own flags: ${asTyped(`doctor --${flag} ${own}`)}. If it is a proxy, let it forward to port ${port}`,
  );
}

function judgeRequest(settings: Settings, request: Request): Finding[] {
  const { pathname } = new URL(request.url);
  const host = request.headers.get("host") ?? "";
  const last = request.headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() ?? "";
  const findings: Finding[] = [];
  if (pathname !== "/health/ready")
    findings.push(
      fail(`the proxy asks for ${pathname} instead of /health/ready`, "let it remove the prefix of the path"),
    );
  if (refuses(settings, host))
    findings.push(
      fail(`the proxy sends the name ${host}, which is refused (421)`, `add --allow-host ${host.split(":")[0]}`),
    );
  if (last === forged || isIP(last.replace(/:[0-9]+$/, "")) === 0)
    findings.push(
      settings.trustProxy
        ? fail("the proxy does not append the client's address to X-Forwarded-For", "set the header in the proxy")
        : pass("the proxy sends no X-Forwarded-For, and it is not trusted"),
    );
  else if (!settings.trustProxy)
    findings.push(warn(`the proxy sends X-Forwarded-For (${last}), which is ignored`, "add --trust-proxy"));
  return findings.length > 0 ? findings : [pass(`the proxy sends the name ${host} and the client's address ${last}`)];
}

function refuses(settings: Settings, host: string): boolean {
  try {
    if (checksHosts(settings)) knownHosts(settings).check(host);
    return false;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return true;
  }
}
