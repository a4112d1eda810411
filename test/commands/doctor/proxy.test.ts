// `todoitems doctor URL` sends a request through a proxy, and reports what the proxy does to it. If the service is not
// running, the command listens in its place.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { Program } from "../../program.ts";
import { Patient } from "./patient.ts";

let patient: Patient;
const proxies: Server[] = [];
beforeEach(() => {
  patient = new Patient();
});
afterEach(() => {
  patient.dispose();
  for (const proxy of proxies.splice(0)) proxy.close();
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createTcpServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

/**
 * A proxy for `/todo/` that forwards to a port. It sets these `headers` in each request. If `strips` is true, it
 * removes `/todo` from the path.
 */
async function startProxy(port: number, headers: Readonly<Record<string, string>>, strips = true): Promise<string> {
  const proxy = createServer((incoming, outgoing) => {
    const path = strips ? (incoming.url ?? "").replace("/todo", "") : incoming.url;
    const forwarded = request(
      { host: "127.0.0.1", port, path, headers: { ...incoming.headers, ...headers } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forwarded.on("error", () => outgoing.writeHead(502).end());
    forwarded.end();
  });
  proxies.push(proxy);
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = proxy.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/todo`;
}

const wellBehaved = { "X-Forwarded-For": "192.0.2.1, 127.0.0.1", Host: "todo.example" };

async function examine(headers: Readonly<Record<string, string>>, args: readonly string[], strips = true) {
  const port = await freePort();
  const url = await startProxy(port, headers, strips);
  const flags = ["--host", "127.0.0.1", "--port", String(port), "--store", "memory:", ...args];
  const { findings } = await patient.examine("Proxy", [...flags, url]);
  return findings.slice(1);
}

test("a proxy that appends the client's address passes with --trust-proxy", async () => {
  expect(await examine(wellBehaved, ["--trust-proxy"])).toMatchObject([
    { verdict: "pass", text: "the proxy sends the name todo.example and the client's address 127.0.0.1" },
  ]);
});

test("a proxy that lets clients forge their address fails with --trust-proxy", async () => {
  expect(await examine({ Host: "localhost" }, ["--trust-proxy"])).toMatchObject([
    { verdict: "fail", text: expect.stringContaining("does not append") },
  ]);
});

test("without --trust-proxy, its name and its header are found to be of no use", async () => {
  expect(await examine(wellBehaved, [])).toMatchObject([
    { verdict: "fail", hint: "add --allow-host todo.example" },
    { verdict: "warn", hint: "add --trust-proxy" },
  ]);
});

test("a proxy that keeps its path prefix fails", async () => {
  expect(await examine(wellBehaved, ["--trust-proxy"], false)).toMatchObject([
    { verdict: "fail", text: "the proxy asks for /todo/health/ready instead of /health/ready" },
  ]);
});

test("a proxy that forwards elsewhere fails", async () => {
  const url = await startProxy(1, wellBehaved);
  const { findings } = await patient.examine("Proxy", ["--port", String(await freePort()), "--store", "memory:", url]);
  expect(findings[1]).toMatchObject({ verdict: "fail", text: expect.stringContaining("status 502") });
});

test("a name that cannot be found is not taken for a proxy that forwards elsewhere", async () => {
  const flags = ["--host", "127.0.0.1", "--port", String(await freePort()), "--store", "memory:"];
  const { findings } = await patient.examine("Proxy", [...flags, "https://nosuch.invalid/"]);
  expect(findings[1]).toMatchObject({
    verdict: "fail",
    text: expect.stringContaining("(no server with this name was found)"),
    hint: "check the address, and that its name is in the DNS",
  });
});

test("while the service runs, doctor asks it through the proxy", async () => {
  const service = await Program.start({ args: ["--port", "0", "--store", "memory:", "--trust-proxy"] });
  try {
    const { port } = new URL(service.origin);
    const url = await startProxy(Number(port), wellBehaved);
    const { findings } = await patient.examine("Proxy", ["--port", port, "--store", "memory:", "--trust-proxy", url]);
    expect(findings[1]).toMatchObject({ verdict: "pass", text: expect.stringContaining("leads to the service") });
  } finally {
    await service.stop("SIGKILL");
  }
});

test("doctor does not claim that an address leads to this service if the service needs credentials", async () => {
  const users = patient.path("users.txt");
  writeFileSync(users, `ann:${await Bun.password.hash("open-sesame", { algorithm: "bcrypt", cost: 4 })}\n`);
  const flags = ["--store", "memory:", "--auth", "all", "--users", users];
  const service = await Program.start({ args: ["--port", "0", ...flags] });
  try {
    const { port } = new URL(service.origin);
    const { findings } = await patient.examine("Proxy", ["--port", port, ...flags, port]);
    expect(findings[1]).toMatchObject({ verdict: "pass", text: expect.stringContaining("cannot see whether it is") });
  } finally {
    await service.stop("SIGKILL");
  }
});

test("the address may be a host with a port, or a port, even if it is the value of a flag as well", async () => {
  const port = String(await freePort());
  const flags = ["--port", port, "--store", "memory:"];
  const service = await Program.start({ args: flags });
  try {
    for (const [address, url] of [
      [`localhost:${port}`, `http://localhost:${port}/`],
      [port, `http://127.0.0.1:${port}/`],
    ] as const) {
      const { findings } = await patient.examine("Proxy", [...flags, address]);
      expect(findings[1]).toMatchObject({ verdict: "pass", text: expect.stringContaining(`${url} leads`) });
    }
  } finally {
    await service.stop("SIGKILL");
  }
});

