// Compares the events of a change feed with the API's description, as they are sent.

import type { ApiDescription } from "../../src/description/api-description.ts";
import type { StreamBody } from "../../src/wire/message.ts";
import { mismatches } from "./schema.ts";

/** Only this many bytes of a feed are checked, because some tests send very many events to very many readers. */
const feedBytesMax = 256 * 1024;
const schemaOfEvent: Readonly<Record<string, string>> = { ready: "FeedReady", change: "Change", resync: "FeedResync" };

/** The same feed, but checked: if an event is not as described, `onDifference` is called before the event is sent. */
export function checkedFeed(
  feed: StreamBody,
  description: ApiDescription,
  onDifference: (difference: string) => never,
): StreamBody {
  return {
    open(sink) {
      const decoder = new TextDecoder();
      let text = "";
      let byteCount = 0;
      const check = (bytes: Uint8Array) => {
        byteCount += bytes.length;
        if (byteCount > feedBytesMax) return;
        const blocks = (text + decoder.decode(bytes, { stream: true })).split("\n\n");
        text = blocks.pop() ?? "";
        for (const difference of blocks.flatMap((block) => differences(block, description))) onDifference(difference);
      };
      return feed.open({
        write(bytes) {
          check(bytes);
          sink.write(bytes);
        },
        end(last) {
          if (last) check(last);
          sink.end(last);
        },
      });
    },
  };
}

/** Says what is wrong with a block: the lines of a feed up to an empty line. A block is an event or a heartbeat. */
function differences(block: string, { components }: ApiDescription): string[] {
  const fields = new Map(block.split("\n").map((line) => cut(line)));
  const data = fields.get("data");
  if (data === undefined) return [];
  const event = fields.get("event") ?? "";
  const schema = schemaOfEvent[event];
  if (schema === undefined) return [`the event ${JSON.stringify(event)} is not described`];
  return mismatches({ $ref: schema }, JSON.parse(data), components["schemas"] ?? {}).map(
    (found) => `${event}: ${found}`,
  );
}

function cut(line: string): [name: string, value: string] {
  const colon = line.indexOf(": ");
  return colon === -1 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 2)];
}
