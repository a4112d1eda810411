// Runs in Node. Reads request streams from standard input, each preceded by its length in four bytes. For each stream
// it prints a line of JSON with what llhttp, Node's HTTP parser, has read. llhttp stops at some requests that our
// parser accepts, such as those with an unknown method. Then it is made to continue, and `allowed` in the line names
// the reason.

import { METHODS } from "node:http";
import { createRequire } from "node:module";

const { HTTPParser, methods } = createRequire(import.meta.url)("_http_common");

/** Longer than any head in these streams, because llhttp must not refuse a head for its length. */
const headBytesMax = 1024 ** 2;
/** The methods that llhttp knows. It accepts SOURCE only for the ICE protocol, so SOURCE counts as unknown in HTTP. */
const known = new Set(METHODS.filter((method) => method !== "SOURCE"));

/** Reads the stream once. The last argument of `initialize` is 0, so llhttp is not lenient about anything. */
function parse(bytes) {
  const messages = [];
  const allowed = [];
  let fields = [];
  let target = "";
  const parser = new HTTPParser();
  parser.initialize(HTTPParser.REQUEST, {}, headBytesMax, 0);
  // If there are many fields, this is called several times, each time with some of them. It is also called with
  // trailers, which are dropped.
  parser[HTTPParser.kOnHeaders] = (more, moreTarget) => {
    fields.push(...more);
    target += moreTarget;
  };
  parser[HTTPParser.kOnHeadersComplete] = (_major, _minor, allFields, method, wholeTarget) => {
    messages.push({
      method: methods[method],
      target: wholeTarget ?? target,
      fields: allFields ?? fields,
      body: "",
      isComplete: false,
    });
    fields = [];
    target = "";
    return 0;
  };
  parser[HTTPParser.kOnBody] = (content) => {
    messages.at(-1).body += content.toString("latin1");
  };
  parser[HTTPParser.kOnMessageComplete] = () => {
    messages.at(-1).isComplete = true;
    fields = [];
    target = "";
  };
  let rest = bytes;
  while (rest.length > 0) {
    const taken = parser.execute(rest);
    if (taken instanceof Error) return { messages, allowed, error: taken.code, reason: taken.reason };
    // After a request with Upgrade, Node's binding does not report llhttp's errors. It just accepts no more bytes.
    if (taken === 0) return { messages, allowed, error: "an error after an Upgrade" };
    rest = rest.subarray(taken);
    if (rest.length === 0) break;
    // llhttp stops before the end if another protocol may follow. After CONNECT, the rest is not HTTP. After an
    // Upgrade, which our server ignores, the rest is read as HTTP.
    if (messages.at(-1)?.method === "CONNECT") return { messages, allowed, error: "CONNECT" };
    allowed.push("ignored upgrade");
  }
  return { messages, allowed };
}

/** The length of the shortest prefix of the stream that contains this many complete messages. */
function endOfMessage(bytes, count) {
  let tooFew = 0;
  let enough = bytes.length;
  if (count === 0) return 0;
  while (enough - tooFew > 1) {
    const middle = (tooFew + enough) >> 1;
    if (parse(bytes.subarray(0, middle)).messages.filter((message) => message.isComplete).length < count)
      tooFew = middle;
    else enough = middle;
  }
  return enough;
}

/**
 * Reads a stream with llhttp, which refuses methods that it does not know. Each such method is replaced with POST, and
 * llhttp reads the stream again.
 */
function read(bytes) {
  const renamed = new Map();
  let stream = bytes;
  for (;;) {
    const reading = parse(stream);
    const count = reading.messages.filter((message) => message.isComplete).length;
    const replacement = reading.error && !renamed.has(count) ? withKnownMethod(stream, count) : undefined;
    if (!replacement) {
      for (const [index, method] of renamed) {
        if (reading.messages[index]) reading.messages[index].method = method;
        reading.allowed.push("unknown method");
      }
      return reading;
    }
    renamed.set(count, replacement.method);
    stream = replacement.stream;
  }
}

function withKnownMethod(bytes, messagesBefore) {
  let start = endOfMessage(bytes, messagesBefore);
  while (bytes[start] === 0x0d || bytes[start] === 0x0a) start++;
  const [method] = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?= )/.exec(bytes.toString("latin1", start)) ?? [];
  if (method === undefined || known.has(method)) return undefined;
  const rest = bytes.subarray(start + method.length);
  return { method, stream: Buffer.concat([bytes.subarray(0, start), Buffer.from("POST"), rest]) };
}

let input = Buffer.alloc(0);
process.stdin.on("data", (bytes) => {
  input = Buffer.concat([input, bytes]);
  let answers = "";
  while (input.length >= 4 && input.length >= 4 + input.readUInt32BE()) {
    const end = 4 + input.readUInt32BE();
    answers += `${JSON.stringify(read(input.subarray(4, end)))}\n`;
    input = input.subarray(end);
  }
  process.stdout.write(answers);
});
