// The sample programs for phones, one function for each language.

import { addresses, health, lines, type Program, type SampleOptions } from "./sample-program.ts";

/**
 * Notes for Android: inside the emulator, localhost is the emulator itself, and plain HTTP is refused unless the app
 * allows it.
 */
function androidNotes({ server }: SampleOptions): string[] {
  const { hostname } = new URL(server);
  return [
    ...(["localhost", "127.0.0.1", "[::1]"].includes(hostname)
      ? ["// In the Android emulator, this machine is 10.0.2.2."]
      : []),
    ...plainHttpNote(server, '// Android allows plain HTTP with android:usesCleartextTraffic="true" in the manifest.'),
  ];
}

function iosNotes({ server }: SampleOptions): string[] {
  return plainHttpNote(server, "// iOS allows plain HTTP with NSAllowsLocalNetworking in Info.plist.");
}

function plainHttpNote(server: string, note: string): string[] {
  return server.startsWith("http:") ? [note] : [];
}

export function kotlin(options: SampleOptions): Program {
  const { auth, form, names } = options;
  const { listUrl, feedUrl, changesUrl } = addresses(options);
  const { id, name, notes, done } = names;
  const target = form === "a" ? ", id" : "";
  return {
    before: lines(
      "import java.io.InputStream",
      "import java.net.HttpURLConnection",
      "import java.net.URL",
      ...(auth === "off" ? [] : ["import java.util.Base64"]),
      "import java.util.UUID",
      "import org.json.JSONArray",
      "import org.json.JSONObject",
      "",
      ...androidNotes(options),
      `const val LIST = "${listUrl}"`,
      "",
      'fun open(method: String, path: String = "", item: JSONObject? = null): InputStream {',
      "    val connection = URL(URL(LIST), path).openConnection() as HttpURLConnection",
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
      "    return connection.inputStream",
      "}",
      "",
      'fun send(method: String, path: String = "", item: JSONObject? = null) =',
      "    open(method, path, item).bufferedReader().readText()",
      "",
      "// On Android, not on the main thread:",
      "fun main() {",
    ),
    steps: {
      create: lines(
        "    val id = UUID.randomUUID().toString()",
        `    val item = JSONObject().put("${id}", id).put("${name}", "Buy milk").put("${notes}", "two litres").put("${done}", false)`,
        `    send("POST"${target}, item = item)`,
      ),
      list: '    val items = JSONArray(send("GET"))',
      read: '    val found = JSONObject(send("GET", id))',
      update: `    send("PUT"${target}, item = item.put("${done}", true))`,
      delete: '    send("DELETE", id)',
      follow: lines(
        "    // Every change, as it happens:",
        `    open("GET", "${feedUrl}").bufferedReader().forEachLine(::println)`,
      ),
      changes: lines(
        `    val delta = JSONObject(send("GET", "${changesUrl}"))`,
        `    val next = "${changesUrl}?since=" + delta["epoch"] + "-" + delta["version"]`,
      ),
    },
    after: "}",
    alone: health(options, (url) =>
      lines(
        "import java.net.HttpURLConnection",
        "import java.net.URL",
        "",
        ...androidNotes(options),
        "// On Android, not on the main thread:",
        "fun main() {",
        `    val connection = URL("${url}").openConnection() as HttpURLConnection`,
        "    println(connection.responseCode) // 200 means yes",
        "}",
      ),
    ),
  };
}

