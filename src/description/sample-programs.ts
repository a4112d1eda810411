// The sample programs, one function for each language. A program is in pieces, so that the code for one operation can be
// made from it as well as the whole program.

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

/** What a sample shows, in the order of a whole program. */
export const steps = ["create", "list", "read", "update", "delete", "follow"] as const;
export type SampleStep = (typeof steps)[number];
export type Steps = { readonly [Step in SampleStep]?: string };

export interface Program {
  readonly before: string;
  /** Updates and deletes use the item that `create` has made. */
  readonly steps: Steps & { readonly create: string };
  readonly after?: string;
}

/** Joins the lines that are there. */
export function lines(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined).join("\n");
}

export function javaScript({ listUrl, auth, form, names }: SampleOptions): Program {
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
      "",
    ),
    steps: {
      create: lines(
        `const item = { ${id}: crypto.randomUUID(), ${name}: "Buy milk", ${notes}: "", ${done}: false };`,
        `await send("POST", ${target}, item);`,
      ),
      list: 'const items = await (await send("GET", list)).json();',
      update: `await send("PUT", ${target}, { ...item, ${done}: true });`,
      delete: `await send("DELETE", list + item.${id});`,
    },
  };
}

export function typeScript({ listUrl, auth, form, names }: SampleOptions): Program {
  const { name, notes, done } = names;
  const settings = [
    ...(form === "a" ? ['form: "a"'] : []),
    ...(auth === "off" ? [] : ['credentials: { username: "NAME", password: "PASSWORD" }']),
  ];
  const options = settings.length === 0 ? "" : `, { ${settings.join(", ")} }`;
  return {
    before: lines(
      'import { TodoClient } from "todoitems/client"; // npm install todoitems',
      "",
      `const todo = new TodoClient("${listUrl}"${options});`,
    ),
    steps: {
      create: `const { id, item, etag } = await todo.create({ ${name}: "Buy milk", ${notes}: "", ${done}: false });`,
      list: "const items = await todo.list();",
      update: `await todo.update({ ...item, ${done}: true }, { ifMatch: etag });`,
      delete: "await todo.remove(id);",
      follow: lines(
        "",
        "// Every change, as it happens:",
        "for await (const event of todo.watch()) console.log(event);",
      ),
    },
  };
}

export function cSharp({ listUrl, auth, form, names }: SampleOptions): Program {
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
        'var item = new TodoItem(Guid.NewGuid().ToString(), "Buy milk", "", false);',
        `(await http.PostAsJsonAsync(${target}, item, json)).EnsureSuccessStatusCode();`,
      ),
      list: 'var items = await http.GetFromJsonAsync<List<TodoItem>>("", json);',
      update: `(await http.PutAsJsonAsync(${target}, item with { Done = true }, json)).EnsureSuccessStatusCode();`,
      delete: "(await http.DeleteAsync(item.ID)).EnsureSuccessStatusCode();",
    },
    after: lines("", "record TodoItem(string ID, string Name, string Notes, bool Done);"),
  };
}

export function kotlin({ listUrl, auth, form, names }: SampleOptions): Program {
  const { id, name, notes, done } = names;
  const target = form === "a" ? ", id" : "";
  return {
    before: lines(
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
    ),
    steps: {
      create: lines(
        "val id = UUID.randomUUID().toString()",
        `val item = JSONObject().put("${id}", id).put("${name}", "Buy milk").put("${notes}", "").put("${done}", false)`,
        `send("POST"${target}, item = item)`,
      ),
      list: 'val items = JSONArray(send("GET"))',
      update: `send("PUT"${target}, item = item.put("${done}", true))`,
      delete: 'send("DELETE", id)',
    },
  };
}

export function swift({ listUrl, auth, form, names }: SampleOptions): Program {
  const { id, name, notes, done } = names;
  const target = form === "a" ? `, item.${id}` : "";
  return {
    before: lines(
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
    ),
    steps: {
      create: lines(`var item = TodoItem(${name}: "Buy milk")`, `try await send("POST"${target}, item: item)`),
      list: 'let items = try JSONDecoder().decode([TodoItem].self, from: await send("GET"))',
      update: lines(`item.${done} = true`, `try await send("PUT"${target}, item: item)`),
      delete: `try await send("DELETE", item.${id})`,
    },
  };
}

export function dart({ listUrl, auth, form, names }: SampleOptions): Program {
  const { id, name, notes, done } = names;
  const target = form === "a" ? "list.resolve(id)" : "list";
  return {
    before: lines(
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
    ),
    steps: {
      create: lines(
        "  final id = const Uuid().v4();",
        `  final item = {'${id}': id, '${name}': 'Buy milk', '${notes}': '', '${done}': false};`,
        `  check(await http.post(${target}, headers: headers, body: jsonEncode(item)));`,
      ),
      list: "  final items = jsonDecode((await http.get(list, headers: headers)).body) as List;",
      update: `  check(await http.put(${target}, headers: headers, body: jsonEncode({...item, '${done}': true})));`,
      delete: "  check(await http.delete(list.resolve(id), headers: headers));",
    },
    after: "}",
  };
}
