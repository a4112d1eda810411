// The sample programs for the web and for .NET, one function for each language.

import { addresses, health, lines, type Program, type SampleOptions } from "./sample-program.ts";

export function javaScript(options: SampleOptions): Program {
  const { auth, form, names } = options;
  const { listUrl, feedUrl, changesUrl } = addresses(options);
  const { id, name, notes, done } = names;
  const target = form === "a" ? `list + item.${id}` : "list";
  const credentials = auth === "off" ? "" : ', Authorization: "Basic " + btoa("NAME:PASSWORD")';
  return {
    before: lines(
      `const list = "${listUrl}";`,
      `const headers = { "Content-Type": "application/json"${credentials} };`,
      "async function send(method, url, item) {",
      "  const response = await fetch(url, { method, headers, body: item && JSON.stringify(item) });",
      "  if (!response.ok) throw new Error((await response.json()).detail);",
      "  return response;",
      "}",
      ...(hasRandomUuid(options) ? [] : ownUuid),
      "",
    ),
    steps: {
      create: lines(
        `const item = { ${id}: ${hasRandomUuid(options) ? "crypto.randomUUID()" : "newId()"}, ${name}: "Buy milk", ${notes}: "two litres", ${done}: false };`,
        `await send("POST", ${target}, item);`,
      ),
      list: 'const items = await (await send("GET", list)).json();',
      read: `const found = await (await send("GET", list + item.${id})).json();`,
      update: `await send("PUT", ${target}, { ...item, ${done}: true });`,
      delete: `await send("DELETE", list + item.${id});`,
      follow: lines(
        "// Every change, as it happens:",
        `const feed = (await send("GET", "${feedUrl}")).body.pipeThrough(new TextDecoderStream()).getReader();`,
        "for (let part = await feed.read(); !part.done; part = await feed.read()) console.log(part.value);",
      ),
      changes: lines(
        `const { epoch, version, changes } = await (await send("GET", "${changesUrl}")).json();`,
        `const next = \`${changesUrl}?since=\${epoch}-\${version}\`;`,
      ),
    },
    alone: health(options, webHealth),
  };
}

/** Browsers have `crypto.randomUUID` only on pages from HTTPS and from this machine. */
function hasRandomUuid({ server }: SampleOptions): boolean {
  const { protocol, hostname } = new URL(server);
  return protocol === "https:" || ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}

const ownUuid = [
  "// Browsers have crypto.randomUUID only with HTTPS or on localhost.",
  "function newId() {",
  '  const bytes = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0"));',
  '  return bytes.join("").replace(/^(.{8})(.{4}).(.{3}).(.{3})/, "$1-$2-4$3-8$4-");',
  "}",
];

export function typeScript(sample: SampleOptions): Program {
  const { auth, form, names } = sample;
  const { changesUrl } = addresses(sample);
  const { name, notes, done } = names;
  const settings = [
    ...(form === "a" ? ['form: "a"'] : []),
    ...(auth === "off" ? [] : ['credentials: { username: "NAME", password: "PASSWORD" }']),
  ];
  const options = settings.length === 0 ? "" : `, { ${settings.join(", ")} }`;
  const credentials = auth === "all" ? ', { headers: { Authorization: "Basic " + btoa("NAME:PASSWORD") } }' : "";
  return {
    before: lines(
      'import { TodoClient } from "todoitems-client";',
      "// The package is not on npm yet. In a clone of this service, run: npm pack ./packages/client",
      "// Then, in your project: npm install PATH/OF/THE/FILE.tgz",
      "",
      `const todo = new TodoClient("${sample.server}/"${options});`,
    ),
    steps: {
      create: `const { id, item, etag } = await todo.create({ ${name}: "Buy milk", ${notes}: "two litres", ${done}: false });`,
      list: "const items = await todo.list();",
      read: "const found = await todo.get(id);",
      update: `await todo.update({ ...item, ${done}: true }, { ifMatch: etag });`,
      delete: "await todo.remove(id);",
      follow: lines("// Every change, as it happens:", "for await (const event of todo.watch()) console.log(event);"),
    },
    alone: {
      changes: lines(
        "interface Delta {",
        "  epoch: string;",
        "  version: number;",
        "  changes: { id: string; item: object | null }[]; // null: deleted",
        "}",
        "",
        `const response = await fetch("${changesUrl}"${credentials});`,
        "if (!response.ok) throw new Error(await response.text());",
        "const { epoch, version, changes } = (await response.json()) as Delta;",
        `const next = \`${changesUrl}?since=\${epoch}-\${version}\`;`,
      ),
      ...health(sample, webHealth),
    },
  };
}

function webHealth(url: string): string {
  return `console.log((await fetch("${url}")).status); // 200 means yes`;
}

export function cSharp(options: SampleOptions): Program {
  const { auth, form, names } = options;
  const { listUrl, feedUrl, changesUrl } = addresses(options);
  const isCamel = names.id === "id";
  const target = form === "a" ? "item.ID" : '""';
  return {
    before: lines(
      "using System.Net.Http.Headers;",
      "using System.Net.Http.Json;",
      "using System.Text.Json;",
      "",
      `var http = new HttpClient { BaseAddress = new Uri("${listUrl}") };`,
      ...(auth === "off"
        ? []
        : [
            "http.DefaultRequestHeaders.Authorization =",
            '    new AuthenticationHeaderValue("Basic", Convert.ToBase64String("NAME:PASSWORD"u8));',
          ]),
      `var json = new JsonSerializerOptions(JsonSerializerDefaults.${isCamel ? "Web" : "General"});`,
      "",
    ),
    steps: {
      create: lines(
        'var item = new TodoItem(Guid.NewGuid().ToString(), "Buy milk", "two litres", false);',
        `(await http.PostAsJsonAsync(${target}, item, json)).EnsureSuccessStatusCode();`,
      ),
      list: 'var items = await http.GetFromJsonAsync<List<TodoItem>>("", json);',
      read: "var found = await http.GetFromJsonAsync<TodoItem>(item.ID, json);",
      update: `(await http.PutAsJsonAsync(${target}, item with { Done = true }, json)).EnsureSuccessStatusCode();`,
      delete: "(await http.DeleteAsync(item.ID)).EnsureSuccessStatusCode();",
      follow: lines(
        "// Every change, as it happens:",
        `using var feed = new StreamReader(await http.GetStreamAsync("${feedUrl}"));`,
        "while (await feed.ReadLineAsync() is { } line) Console.WriteLine(line);",
      ),
      changes: lines(
        `var delta = await http.GetFromJsonAsync<JsonElement>("${changesUrl}");`,
        `var next = $"${changesUrl}?since={delta.GetProperty("epoch")}-{delta.GetProperty("version")}";`,
      ),
    },
    after: lines("", "record TodoItem(string ID, string Name, string Notes, bool Done);"),
    alone: health(options, (url) =>
      lines(
        `var answer = await new HttpClient().GetAsync("${url}");`,
        "Console.WriteLine((int)answer.StatusCode); // 200 means yes",
      ),
    ),
  };
}
