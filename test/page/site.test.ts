// The files of the page and of the reference, and the API's description, as they are served: size, caching, security
// headers and access. No other file is served.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program } from "../program.ts";
import { expectProblem } from "../service.ts";

let program: Program;
let html: Response;
let assets: string[];

beforeAll(async () => {
  program = await Program.start({ args: ["--port", "0", "--store", "memory:", "--auth", "off"] });
  html = await program.fetch("/");
  assets = assetsOf(await html.clone().text());
});
afterAll(async () => {
  await program.stop();
});

function assetsOf(html: string): string[] {
  return [...html.matchAll(/(?:href|src)="(assets\/[^"]+)"/g)].map(([, path]) => `/${path}`);
}

interface Manifest {
  readonly start_url: string;
  readonly scope: string;
  readonly display: string;
  readonly icons: readonly { readonly src: string; readonly type: string }[];
}

const manifest = async () => (await (await program.fetch("/manifest.webmanifest")).json()) as Manifest;

const raw = (path: string, headers: Record<string, string>) => program.fetch(path, { headers, decompress: false });

const localHosts = ["http://www.w3.org", "http://localhost", "http://10.0.2.2"];

describe("the page's files", () => {
  test("the page is HTML with a policy that allows files of this service and no inline code", () => {
    expect(html.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const policy = html.headers.get("content-security-policy") ?? "";
    expect(policy).toStartWith(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self';",
    );
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
  });

  test("browsers that ask for /favicon.ico, as they do beside JSON, get the page's icon", async () => {
    const icon = await program.fetch("/favicon.ico");
    expect([icon.status, icon.headers.get("content-type")]).toEqual([200, "image/png"]);
    expect(icon.headers.get("cache-control")).toBe("no-cache");
    expect((await manifest()).icons.map(({ src }) => src)).toContain("favicon.ico");
  });

  test("no file of the page names another host", async () => {
    expect(assets.map((path) => path.split(".")[1])).toEqual(["svg", "css", "js"]);
    const texts = await Promise.all(["/", ...assets].map(async (path) => (await program.fetch(path)).text()));
    const hosts = texts.flatMap((text) => [...text.matchAll(/https?:\/\/[\w.]+/g)].map(([host]) => host));
    // XML namespaces look like addresses, but nothing is loaded from them. The others are in code samples.
    expect(hosts.filter((host) => !localHosts.includes(host))).toEqual([]);
  });

  test("the first load is at most 44,000 bytes of HTML, script and style, and 46,000 with all icons and the manifest", async () => {
    const { icons } = await manifest();
    const paths = new Set(["/", "/manifest.webmanifest", ...assets, ...icons.map(({ src }) => `/${src}`)]);
    expect(paths.size).toBe(7);
    const answers = await Promise.all([...paths].map((path) => raw(path, { "Accept-Encoding": "br, gzip" })));
    const sizes = await Promise.all(answers.map(async (answer) => (await answer.arrayBuffer()).byteLength));
    for (const [index, { headers }] of answers.entries())
      expect(headers.get("content-encoding") === "gzip" || (sizes[index] ?? 0) < 1_000).toBe(true);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(46_000);
    const isText = (path: string) => path === "/" || /\.(js|css)$/.test(path);
    const texts = sizes.filter((_, index) => isText([...paths][index] ?? ""));
    expect(texts).toHaveLength(3);
    expect(texts.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(44_000);
    const plain = await raw(assets[0] ?? "", { "Accept-Encoding": "gzip;q=0" });
    expect(plain.headers.get("content-encoding")).toBeNull();
  });

  test("the reference, with the description it shows, is under 40 KB, and has the same policy", async () => {
    const reference = await program.fetch("/docs");
    expect(reference.headers.get("content-security-policy")).toBe(html.headers.get("content-security-policy"));
    const files = assetsOf(await reference.text());
    expect(files.map((path) => path.split(".")[1])).toEqual(["svg", "css", "css", "js"]);
    const answers = ["/docs", "/openapi.json", ...files].map((path) => raw(path, { "Accept-Encoding": "gzip" }));
    const sizes = (await Promise.all(answers)).map(async (answer) => (await answer.arrayBuffer()).byteLength);
    expect((await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)).toBeLessThan(40_000);
    const texts = await Promise.all(files.map(async (path) => (await program.fetch(path)).text()));
    const hosts = texts.flatMap((text) => [...text.matchAll(/https?:\/\/[\w.]+/g)].map(([host]) => host));
    expect(hosts.filter((host) => !localHosts.includes(host))).toEqual([]);
  });

  test("the page can be installed: it has a manifest with icons, and theme colours", async () => {
    const { start_url, scope, display, icons } = await manifest();
    expect({ start_url, scope, display }).toEqual({ start_url: "./", scope: "./", display: "standalone" });
    for (const { src, type } of icons) expect((await program.fetch(`/${src}`)).headers.get("content-type")).toBe(type);
    expect(html.headers.get("content-security-policy")).toContain("manifest-src 'self'");
    const text = await html.clone().text();
    expect(text).toContain('<link rel="manifest" href="manifest.webmanifest">');
    expect(text.match(/<meta name="theme-color"/g)).toHaveLength(2);
  });

  test("the service worker is asked for again each time, and only pages have the header by which it knows them", async () => {
    const worker = await program.fetch("/service-worker.js");
    expect(worker.headers.get("content-type")).toStartWith("text/javascript");
    expect(worker.headers.get("cache-control")).toBe("no-cache");
    expect(html.headers.has("todoitems-page")).toBe(true);
    for (const path of ["/api/todoitems/", "/changes/delta", "/health/live", "/openapi.json", "/nothing"])
      expect((await program.fetch(path)).headers.has("todoitems-page")).toBe(false);
  });

  test("assets may be cached forever, and the page is revalidated and sent again only if it has changed", async () => {
    for (const path of assets) {
      const { headers } = await program.fetch(path);
      expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(headers.get("vary")).toBe("Accept-Encoding");
    }
    expect(html.headers.get("cache-control")).toBe("no-cache");
    const again = await program.fetch("/", { headers: { "If-None-Match": html.headers.get("etag") ?? "" } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });

  test("the compressed form of a file has its own ETag, and a client with one form does not need the other", async () => {
    const tagIn = async (coding: string) => (await raw("/", { "Accept-Encoding": coding })).headers.get("etag") ?? "";
    const tags = await Promise.all(["identity", "gzip"].map(tagIn));
    expect(new Set(tags).size).toBe(2);
    for (const tag of tags) {
      const again = await raw("/", { "Accept-Encoding": "gzip", "If-None-Match": tag });
      expect([again.status, again.headers.get("etag")]).toEqual([304, tag]);
    }
  });

  test("the page's files accept only GET", async () => {
    for (const path of ["/", "/docs", ...assets, "/openapi.yaml"]) {
      for (const method of ["HEAD", "POST", "PUT", "DELETE", "OPTIONS"]) {
        const response = await program.fetch(path, { method });
        expect([path, method, response.status, response.headers.get("allow")]).toEqual([path, method, 405, "GET"]);
      }
    }
  });

  test("a path without a file gets 404, whatever the method", async () => {
    for (const path of [
      "/index.html",
      "/docs/",
      "/assets/",
      "/assets/script.js",
      "/assets/../package.json",
      "/src/main.ts",
    ]) {
      await expectProblem(await program.fetch(path), 404, "RouteNotFound");
      expect((await program.fetch(path, { method: "HEAD" })).status).toBe(404);
    }
    await expectProblem(await program.fetch("/certificate-authority.crt"), 404, "RouteNotFound");
  });

  test("the list leads to the API's description and to the reference", async () => {
    const { headers } = await program.fetch("/api/todoitems");
    const links = [...(headers.get("link") ?? "").matchAll(/<([^>]+)>; rel="([^"]+)"/g)];
    expect(links.map(([, path, relation]) => [path, relation])).toEqual([
      ["/openapi.json", "service-desc"],
      ["/docs", "service-doc"],
    ]);
    const types = await Promise.all(links.map(async ([, path]) => (await program.fetch(path ?? "")).headers));
    expect(types.map((answer) => answer.get("content-type"))).toEqual(["application/json", "text/html; charset=utf-8"]);
  });

  test("the API description is served as YAML and as JSON, with this instance's address and paths", async () => {
    const response = await program.fetch("/openapi.yaml");
    expect(response.headers.get("content-type")).toBe("application/yaml");
    const description = Bun.YAML.parse(await response.text()) as {
      openapi: string;
      servers: unknown;
      paths: Record<string, Record<string, unknown>>;
    };
    expect(await (await program.fetch("/openapi.json")).json()).toEqual(description);
    expect(await (await program.fetch("/openapi-3.0.json")).json()).toMatchObject({ openapi: "3.0.3" });
    expect(description.openapi).toStartWith("3.1");
    expect(description.servers).toMatchObject([{ url: program.origin }]);
    expect(Object.entries(description.paths).map(([path, operations]) => [path, Object.keys(operations)])).toEqual([
      ["/api/todoitems", ["get", "post", "put"]],
      ["/api/todoitems/{id}", ["get", "post", "put", "delete"]],
      ["/changes/events", ["get"]],
      ["/changes/delta", ["get"]],
      ["/health/live", ["get"]],
      ["/health/ready", ["get"]],
    ]);
  });
});

test("the page needs no credentials, but it obeys the rate limit", async () => {
  const folder = temporaryFolder();
  const users = join(folder.path, "users.txt");
  await Bun.write(users, `ann:${await Bun.password.hash("long enough", { algorithm: "bcrypt", cost: 4 })}\n`);
  const guarded = await Program.start({
    args: ["--port", "0", "--store", "memory:", "--auth", "all", "--users", users, "--rate-limit", "5/s"],
  });
  for (let count = 0; count < 5; count++) expect((await guarded.fetch("/")).status).toBe(200);
  await eventually(async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => guarded.fetch("/")));
    return answers.some(({ status }) => status === 429);
  }, "a request to the page is answered with 429");
  expect((await guarded.fetch("/changes")).status).toBe(401);
  await guarded.stop();
  folder.dispose();
});
