// `todoitems watch`: prints every change until it is interrupted.

import { styleText } from "node:util";
import { isTodoError } from "../client/errors.ts";
import type { WatchState } from "../client/live/status.ts";
import type { WatchEvent } from "../client/live/watch.ts";
import { shorten } from "../terminal/text.ts";
import { widthOf } from "../terminal/wrapped-text.ts";
import { describeFailure } from "./command-line/failure.ts";
import { countOf, jsonFlag, printLine, remark } from "./command-line/output.ts";
import { isDone, nameOf, shortId } from "./items/fields.ts";
import { defineClientCommand } from "./service/connect.ts";

export const command = defineClientCommand(
  {
    name: "watch",
    parameters: "",
    summary: "print every change as it happens",
    flags: [jsonFlag],
    notes:
      "If the service is not there yet, watch waits for it. Press Ctrl-C to stop. --json prints one line for each event: snapshot, changed or removed.",
    example: "watch --json",
  },
  async (client, args) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(0));
    remark(`Connecting to ${new URL("../../", client.url)} …`);
    const names = new Map<string, string>();
    let isConnected = false;
    const onState = (state: WatchState) => {
      remarkState(state, isConnected);
      isConnected = state.kind !== "lost";
    };
    for await (const event of client.watch({ onState }))
      await printLine(args.has("json") ? eventJson(event) : eventLine(event, names));
  },
);

function remarkState(state: WatchState, wasConnected: boolean): void {
  if (state.kind === "live") remark("Connected. Changes appear as they happen. Press Ctrl-C to stop.");
  else if (state.kind === "polling")
    remark("This service has no change feed, so its list is read every 5 seconds. Press Ctrl-C to stop.");
  else {
    // A service ends its feeds also when its users have changed. Only the next attempt shows whether it can be reached.
    const isOver = wasConnected && isTodoError(state.error, "NetworkError");
    const reason = isOver ? "The connection has ended." : describeFailure(state.error).message;
    remark(`warning: ${reason} Trying again in ${Math.ceil(state.retryInMs / 1000)} s …`);
  }
}

function eventJson(event: WatchEvent<string>): string {
  if (event.kind === "removed") return `{"kind":"removed","id":${JSON.stringify(event.id)}}`;
  if (event.kind === "snapshot")
    return `{"kind":"snapshot","items":[${event.items.map(({ item }) => item).join(",")}]}`;
  return `{"kind":"changed","id":${JSON.stringify(event.id)},"item":${event.item}}`;
}

/** `names` has the name of each item that was seen so far, by ID. It tells new items, and names those that are removed. */
function eventLine(event: WatchEvent<string>, names: Map<string, string>): string {
  const time = styleText("dim", new Date().toTimeString().slice(0, 8));
  if (event.kind === "snapshot") {
    names.clear();
    for (const { id, item } of event.items) names.set(id, nameOf(item));
    return `${time}  ${countOf(event.items.length)} on the list`;
  }
  const before = names.get(event.id);
  const name = event.kind === "changed" ? nameOf(event.item) : (before ?? "");
  if (event.kind === "changed") names.set(event.id, name);
  else names.delete(event.id);
  const sign = event.kind === "removed" ? styleText("bold", "-") : styleText("green", before === undefined ? "+" : "~");
  const tick = event.kind === "changed" && isDone(event.item) ? "✓ " : "";
  return shorten(`${time}  ${sign} ${shortId(event.id)}  ${tick}${name}`, widthOf(process.stdout));
}
