// Decides whether a recorded history is linearizable. That is so if some order of its operations explains every answer.
// In this order, each operation takes effect at one moment between its request and its answer.
//
// For each item it searches for such an order with the algorithm of Wing and Gong, and remembers the states it has
// tried, as Lowe proposed. Whole lists are checked by their versions.

import type { History, ItemOperation, ListOperation, SeenItem } from "./history.ts";

/** What is wrong with a history of operations. Undefined if the history is linearizable. */
export function check({ operations, lists }: History): string | undefined {
  const ids = new Set(operations.map(({ id }) => id));
  for (const id of ids) {
    const own = [
      ...operations.filter((operation) => operation.id === id),
      ...lists.map((list) => seenInList(list, id)),
    ];
    if (!isLinearizable(own)) return `no order of the ${own.length} operations on ${id} explains their answers`;
  }
  return checkVersions(operations, lists);
}

/** An item as seen in a list, which does not show the versions of its items. */
type Observation = { readonly kind: "listed"; readonly n: number | undefined; sentAt: number; answeredAt: number };
type Operation = ItemOperation | Observation;

function seenInList({ items, sentAt, answeredAt }: ListOperation, id: string): Observation {
  return { kind: "listed", n: items.find((item) => item.id === id)?.n, sentAt, answeredAt };
}

/** The state of an item. Undefined if it does not exist. After a write without an answer, the version is unknown. */
type State = { readonly n: number; readonly version: number | undefined } | undefined;

/** The state after an operation, or "impossible" if its answer cannot come from this state. */
function step(state: State, operation: Operation): State | "impossible" {
  switch (operation.kind) {
    case "listed":
      return state?.n === operation.n ? state : "impossible";
    case "read":
      return matches(state, operation.seen) ? state : "impossible";
    case "delete":
      if (operation.outcome === "unknown") return undefined;
      return (operation.outcome === "done") === (state !== undefined) ? undefined : "impossible";
    case "create":
    case "update":
      return stepWrite(state, operation);
  }
}

function stepWrite(state: State, write: Extract<ItemOperation, { n: number }>): State | "impossible" {
  const written = { n: write.n, version: write.version };
  const conditionHolds =
    write.condition === undefined || state?.version === undefined || state.version === write.condition;
  const possible = write.kind === "create" ? state === undefined : state !== undefined && conditionHolds;
  switch (write.outcome) {
    case "done":
      return possible ? written : "impossible";
    case "unknown":
      // This is the state if the write happened. If it did not, the search leaves the write out of the order.
      return possible ? written : "impossible";
    case "id-in-use":
      return state === undefined ? "impossible" : state;
    case "not-found":
      return state === undefined ? state : "impossible";
    case "condition-failed":
      return state !== undefined && state.version !== write.condition ? state : "impossible";
  }
}

function matches(state: State, seen: SeenItem | undefined): boolean {
  if (state === undefined || seen === undefined) return state === seen;
  return state.n === seen.n && (state.version === undefined || state.version === seen.version);
}

/** A request or an answer, in a linked list from which operations can be taken out and put back. */
interface Event {
  readonly operation: Operation;
  readonly bit: bigint;
  /** For a request: the event of its answer. Undefined for an answer. */
  readonly answer: Event | undefined;
  previous: Event | undefined;
  next: Event | undefined;
}

function isLinearizable(operations: readonly Operation[]): boolean {
  const first = eventsOf(operations);
  const tried = new Set<string>();
  const taken: { readonly event: Event; readonly stateBefore: State }[] = [];
  let takenBits = 0n;
  let state: State;
  let event = first.next;
  let open = operations.filter(({ answeredAt }) => Number.isFinite(answeredAt)).length;
  while (open > 0) {
    if (event?.answer) {
      const after = step(state, event.operation);
      const key = after === "impossible" ? "" : `${takenBits | event.bit} ${after?.n} ${after?.version}`;
      if (after === "impossible" || tried.has(key)) {
        event = event.next;
        continue;
      }
      tried.add(key);
      taken.push({ event, stateBefore: state });
      state = after;
      takenBits |= event.bit;
      if (Number.isFinite(event.operation.answeredAt)) open--;
      takeOut(event);
      event = first.next;
      continue;
    }
    // `event` is the answer of an operation that has no place in the order yet. So the operation that was placed last
    // is in a wrong place.
    const last = taken.pop();
    if (!last) return false;
    state = last.stateBefore;
    takenBits &= ~last.event.bit;
    if (Number.isFinite(last.event.operation.answeredAt)) open++;
    putBack(last.event);
    event = last.event.next;
  }
  return true;
}

