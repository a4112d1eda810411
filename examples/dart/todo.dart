// A client for Flutter or the Dart VM, without packages: it lists, creates, updates and deletes an item. In the Android
// emulator, your machine is 10.0.2.2. Flutter on the web has no dart:io; use package:http there. The authors had no
// compiler for this file.

import 'dart:convert';
import 'dart:io';
import 'dart:math';

final server = Uri.parse(Platform.environment['TODOITEMS_SERVER'] ?? 'http://localhost:5000/');
final list = server.resolve('/api/todoitems/');
final client = HttpClient()..connectionTimeout = const Duration(seconds: 10);

class Answer {
  Answer(this.status, this.etag, this.body);
  final int status;
  final String? etag;
  final String body;
}

/// The service refused a request. `code` is a stable word for programs, such as PreconditionFailed.
class Refused implements Exception {
  Refused(this.status, Map<String, dynamic> problem, this.etag)
      : code = problem['code'] as String,
        detail = problem['detail'] as String,
        current = problem['current'] as Map<String, dynamic>?;
  final int status;
  final String code;
  final String detail;

  /// Only with status 412: the item as it is now. Its ETag is `etag`.
  final Map<String, dynamic>? current;
  final String? etag;
}

Future<Answer> send(String method, Uri url, {Map<String, dynamic>? item, String? etag}) async {
  final request = await client.openUrl(method, url);
  if (etag != null) request.headers.set('If-Match', etag);
  if (item != null) {
    final bytes = utf8.encode(jsonEncode(item));
    request.headers.contentType = ContentType.json;
    request.contentLength = bytes.length;
    request.add(bytes);
  }
  final response = await request.close();
  final body = await utf8.decodeStream(response);
  final newEtag = response.headers.value('etag');
  if (response.statusCode >= 400) {
    throw Refused(response.statusCode, jsonDecode(body) as Map<String, dynamic>, newEtag);
  }
  return Answer(response.statusCode, newEtag, body);
}

/// A random UUID (version 4).
String newId() {
  final random = Random.secure();
  final bytes = List.generate(16, (_) => random.nextInt(256));
  bytes[6] = bytes[6] & 0x0f | 0x40;
  bytes[8] = bytes[8] & 0x3f | 0x80;
  final hex = bytes.map((byte) => byte.toRadixString(16).padLeft(2, '0')).join();
  return [hex.substring(0, 8), hex.substring(8, 12), hex.substring(12, 16), hex.substring(16, 20), hex.substring(20)]
      .join('-');
}

Future<void> main() async {
  // Make the ID yourself. Then a create whose response was lost can safely be sent again: a duplicate gets 409.
  final id = newId();
  final item = <String, dynamic>{'ID': id, 'Name': 'Buy milk', 'Notes': '2 litres', 'Done': false};
  final url = list.resolve(id);

  final created = await send('POST', list, item: item);
  print('Create: ${created.status} ${created.etag}');

  final items = jsonDecode((await send('GET', list)).body) as List<dynamic>;
  print('List: ${items.map((each) => (each as Map<String, dynamic>)['Name']).toList()}');

  final updated = await send('PUT', url, item: {...item, 'Done': true}, etag: created.etag);
  print('Update: ${updated.status} ${updated.etag}');

  try {
    await send('PUT', url, item: {...item, 'Name': 'Buy oat milk'}, etag: created.etag);
  } on Refused catch (refused) {
    print('Update with an old ETag: ${refused.status} ${refused.code}, the item is now ${refused.current}');
  }

  try {
    await send('POST', list, item: item);
  } on Refused catch (refused) {
    print('Create the same ID: ${refused.status} ${refused.code}');
  }

  print('Delete: ${(await send('DELETE', url, etag: updated.etag)).status}');
  client.close();
}
