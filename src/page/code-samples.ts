// How a client talks to the service, in several languages. Every text is made here, for the page and for whoever else
// shows code. Nothing here uses the browser's document.

export interface SampleOptions {
  /** The address of the list, with a slash at its end. */
  readonly listUrl: string;
  /** The address of the change feed. */
  readonly feedUrl: string;
  /** Which operations need credentials. */
  readonly auth: "off" | "writes" | "all";
  /** Where creates and updates have the ID of the item: `a` in the path and the body, `b` only in the body. */
  readonly form: "a" | "b";
  /** The names of the fields of an item. */
  readonly names: { readonly id: string; readonly name: string; readonly notes: string; readonly done: string };
  /** The file with the authority's certificate, if clients must be told to trust it. */
  readonly authorityFile: string | undefined;
}

export interface CodeSample {
  readonly language: string;
  readonly parts: readonly { readonly label: string; readonly code: string }[];
}

const exampleId = "54b4c1f2-0f8e-4a6b-9d3c-2f1a7e5b8c90";

export function codeSamples(options: SampleOptions): CodeSample[] {
  const one = (language: string, code: string): CodeSample => ({
    language,
    parts: [{ label: "List, create, update, delete", code }],
  });
  return [
    { language: "curl", parts: curl(options) },
    one("fetch", javaScript(options)),
    one("TypeScript", typeScript(options)),
    one("C#", cSharp(options)),
    one("Kotlin", kotlin(options)),
    one("Swift", swift(options)),
    one("Dart", dart(options)),
  ];
}

function curl({ listUrl, feedUrl, auth, form, names, authorityFile }: SampleOptions): CodeSample["parts"] {
  const trust = authorityFile === undefined ? "" : ` --cacert ${authorityFile}`;
  const reads = `curl${auth === "all" ? " -u NAME" : ""}${trust}`;
  const writes = `curl${auth === "off" ? "" : " -u NAME"}${trust}`;
  const json = `-H "Content-Type: application/json" -d`;
  const target = form === "a" ? `${listUrl}${exampleId}` : listUrl;
  const item = (done: boolean) =>
    `'${JSON.stringify({ [names.id]: exampleId, [names.name]: "Buy milk", [names.notes]: "", [names.done]: done })}'`;
  return [
    { label: "List", code: `${reads} ${listUrl}` },
    { label: "Create", code: `${writes} -X POST ${target} ${json} ${item(false)}` },
    { label: "Read one", code: `${reads} ${listUrl}${exampleId}` },
    { label: "Update", code: `${writes} -X PUT ${target} ${json} ${item(true)}` },
    { label: "Delete", code: `${writes} -X DELETE ${listUrl}${exampleId}` },
    { label: "Follow changes", code: `${reads} -N ${feedUrl}` },
  ];
}

/** Joins the lines that are there. */
function lines(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined).join("\n");
}

function javaScript({ listUrl, auth, form, names }: SampleOptions): string {
  const { id, name, notes, done } = names;
  const target = form === "a" ? `list + item.${id}` : "list";
  const credentials = auth === "off" ? "" : ', Authorization: "Basic " + btoa("NAME:PASSWORD")';
  return lines(
    `const list = "${listUrl}";`,
    `const headers = { "Content-Type": "application/json"${credentials} };`,
    "async function send(method, url, item) {",
    "  const response = await fetch(url, { method, headers, body: item && JSON.stringify(item) });",
    "  if (!response.ok) throw new Error((await response.json()).detail);",
    "  return response;",
    "}",
    "",
    `const item = { ${id}: crypto.randomUUID(), ${name}: "Buy milk", ${notes}: "", ${done}: false };`,
    `await send("POST", ${target}, item);`,
    'const items = await (await send("GET", list)).json();',
    `await send("PUT", ${target}, { ...item, ${done}: true });`,
    `await send("DELETE", list + item.${id});`,
  );
}

function typeScript({ listUrl, auth, form, names }: SampleOptions): string {
  const { name, notes, done } = names;
  const settings = [
    ...(form === "a" ? ['form: "a"'] : []),
    ...(auth === "off" ? [] : ['credentials: { username: "NAME", password: "PASSWORD" }']),
  ];
  const options = settings.length === 0 ? "" : `, { ${settings.join(", ")} }`;
  return lines(
    'import { TodoClient } from "todoitems/client"; // npm install todoitems',
    "",
    `const todo = new TodoClient("${listUrl}"${options});`,
    `const { id, item, etag } = await todo.create({ ${name}: "Buy milk", ${notes}: "", ${done}: false });`,
    "const items = await todo.list();",
    `await todo.update({ ...item, ${done}: true }, { ifMatch: etag });`,
    "await todo.remove(id);",
    "",
    "// Every change, as it happens:",
    "for await (const event of todo.watch()) console.log(event);",
  );
}

function cSharp({ listUrl, auth, form, names }: SampleOptions): string {
  const isCamel = names.id === "id";
  const target = form === "a" ? "item.ID" : '""';
  return lines(
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
    'var item = new TodoItem(Guid.NewGuid().ToString(), "Buy milk", "", false);',
    `(await http.PostAsJsonAsync(${target}, item, json)).EnsureSuccessStatusCode();`,
    'var items = await http.GetFromJsonAsync<List<TodoItem>>("", json);',
    `(await http.PutAsJsonAsync(${target}, item with { Done = true }, json)).EnsureSuccessStatusCode();`,
    "(await http.DeleteAsync(item.ID)).EnsureSuccessStatusCode();",
    "",
    "record TodoItem(string ID, string Name, string Notes, bool Done);",
  );
}