/** Requests and answers in order of time, after an event that stands for the beginning. */
function eventsOf(operations: readonly Operation[]): { next: Event | undefined } {
  const timed: { readonly at: number; readonly isAnswer: boolean; readonly event: Event }[] = [];
  for (const [index, operation] of operations.entries()) {
    const bit = 1n << BigInt(index);
    const answer: Event = { operation, bit, answer: undefined, previous: undefined, next: undefined };
    const call: Event = { operation, bit, answer, previous: undefined, next: undefined };
    timed.push({ at: operation.sentAt, isAnswer: false, event: call });
    timed.push({ at: operation.answeredAt, isAnswer: true, event: answer });
  }
  // If two events have the same time, the request comes first. So two operations overlap even if one begins exactly
  // when the other ends.
  timed.sort((a, b) => (a.at === b.at ? Number(a.isAnswer) - Number(b.isAnswer) : a.at - b.at));
  const beginning: Event = {
    operation: { kind: "listed", n: undefined, sentAt: 0, answeredAt: 0 },
    bit: 0n,
    answer: undefined,
    previous: undefined,
    next: undefined,
  };
  let last = beginning;
  for (const { event } of timed) {
    last.next = event;
    event.previous = last;
    last = event;
  }
  return beginning;
}

function takeOut(call: Event): void {
  for (const event of [call, call.answer]) {
    if (event?.previous) event.previous.next = event.next;
    if (event?.next) event.next.previous = event.previous;
  }
}

function putBack(call: Event): void {
  for (const event of [call.answer, call]) {
    if (event?.previous) event.previous.next = event;
    if (event?.next) event.next.previous = event;
  }
}

interface Versioned {
  readonly version: number;
  readonly sentAt: number;
  readonly answeredAt: number;
}

/**
 * Checks what versions promise: each change has a version of its own, versions grow with time, and each version stands
 * for one list.
 */
function checkVersions(operations: readonly ItemOperation[], lists: readonly ListOperation[]): string | undefined {
  const writes = operations.flatMap((operation) =>
    (operation.kind === "create" || operation.kind === "update") && operation.version !== undefined
      ? [{ ...operation, version: operation.version }]
      : [],
  );
  const byVersion = new Map<number, string>();
  for (const { version, id, n } of writes) {
    if (byVersion.has(version)) return `two writes were answered with version ${version}`;
    byVersion.set(version, `${id} ${n}`);
  }
  const bodies = new Map<number, string>();
  for (const { version, body } of lists) {
    if ((bodies.get(version) ?? body) !== body) return `two different lists have version ${version}`;
    bodies.set(version, body);
  }
  return checkOrder(writes, lists) ?? checkContents(operations, writes, lists);
}

/**
 * A list must be at least as new as everything answered before its request. It must be older than all writes sent after
 * its answer.
 */
function checkOrder(writes: readonly Versioned[], lists: readonly Versioned[]): string | undefined {
  for (const list of lists) {
    for (const other of [...writes, ...lists]) {
      if (other.answeredAt < list.sentAt && other.version > list.version)
        return `a list of version ${list.version} was answered after version ${other.version} had been`;
    }
    for (const write of writes) {
      if (write.sentAt > list.answeredAt && write.version <= list.version)
        return `a list of version ${list.version} was answered before version ${write.version} was asked for`;
    }
  }
  return undefined;
}

/** A list must show the newest state up to its version. Items with a write whose version is unknown are left out. */
function checkContents(
  operations: readonly ItemOperation[],
  writes: readonly { readonly kind: string; readonly id: string; readonly n: number; readonly version: number }[],
  lists: readonly ListOperation[],
): string | undefined {
  // A deletion is answered without a version, so it is unknown which lists it affects.
  const unsure = new Set(
    operations
      .filter(({ kind, ...rest }) => kind === "delete" || ("outcome" in rest && rest.outcome === "unknown"))
      .map(({ id }) => id),
  );
  const sure = writes.filter(({ id }) => !unsure.has(id)).sort((a, b) => a.version - b.version);
  for (const list of lists) {
    const expected = new Map<string, number>();
    for (const { id, n, version } of sure) if (version <= list.version) expected.set(id, n);
    const found = list.items.filter(({ id }) => !unsure.has(id));
    const text = (items: Iterable<readonly [string, number]>) => [...items].map(([id, n]) => `${id}=${n}`).join(", ");
    if (text(found.map(({ id, n }) => [id, n] as const)) !== text(expected))
      return `the list of version ${list.version} holds ${text(found.map(({ id, n }) => [id, n] as const))} where the writes up to it make ${text(expected)}`;
  }
  return undefined;
}