export function swift(options: SampleOptions): Program {
  const { auth, form, names } = options;
  const { listUrl, feedUrl, changesUrl } = addresses(options);
  const { id, name, notes, done } = names;
  const target = form === "a" ? ", list.appending(path: item.id)" : "";
  return {
    before: lines(
      "import Foundation",
      "",
      "// Other apps may leave fields out or store another type, so most fields are optional.",
      "struct TodoItem: Codable {",
      "    var id = UUID().uuidString.lowercased()",
      "    var name: String?",
      "    var notes: String?",
      "    var done: Bool? = false",
      "",
      "    enum CodingKeys: String, CodingKey {",
      `        case id = "${id}", name = "${name}", notes = "${notes}", done = "${done}"`,
      "    }",
      "}",
      "",
      "// Other apps may spell a name with other capitals, so the letter case of names does not matter here.",
      "extension TodoItem {",
      "    struct AnyKey: CodingKey {",
      "        let stringValue: String",
      "        var intValue: Int? { nil }",
      "        init(stringValue: String) { self.stringValue = stringValue }",
      "        init?(intValue: Int) { return nil }",
      "    }",
      "",
      "    init(from decoder: Decoder) throws {",
      "        let fields = try decoder.container(keyedBy: AnyKey.self)",
      "        func value<Value: Decodable>(_ key: CodingKeys) -> Value? {",
      "            fields.allKeys",
      "                .first { $0.stringValue.lowercased() == key.rawValue.lowercased() }",
      "                .flatMap { try? fields.decode(Value.self, forKey: $0) }",
      "        }",
      "        guard let id: String = value(.id) else { throw URLError(.cannotParseResponse) }",
      "        self.init(id: id, name: value(.name), notes: value(.notes), done: value(.done))",
      "    }",
      "}",
      "",
      ...iosNotes(options),
      `let list = URL(string: "${listUrl}")!`,
      "",
      "func makeRequest(_ method: String, _ url: URL, item: TodoItem? = nil) throws -> URLRequest {",
      "    var request = URLRequest(url: url)",
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
      "    return request",
      "}",
      "",
      "@discardableResult",
      "func send(_ method: String, _ url: URL = list, item: TodoItem? = nil) async throws -> Data {",
      "    let (data, response) = try await URLSession.shared.data(for: makeRequest(method, url, item: item))",
      "    guard (response as? HTTPURLResponse)?.statusCode ?? 0 < 300 else { throw URLError(.badServerResponse) }",
      "    return data",
      "}",
      "",
    ),
    steps: {
      create: lines(
        'var item = TodoItem(name: "Buy milk", notes: "two litres")',
        `try await send("POST"${target}, item: item)`,
      ),
      list: 'let items = try JSONDecoder().decode([TodoItem].self, from: await send("GET"))',
      read: 'let found = try JSONDecoder().decode(TodoItem.self, from: await send("GET", list.appending(path: item.id)))',
      update: lines("item.done = true", `try await send("PUT"${target}, item: item)`),
      delete: 'try await send("DELETE", list.appending(path: item.id))',
      follow: lines(
        "// Every change, as it happens:",
        `let (feed, _) = try await URLSession.shared.bytes(for: makeRequest("GET", URL(string: "${feedUrl}")!))`,
        "for try await line in feed.lines { print(line) }",
      ),
      changes: lines(
        "struct Delta: Decodable {",
        "    struct Change: Decodable {",
        "        let id: String",
        "        let item: TodoItem? // nil: deleted",
        "    }",
        "    let epoch: String",
        "    let version: Int",
        "    let changes: [Change]",
        "}",
        "",
        `let delta = try JSONDecoder().decode(Delta.self, from: await send("GET", URL(string: "${changesUrl}")!))`,
        `let next = "${changesUrl}?since=\\(delta.epoch)-\\(delta.version)"`,
      ),
    },
    alone: health(options, (url) =>
      lines(
        "import Foundation",
        "",
        ...iosNotes(options),
        `let (_, response) = try await URLSession.shared.data(from: URL(string: "${url}")!)`,
        "print((response as? HTTPURLResponse)?.statusCode ?? 0) // 200 means yes",
      ),
    ),
  };
}

export function dart(options: SampleOptions): Program {
  const { auth, form, names } = options;
  const { listUrl, feedUrl, changesUrl } = addresses(options);
  const { id, name, notes, done } = names;
  const target = form === "a" ? "list.resolve(id)" : "list";
  return {
    before: lines(
      "import 'dart:convert';",
      "import 'package:http/http.dart' as http; // dart pub add http uuid",
      "import 'package:uuid/uuid.dart';",
      "",
      ...androidNotes(options),
      ...iosNotes(options),
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
        `  final item = {'${id}': id, '${name}': 'Buy milk', '${notes}': 'two litres', '${done}': false};`,
        `  check(await http.post(${target}, headers: headers, body: jsonEncode(item)));`,
      ),
      list: "  final items = jsonDecode((await http.get(list, headers: headers)).body) as List;",
      read: "  final found = jsonDecode((await http.get(list.resolve(id), headers: headers)).body);",
      update: `  check(await http.put(${target}, headers: headers, body: jsonEncode({...item, '${done}': true})));`,
      delete: "  check(await http.delete(list.resolve(id), headers: headers));",
      follow: lines(
        "  // Every change, as it happens:",
        `  final request = http.Request('GET', Uri.parse('${feedUrl}'))..headers.addAll(headers);`,
        "  final feed = await http.Client().send(request);",
        "  await feed.stream.transform(utf8.decoder).transform(const LineSplitter()).forEach(print);",
      ),
      changes: lines(
        `  final delta = jsonDecode((await http.get(Uri.parse('${changesUrl}'), headers: headers)).body);`,
        `  final next = '${changesUrl}?since=\${delta['epoch']}-\${delta['version']}';`,
      ),
    },
    after: "}",
    alone: health(options, (url) =>
      lines(
        "import 'package:http/http.dart' as http; // dart pub add http",
        "",
        ...androidNotes(options),
        ...iosNotes(options),
        "Future<void> main() async {",
        `  print((await http.get(Uri.parse('${url}'))).statusCode); // 200 means yes`,
        "}",
      ),
    ),
  };
}
