// Checks the claims in claims.ts in every runtime that the client supports. One bundled file runs in Bun, Node,
// Chromium and, if it is installed, Deno. It uses our service (both forms, with and without credentials and HTTPS) and
// another deployment of the specification.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openPage } from "../chromium.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { Program, runProgram } from "../program.ts";
import { type Deployment, deploymentClaims, networkClaims, type Result } from "./claims.ts";
import { startOddServer } from "./odd-server.ts";
import { startOtherDeployment } from "./other-deployment.ts";

const credentials = { username: "Zoë", password: "pä:ss ✓" };
const forms = ["a", "b"] as const;

/** The names of the deployments. Their addresses are known only when they run. */
const names = [
  ...forms.flatMap((form) =>
    ["open", "credentials"].flatMap((access) =>
      ["http", "https"].map((scheme) => `form ${form}, ${access}, ${scheme}`),
    ),
  ),
  ...forms.map((form) => `another deployment, form ${form}`),
];

const folder = temporaryFolder();
const stops: (() => unknown)[] = [() => folder.dispose()];
const deployments: Deployment[] = [];
let oddOrigin = "";
let bundle = "";

beforeAll(async () => {
  const users = join(folder.path, "users");
  await runProgram("user", { args: ["add", credentials.username, "--users", users], input: credentials.password });
  for (const form of forms) {
    await startOurs(form, []);
    await startOurs(form, ["--auth", "all", "--users", users]);
  }
  for (const form of forms) {
    const { origin, stop } = startOtherDeployment(form);
    stops.push(stop);
    deployments.push({ name: `another deployment, form ${form}`, url: origin, form, ours: false });
  }
  const odd = await startOddServer();
  stops.push(odd.stop);
  oddOrigin = odd.origin;
  const built = await Bun.build({
    entrypoints: [join(import.meta.dir, "claims.ts")],
    target: "browser",
    format: "esm",
  });
  bundle = join(folder.path, "claims.mjs");
  await Bun.write(bundle, built.outputs[0] ?? "");
});

afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

async function startOurs(form: "a" | "b", args: readonly string[]): Promise<void> {
  const listen = ["--store", "memory:", "--port", "0", "--https-port", "0", "--forms", form, "--cors", "*"];
  const environment = { XDG_DATA_HOME: folder.path, HOME: folder.path };
  const program = await Program.start({ environment, args: [...listen, ...args] });
  stops.push(() => program.stop("SIGKILL"));
  for (const url of program.origins) {
    const scheme = new URL(url).protocol.slice(0, -1);
    const name = `form ${form}, ${args.length > 0 ? "credentials" : "open"}, ${scheme}`;
    deployments.push({ name, url, form, ours: true, ...(args.length > 0 ? { credentials } : {}) });
  }
}

/** Runs the bundle in another process that trusts the development authority. */
async function runIn(command: readonly string[]): Promise<Result[]> {
  const script = `import process from "node:process";
    const { runClaims } = await import(${JSON.stringify(bundle)});
    const results = JSON.stringify(await runClaims(...JSON.parse(process.env.SUBJECTS)));
    // Without the exit, whatever a failed claim left running would keep the process alive.
    process.stdout.write(results, () => process.exit());`;
  const authority = join(folder.path, "todoitems", "https", "authority.pem");
  const child = Bun.spawn([...command, script], {
    env: {
      ...process.env,
      NODE_EXTRA_CA_CERTS: authority,
      DENO_CERT: authority,
      SUBJECTS: JSON.stringify([deployments, oddOrigin]),
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`${command[0]} failed: ${errors}`);
  return JSON.parse(output) as Result[];
}

async function runInChromium(): Promise<Result[]> {
  const code = await Bun.file(bundle).text();
  const page = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    development: false,
    routes: {
      "/": new Response("<title>claims</title>", { headers: { "Content-Type": "text/html" } }),
      "/claims.mjs": new Response(code, { headers: { "Content-Type": "text/javascript" } }),
    },
  });
  const view = await openPage();
  try {
    await view.navigate(`http://127.0.0.1:${page.port}/`);
    const subjects = JSON.stringify([deployments, oddOrigin]);
    return await view.evaluate(`import("/claims.mjs").then(({ runClaims }) => runClaims(...${subjects}))`);
  } finally {
    view.close();
    await page.stop(true);
  }
}

const runtimes: Readonly<Record<string, () => Promise<Result[]>>> = {
  Bun: () => runIn([process.execPath, "-e"]),
  Node: () => runIn(["node", "--input-type=module", "-e"]),
  Chromium: runInChromium,
  ...(Bun.which("deno") ? { Deno: () => runIn(["deno", "eval"]) } : {}),
};

for (const [runtime, run] of Object.entries(runtimes)) {
  describe(`the client under ${runtime}`, () => {
    const failures = new Map<string, string | undefined>();
    beforeAll(async () => {
      for (const { title, failure } of await run()) failures.set(title, failure ?? "");
    });

    const titles = [
      ...names.flatMap((name) => deploymentClaims.map(({ title }) => `${name}: ${title}`)),
      ...networkClaims.map(({ title }) => title),
    ];
    for (const title of titles) {
      test(title, () => {
        expect(failures.get(title)).toBe("");
      });
    }
  });
}