function kotlin({ listUrl, auth, form, names }: SampleOptions): string {
  const { id, name, notes, done } = names;
  const target = form === "a" ? ", id" : "";
  return lines(
    "import java.net.HttpURLConnection",
    "import java.net.URL",
    ...(auth === "off" ? [] : ["import java.util.Base64"]),
    "import java.util.UUID",
    "import org.json.JSONArray",
    "import org.json.JSONObject",
    "",
    `const val LIST = "${listUrl}"`,
    "",
    'fun send(method: String, path: String = "", item: JSONObject? = null): String {',
    "    val connection = URL(LIST + path).openConnection() as HttpURLConnection",
    "    connection.requestMethod = method",
    ...(auth === "off"
      ? []
      : [
          '    val credentials = Base64.getEncoder().encodeToString("NAME:PASSWORD".toByteArray())',
          '    connection.setRequestProperty("Authorization", "Basic $credentials")',
        ]),
    "    if (item != null) {",
    '        connection.setRequestProperty("Content-Type", "application/json")',
    "        connection.doOutput = true",
    "        connection.outputStream.use { it.write(item.toString().toByteArray()) }",
    "    }",
    '    check(connection.responseCode < 300) { "$method: status " + connection.responseCode }',
    "    return connection.inputStream.bufferedReader().readText()",
    "}",
    "",
    "// On Android, not on the main thread:",
    "val id = UUID.randomUUID().toString()",
    `val item = JSONObject().put("${id}", id).put("${name}", "Buy milk").put("${notes}", "").put("${done}", false)`,
    `send("POST"${target}, item = item)`,
    'val items = JSONArray(send("GET"))',
    `send("PUT"${target}, item = item.put("${done}", true))`,
    'send("DELETE", id)',
  );
}

function swift({ listUrl, auth, form, names }: SampleOptions): string {
  const { id, name, notes, done } = names;
  const target = form === "a" ? `, item.${id}` : "";
  return lines(
    "import Foundation",
    "",
    "struct TodoItem: Codable {",
    `    var ${id} = UUID().uuidString.lowercased()`,
    `    var ${name}: String`,
    `    var ${notes} = ""`,
    `    var ${done} = false`,
    "}",
    "",
    `let list = URL(string: "${listUrl}")!`,
    "",
    "@discardableResult",
    'func send(_ method: String, _ path: String = "", item: TodoItem? = nil) async throws -> Data {',
    "    var request = URLRequest(url: list.appending(path: path))",
    "    request.httpMethod = method",
    ...(auth === "off"
      ? []
      : [
          '    let credentials = Data("NAME:PASSWORD".utf8).base64EncodedString()',
          '    request.setValue("Basic \\(credentials)", forHTTPHeaderField: "Authorization")',
        ]),
    "    if let item {",
    '        request.setValue("application/json", forHTTPHeaderField: "Content-Type")',
    "        request.httpBody = try JSONEncoder().encode(item)",
    "    }",
    "    let (data, response) = try await URLSession.shared.data(for: request)",
    "    guard (response as? HTTPURLResponse)?.statusCode ?? 0 < 300 else { throw URLError(.badServerResponse) }",
    "    return data",
    "}",
    "",
    `var item = TodoItem(${name}: "Buy milk")`,
    `try await send("POST"${target}, item: item)`,
    'let items = try JSONDecoder().decode([TodoItem].self, from: await send("GET"))',
    `item.${done} = true`,
    `try await send("PUT"${target}, item: item)`,
    `try await send("DELETE", item.${id})`,
  );
}

function dart({ listUrl, auth, form, names }: SampleOptions): string {
  const { id, name, notes, done } = names;
  const target = form === "a" ? "list.resolve(id)" : "list";
  return lines(
    "import 'dart:convert';",
    "import 'package:http/http.dart' as http; // dart pub add http uuid",
    "import 'package:uuid/uuid.dart';",
    "",
    `final list = Uri.parse('${listUrl}');`,
    "final headers = {",
    "  'Content-Type': 'application/json',",
    ...(auth === "off" ? [] : ["  'Authorization': 'Basic ' + base64Encode(utf8.encode('NAME:PASSWORD')),"]),
    "};",
    "",
    "void check(http.Response response) {",
    "  if (response.statusCode >= 300) throw Exception(response.body);",
    "}",
    "",
    "Future<void> main() async {",
    "  final id = const Uuid().v4();",
    `  final item = {'${id}': id, '${name}': 'Buy milk', '${notes}': '', '${done}': false};`,
    `  check(await http.post(${target}, headers: headers, body: jsonEncode(item)));`,
    "  final items = jsonDecode((await http.get(list, headers: headers)).body) as List;",
    `  check(await http.put(${target}, headers: headers, body: jsonEncode({...item, '${done}': true})));`,
    "  check(await http.delete(list.resolve(id), headers: headers));",
    "}",
  );
}
