// `todoitems watch`: prints every change until it is interrupted.

import type { WatchEvent, WatchState } from "../client/watch.ts";
import type { Environment } from "../serve/environment.ts";
import { defineCommand, positionalsOf } from "./command.ts";
import { connect, connectionFlags } from "./connect.ts";
import { displayText, fieldOf } from "./fields.ts";
import { jsonFlag, printLine } from "./output.ts";
import { printable, shorten, styleOf, widthOf } from "./terminal.ts";

export const watch = defineCommand(
  {
    name: "watch",
    parameters: "",
    summary: "tell every change as it happens",
    flags: [jsonFlag, ...connectionFlags],
    notes: "Ctrl-C ends it. --json prints a line for each event: snapshot, changed, removed.",
  },
  async (args, environment) => {
    positionalsOf(args, 0, 0, "argument");
    const client = await connect(args, environment);
    const controller = new AbortController();
    const stop = () => controller.abort();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
    const known = new Map<string, string>();
    try {
      for await (const event of client.watch({ signal: controller.signal, onState: printState })) {
        await printLine(args.has("json") ? eventJson(event) : eventLine(event, known, environment));
        remember(event, known);
      }
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    }
    return 0;
  },
);

function printState(state: WatchState): void {
  if (state.kind === "live") console.error("Connected; changes are told as they happen.");
  else if (state.kind === "polling") console.error("This service has no change feed; it is asked every 5 seconds.");
  else console.error(`${state.error.message}\nTrying again in ${Math.ceil(state.retryInMs / 1000)} s …`);
}

function eventJson(event: WatchEvent<string>): string {
  if (event.kind === "removed") return `{"kind":"removed","id":${JSON.stringify(event.id)}}`;
  if (event.kind === "snapshot")
    return `{"kind":"snapshot","items":[${event.items.map(({ item }) => item).join(",")}]}`;
  return `{"kind":"changed","id":${JSON.stringify(event.id)},"item":${event.item}}`;
}

function eventLine(event: WatchEvent<string>, known: ReadonlyMap<string, string>, environment: Environment): string {
  const style = styleOf(process.stdout, environment);
  const time = style.dim(new Date().toTimeString().slice(0, 8));
  if (event.kind === "snapshot")
    return `${time}  ${event.items.length === 1 ? "1 item" : `${event.items.length} items`} on the list`;
  const name = event.kind === "changed" ? nameOf(event.item) : (known.get(event.id) ?? "");
  const isDone = event.kind === "changed" && fieldOf(event.item, "Done") === "true";
  const sign = event.kind === "removed" ? style.red("-") : style.green(known.has(event.id) ? "~" : "+");
  return shorten(`${time}  ${sign} ${event.id.slice(0, 8)}  ${isDone ? "✓ " : ""}${name}`, widthOf(process.stdout));
}

function remember(event: WatchEvent<string>, known: Map<string, string>): void {
  if (event.kind === "removed") known.delete(event.id);
  else if (event.kind === "changed") known.set(event.id, nameOf(event.item));
  else {
    known.clear();
    for (const { id, item } of event.items) known.set(id, nameOf(item));
  }
}

function nameOf(item: string): string {
  return printable(displayText(fieldOf(item, "Name")));
}