test("the address of another service on this machine is not reported as a failure of a proxy, and doctor says what to type", async () => {
  const service = await Program.start({ args: ["--port", "0", "--store", "memory:"] });
  try {
    const { port } = new URL(service.origin);
    const other = String(await freePort());
    const { findings } = await patient.examine("Proxy", ["--port", other, "--store", "memory:", port]);
    expect(findings.slice(1)).toEqual([
      {
        area: "Proxy",
        verdict: "warn",
        text: `http://127.0.0.1:${port}/ is a todoitems service, but not the one of these settings, which say port ${other}`,
        hint: expect.stringContaining(`give its own flags: todoitems doctor --port ${port}`),
      },
    ]);
    const url = await startProxy(Number(port), { Host: "localhost" });
    const proxy = await patient.examine("Proxy", ["--port", other, "--store", "memory:", url]);
    expect(proxy.findings[1]).toMatchObject({ verdict: "fail", text: expect.stringContaining("status 200") });
  } finally {
    await service.stop("SIGKILL");
  }
});

test("if two services run, an address that leads to the other one is not taken for this one", async () => {
  const [service, other] = await Promise.all(
    [1, 2].map(() => Program.start({ args: ["--port", "0", "--store", "memory:"] })),
  );
  if (!service || !other) throw new Error("two services were started");
  try {
    const [port, otherPort] = [service, other].map(({ origin }) => new URL(origin).port);
    const flags = ["--port", String(port), "--store", "memory:"];
    const { findings } = await patient.examine("Proxy", [...flags, String(otherPort)]);
    expect(findings[1]).toMatchObject({
      verdict: "warn",
      text: `http://127.0.0.1:${otherPort}/ is a todoitems service, but not the one of these settings, which say port ${port}`,
    });
    const url = await startProxy(Number(otherPort), { Host: "localhost" });
    const proxied = await patient.examine("Proxy", [...flags, url]);
    expect(proxied.findings[1]).toMatchObject({
      verdict: "fail",
      text: `${url}/ leads to another service than the one on port ${port}`,
    });
  } finally {
    await Promise.all([service, other].map((one) => one.stop("SIGKILL")));
  }
});

test("a certificate that is not trusted is not taken for a proxy that forwards elsewhere, and the hint helps", async () => {
  const service = await Program.start({
    args: ["--port", "0", "--https-port", "0", "--store", "memory:"],
    environment: patient.environment,
  });
  try {
    const [port = "", httpsPort] = service.origins.map((origin) => new URL(origin).port);
    const url = `https://localhost:${httpsPort}/`;
    for (const own of [port, String(await freePort())]) {
      const { findings } = await patient.examine("Proxy", ["--port", own, "--store", "memory:", url]);
      expect(findings[1]).toMatchObject({
        verdict: "fail",
        text: expect.stringContaining("its certificate is not trusted"),
        hint: expect.stringContaining("set NODE_EXTRA_CA_CERTS to the authority's file"),
      });
    }
    const trust = { NODE_EXTRA_CA_CERTS: patient.path("home/todoitems/https/authority.pem") };
    const { findings } = await patient.examine("Proxy", ["--port", port, "--store", "memory:", url], trust);
    expect(findings[1]).toMatchObject({ verdict: "pass", text: expect.stringContaining("leads to the service") });
  } finally {
    await service.stop("SIGKILL");
  }
});
