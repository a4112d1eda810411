// The code in docs/client.md: each example is cut out of the page and compiled in a strict project. The recipe for React,
// and those for TanStack Query in examples/works-with/, are also run in Chromium with a real service.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { TodoClient } from "../../src/client/index.ts";
import { openPage } from "../chromium.ts";
import { eventually } from "../eventually.ts";
import { Program, projectFolder } from "../program.ts";
import { generatedFolder, run, tool } from "./tool.ts";

const folder = join(generatedFolder, "recipes");
const clientSource = join(projectFolder, "src/client/index.ts");
const offlineSource = join(projectFolder, "src/client/offline.ts");
let program: Program;
let todo: TodoClient;

beforeAll(async () => {
  program = await Program.start({ args: ["--port", "0", "--store", "memory:", "--cors", "*"] });
  todo = new TodoClient(program.origin);
  const [react, query, liveQuery] = readRecipes();
  mkdirSync(folder, { recursive: true });
  await Bun.write(join(folder, "react.tsx"), react);
  await Bun.write(join(folder, "query.tsx"), query);
  await Bun.write(join(folder, "live-query.tsx"), liveQuery);
  await Bun.write(join(folder, "react-page.tsx"), reactPage);
  await Bun.write(join(folder, "server-page.tsx"), serverPage);
  await Bun.write(join(folder, "query-page.tsx"), queryPage);
  await Bun.write(join(folder, "live-query-page.tsx"), liveQueryPage);
  await Bun.write(join(folder, "tsconfig.json"), JSON.stringify(project));
  await Bun.write(join(folder, "example-names.d.ts"), exampleNames);
  // test/client/recipes.test.ts compiles the examples for other frameworks.
  const examples = codeBlocks("ts").filter((code) => !/from "(?:vue|svelte)/.test(code));
  expect(examples.length).toBeGreaterThan(3);
  for (const [index, code] of examples.entries())
    await Bun.write(join(folder, `example-${index}.ts`), `${code}\nexport {};\n`);
});

afterAll(() => program.stop());

/** The code blocks of the page in this language. */
function codeBlocks(language: string): string[] {
  const page = readFileSync(join(projectFolder, "docs/client.md"), "utf8");
  return [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, name, code = ""]) =>
    name === language ? code : [],
  );
}

/** The recipes that run in a browser, with the address of the test's service in place of their own. */
function readRecipes(): [react: string, query: string, liveQuery: string] {
  const [react = "", ...others] = codeBlocks("tsx").filter((code) => !code.includes("react-native"));
  expect(others).toEqual([]);
  // The page makes the list in an earlier example.
  const list = `
    import { TodoClient } from "todoitems-client";
    import { OfflineList } from "todoitems-client/offline";
    const list = new OfflineList(new TodoClient("${program.origin}"), { storage: () => localStorage, name: "ann" });`;
  const [query = "", liveQuery = ""] = ["tanstack-query.tsx", "tanstack-query-live.tsx"].map((name) =>
    readFileSync(join(projectFolder, "examples/works-with", name), "utf8").replace(
      "http://localhost:5000/",
      program.origin,
    ),
  );
  return [`${react}\n${list}`, query, liveQuery];
}

/** Declares the names that the examples use without declaring them. */
const exampleNames = `
  declare const TodoClient: typeof import("todoitems-client").TodoClient;
  declare const todo: import("todoitems-client").TodoClient;
  declare const mySchema: { parse(value: unknown): { ID: string } };
  declare const signedIn: { readonly username: string };
  declare const signal: AbortSignal;
  declare const id: string;
  declare const url: string;`;

const reactPage = `
  import { StrictMode } from "react";
  import { createRoot } from "react-dom/client";
  import { TodoList } from "./react.tsx";
  createRoot(document.body).render(<StrictMode><TodoList /></StrictMode>);`;

const serverPage = `
  import { renderToString } from "react-dom/server";
  import { TodoList } from "./react.tsx";
  console.log(renderToString(<TodoList />));`;

