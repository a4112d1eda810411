// The code in docs/client.md for React, Vue, Svelte and Expo, and the app in examples/expo, compile in a strict
// project. React is not installed here, so Preact's types stand in for it, and small declarations for the other
// packages.

import { afterAll, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bunCommand } from "../bun-command.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { projectFolder } from "../program.ts";

const folder = temporaryFolder();
afterAll(() => folder.dispose());

const declarations = `
  declare const list: import("todoitems-client/offline").OfflineList<import("todoitems-client").TodoItem>;
  declare module "react-native-get-random-values";
  declare module "@react-native-async-storage/async-storage" {
    const AsyncStorage: {
      getItem(key: string): Promise<string | null>;
      setItem(key: string, value: string): Promise<void>;
      removeItem(key: string): Promise<void>;
    };
    export default AsyncStorage;
  }
  // As in SDK 52. Later, the body and the signal may be null, and a response is complete.
  declare module "expo/fetch" {
    interface FetchRequestInit { method?: string; headers?: HeadersInit; body?: BodyInit; signal?: AbortSignal }
    export function fetch(url: string, init?: FetchRequestInit): Promise<Omit<Response, "bytes">>;
  }
  declare module "react-native" {
    import type { ComponentType, ReactNode } from "react";
    export const AppState: { addEventListener(type: "change", run: (state: string) => void): { remove(): void } };
    export function FlatList<Item>(props: {
      data: readonly Item[];
      keyExtractor: (item: Item) => string;
      renderItem: (row: { item: Item }) => ReactNode;
    }): ReactNode;
    type Container = ComponentType<{ children?: ReactNode }>;
    export const SafeAreaView: Container;
    export const View: Container;
    export const Switch: ComponentType<{ value: boolean; onValueChange: (value: boolean) => void }>;
    export const Text: ComponentType<{ children?: ReactNode; onLongPress?: () => void }>;
    export const TextInput: ComponentType<{
      value: string;
      onChangeText: (text: string) => void;
      onSubmitEditing: () => void;
      placeholder: string;
    }>;
  }
  declare module "vue" {
    export function shallowRef<Value>(value: Value): { value: Value };
    export function onScopeDispose(run: () => void): void;
  }
  declare module "svelte/store" {
    export function readable<Value>(value: Value, start: (set: (value: Value) => void) => () => void): { subscribe: unknown };
  }`;

test("the recipes for React, Vue, Svelte and Expo, and the app for Expo, compile in a strict project", async () => {
  const page = readFileSync(join(projectFolder, "docs/client.md"), "utf8");
  const section = (title: string) => {
    const [, language = "", code = ""] =
      new RegExp(`^### ${title}\\n.*?^\`\`\`(tsx?)\\n(.*?)^\`\`\`$`, "ms").exec(page) ?? [];
    expect(code).not.toBe("");
    writeFileSync(join(folder.path, `${title.toLowerCase()}.${language}`), `${code}\nexport {};\n`);
    return `${title.toLowerCase()}.${language}`;
  };
  const files = [...["React", "Vue", "Svelte", "Expo"].map(section), "app.tsx"];
  copyFileSync(join(projectFolder, "examples/expo/App.jsx"), join(folder.path, "app.tsx"));
  writeFileSync(join(folder.path, "packages.d.ts"), declarations);
  const preact = join(projectFolder, "node_modules/preact");
  mkdirSync(join(folder.path, "node_modules"));
  symlinkSync(preact, join(folder.path, "node_modules/preact"));
  const client = join(projectFolder, "src/client");
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: true },
    ...{ target: "ES2023", lib: ["ES2023", "DOM", "DOM.Iterable", "DOM.AsyncIterable"], types: [], noEmit: true },
    ...{ module: "ESNext", moduleResolution: "Bundler", jsx: "react-jsx", jsxImportSource: "preact" },
    allowImportingTsExtensions: true,
    paths: {
      "todoitems-client": [join(client, "index.ts")],
      "todoitems-client/offline": [join(client, "offline.ts")],
      react: [join(preact, "compat/src/index.d.ts")],
    },
  };
  writeFileSync(
    join(folder.path, "tsconfig.json"),
    JSON.stringify({ compilerOptions, files: [...files, "packages.d.ts"] }),
  );
  const child = Bun.spawn([...bunCommand, "check", "--no-script", "--project", "."], {
    cwd: folder.path,
    stdout: "pipe",
    stderr: "pipe",
  });
  const output = (await new Response(child.stdout).text()) + (await new Response(child.stderr).text());
  expect({ exitCode: await child.exited, output }).toEqual({
    exitCode: 0,
    output: expect.stringContaining("No type errors"),
  });
});
