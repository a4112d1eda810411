// `todoitems watch`: prints every change until it is interrupted.

import { isTodoError, type TodoClientError } from "../client/errors.ts";
import type { WatchEvent, WatchState } from "../client/watch.ts";
import type { Environment } from "../terminal/environment.ts";
import { printable, shorten, styleOf } from "../terminal/text.ts";
import { widthOf } from "../terminal/wrapped-text.ts";
import { defineCommand, positionalsOf } from "./command.ts";
import { connect } from "./connect.ts";
import { connectionFlags } from "./connection-flags.ts";
import { explain } from "./failure.ts";
import { changedFields } from "./field-changes.ts";
import { doneFieldOf, isDone, nameFieldOf, nameOf, shortId } from "./fields.ts";
import { countOf, jsonFlag, printLine, remark } from "./output.ts";

export const watch = defineCommand(
  {
    name: "watch",
    parameters: "",
    summary: "print every change as it happens",
    flags: [jsonFlag, ...connectionFlags],
    notes:
      "If the service is not there yet, watch waits for it. Press Ctrl-C to stop. --json prints one line for each event: snapshot, changed or removed.",
  },
  async (args, environment) => {
    positionalsOf(args, 0, 0, "argument");
    const client = await connect(args, environment);
    const controller = new AbortController();
    const stop = () => controller.abort();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
    const known = new Map<string, string>();
    try {
      for await (const event of client.watch({ signal: controller.signal, onState: statePrinter() })) {
        await printLine(args.has("json") ? eventJson(event) : eventLine(event, known, environment));
        remember(event, known);
      }
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    }
    return 0;
  },
);

/**
 * Prints every state of the connection. If an attempt to connect fails for the same reason as the one before, the
 * reason is not printed again.
 */
function statePrinter(): (state: WatchState) => void {
  let lastReason = "";
  let isConnected = false;
  return (state) => {
    const reason = "error" in state ? reasonOf(state.error, isConnected) : "";
    isConnected = !("error" in state);
    if (state.kind === "live") remark("Connected. Changes appear as they happen. Press Ctrl-C to stop.");
    else if (state.kind === "polling")
      remark("This service has no change feed, so its list is read every 5 seconds. Press Ctrl-C to stop.");
    else
      remark(
        `${reason === lastReason ? "" : `warning: ${reason} `}Trying again in ${Math.ceil(state.retryInMs / 1000)} s … Press Ctrl-C to stop.`,
      );
    lastReason = reason;
  };
}

/**
 * Why there is no connection. If the connection was just lost, there is no advice to check the address, because the
 * address is right.
 */
function reasonOf(error: TodoClientError, wasConnected: boolean): string {
  return wasConnected && isTodoError(error, "NetworkError")
    ? `The connection to ${new URL("/", error.url).href} was lost.`
    : explain(error);
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
  if (event.kind === "snapshot") return `${time}  ${countOf(event.items.length)} on the list`;
  const before = known.get(event.id);
  const name = nameOf(event.kind === "changed" ? event.item : (before ?? "{}"));
  const tick = event.kind === "changed" && isDone(event.item) ? "✓ " : "";
  const sign = event.kind === "removed" ? style.bold("-") : style.green(before === undefined ? "+" : "~");
  const fields = event.kind === "changed" && before !== undefined ? changesOf(before, event.item) : [];
  const changes = fields.length === 0 ? "" : ` (${fields.join(", ")})`;
  return shorten(`${time}  ${sign} ${shortId(event.id)}  ${tick}${name}${changes}`, widthOf(process.stdout));
}

/**
 * The names of the fields that changed, except for the name and the mark for done, because the line shows these. If the
 * item was done and no longer is, the line has no tick, so words say it.
 */
function changesOf(before: string, after: string): string[] {
  const shown = [nameFieldOf(after), doneFieldOf(after).name];
  const others = changedFields(before, after).filter((name) => !shown.includes(name));
  return [...(isDone(before) && !isDone(after) ? ["not done"] : []), ...others.map(printable)];
}

/** `known` maps each ID to the item's text. */
function remember(event: WatchEvent<string>, known: Map<string, string>): void {
  if (event.kind === "removed") known.delete(event.id);
  else if (event.kind === "changed") known.set(event.id, event.item);
  else {
    known.clear();
    for (const { id, item } of event.items) known.set(id, item);
  }
}