const queryPage = `
  import { createRoot } from "react-dom/client";
  import { App } from "./query.tsx";
  createRoot(document.body).render(<App />);`;

const liveQueryPage = `
  import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
  import { createRoot } from "react-dom/client";
  import { useTodoItems } from "./live-query.tsx";
  function Names() {
    return <ul>{useTodoItems().data?.map(({ ID, Name }) => <li key={ID}>{Name}</li>)}</ul>;
  }
  createRoot(document.body).render(<QueryClientProvider client={new QueryClient()}><Names /></QueryClientProvider>);`;

const project = {
  compilerOptions: {
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: true },
    ...{ target: "ES2023", lib: ["ES2023", "DOM", "DOM.Iterable", "DOM.AsyncIterable"], types: [] },
    ...{ module: "ESNext", moduleResolution: "Bundler", jsx: "react-jsx", noEmit: true },
    ...{
      allowImportingTsExtensions: true,
      paths: { "todoitems-client": [clientSource], "todoitems-client/offline": [offlineSource] },
    },
  },
};

async function build(name: string, target: "browser" | "node"): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(folder, `${name}.tsx`)],
    target,
    define: { "process.env.NODE_ENV": '"development"' },
    plugins: [
      {
        name: "the client",
        setup: ({ onResolve }) => {
          onResolve({ filter: /^todoitems-client$/ }, () => ({ path: clientSource }));
          onResolve({ filter: /^todoitems-client\/offline$/ }, () => ({ path: offlineSource }));
        },
      },
    ],
  });
  return (await outputs[0]?.text()) ?? "";
}

/** Builds the program with this name, and opens a page that runs it. */
async function open(name: string) {
  const code = await build(name, "browser");
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    development: false,
    routes: {
      "/": new Response('<!doctype html><meta charset="utf-8"><body><script type="module" src="/page.js"></script>', {
        headers: { "Content-Type": "text/html" },
      }),
      "/page.js": new Response(code, { headers: { "Content-Type": "text/javascript" } }),
    },
  });
  const page = await openPage();
  await page.navigate(`http://127.0.0.1:${server.port}/`);
  return {
    /** Waits until the page shows these items. */
    async shows(...names: readonly string[]) {
      await eventually(async () =>
        expect(
          await page.evaluate<string[]>('[...document.querySelectorAll("li")].map(({ textContent }) => textContent)'),
        ).toEqual([...names]),
      );
    },
    clickFirst: () => page.evaluate("(document.querySelector('li input') ?? document.querySelector('li')).click()"),
    async close() {
      page.close();
      await server.stop(true);
    },
  };
}

test("the examples and the recipes compile in a strict project", async () => {
  await run(tool("typescript/bin/tsc", "-p", folder));
});

for (const [name, what, undone, done] of [
  ["react-page", "React", "○ ", "✓ "],
  ["query-page", "TanStack Query", "", ""],
] as const) {
  test(`${what}: the recipe shows the list, follows changes, and changes an item`, async () => {
    const { id } = await todo.create({ Name: "One", Done: false });
    const page = await open(name);
    await page.shows(`${undone}One`);
    await page.clickFirst();
    await eventually(async () => expect((await todo.get(id)).item.Done).toBe(true));
    const second = await todo.create({ Name: "Two" });
    await page.shows(`${done}One`, `${undone}Two`);
    for (const item of [id, second.id]) await todo.remove(item);
    await page.shows();
    await page.close();
  });
}

test("TanStack Query: a live list fills the cache of a query", async () => {
  const page = await open("live-query-page");
  const { id } = await todo.create({ Name: "Live" });
  await page.shows("Live");
  await todo.remove(id);
  await page.shows();
  await page.close();
});

test("React: on a server, the recipe renders an empty list, and nothing keeps the process alive", async () => {
  await Bun.write(join(folder, "server-page.mjs"), await build("server-page", "node"));
  expect(await run(["node", join(folder, "server-page.mjs")])).toBe('<ul aria-busy="true"></ul>\n');
});
