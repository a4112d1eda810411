// A client for Apple platforms: it lists, creates, updates and deletes an item. To use plain HTTP while you develop, an
// app needs NSAllowsLocalNetworking in its Info.plist. The authors had no compiler for this file.

import Foundation

struct TodoItem: Codable {
    // Make the ID yourself. Then a create whose response was lost can safely be sent again: a duplicate gets 409.
    var ID = UUID().uuidString
    // The service does not check fields, so every field but the ID may be missing in an item of another client. Fields
    // that are not named here are lost when an item is saved, because an update replaces the whole item.
    var Name: String?
    var Notes: String?
    var Done: Bool?
}

// Other clients may spell the names with other capitals, such as `id`, so the letter case of names does not matter here.
extension TodoItem {
    struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }

    init(from decoder: Decoder) throws {
        let fields = try decoder.container(keyedBy: AnyKey.self)
        func value<Value: Decodable>(_ name: String) -> Value? {
            fields.allKeys
                .first { $0.stringValue.lowercased() == name.lowercased() }
                .flatMap { try? fields.decode(Value.self, forKey: $0) }
        }
        guard let id: String = value("ID") else { throw URLError(.cannotParseResponse) }
        self.init(ID: id, Name: value("Name"), Notes: value("Notes"), Done: value("Done"))
    }
}

/// The service refused a request. `code` is a stable word for programs, such as PreconditionFailed.
struct Refused: Error, Decodable {
    let status: Int
    let code: String
    let detail: String
    /// Only with status 412: the item as it is now.
    let current: TodoItem?
}

let server = URL(string: ProcessInfo.processInfo.environment["TODOITEMS_SERVER"] ?? "http://localhost:5000/")!
let list = server.appendingPathComponent("api/todoitems/")

func send(_ method: String, _ url: URL, item: TodoItem? = nil, etag: String? = nil) async throws
    -> (status: Int, etag: String?, body: Data)
{
    var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
    request.httpMethod = method
    if let etag { request.setValue(etag, forHTTPHeaderField: "If-Match") }
    if let item {
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(item)
    }
    let (body, response) = try await URLSession.shared.data(for: request)
    guard let answer = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
    if answer.statusCode >= 400 { throw try JSONDecoder().decode(Refused.self, from: body) }
    return (answer.statusCode, answer.value(forHTTPHeaderField: "ETag"), body)
}

var item = TodoItem(Name: "Buy milk", Notes: "2 litres", Done: false)
let itemURL = list.appendingPathComponent(item.ID)

let created = try await send("POST", list, item: item)
print("Create:", created.status, created.etag ?? "")

let items = try JSONDecoder().decode([TodoItem].self, from: await send("GET", list).body)
print("List:", items.map { $0.Name ?? "" })

item.Done = true
let updated = try await send("PUT", itemURL, item: item, etag: created.etag)
print("Update:", updated.status, updated.etag ?? "")

do {
    _ = try await send("PUT", itemURL, item: TodoItem(ID: item.ID, Name: "Buy oat milk"), etag: created.etag)
} catch let refused as Refused {
    print("Update with an old ETag:", refused.status, refused.code, "done is now", refused.current?.Done ?? false)
}

do {
    _ = try await send("POST", list, item: item)
} catch let refused as Refused {
    print("Create the same ID:", refused.status, refused.code)
}

print("Delete:", try await send("DELETE", itemURL, etag: updated.etag).status)
