// Changes a person has made that the service has not confirmed yet, in the order they were made. The page
// shows them at once, on top of what the service has; undoing one is taking it out of here. They are kept
// in the browser's storage for the tab, so a reload without a connection loses none.

export type Edit =
  | { readonly kind: "create"; readonly id: string; readonly json: string }
  | { readonly kind: "update"; readonly id: string; readonly json: string; readonly etag: string | undefined }
  | { readonly kind: "delete"; readonly id: string; readonly etag: string | undefined };

/** What the service has in place of what an edit was made on; nothing where the item is gone. */
export interface Theirs {
  readonly json: string;
  readonly etag: string | undefined;
}

export interface Conflict {
  readonly theirs: Theirs | undefined;
  /** What was wanted here is that the item goes. */
  readonly deletes: boolean;
}

export interface OutboxEntry {
  readonly number: number;
  edit: Edit;
  /** `stored` ones stay until the change feed has told of them, so that nothing flickers. */
  state: "waiting" | "sending" | "stored" | "conflict";
  /** The state the service stored this edit as. */
  storedAs: { readonly etag: string | undefined; readonly version: number | undefined } | undefined;
  conflict: Conflict | undefined;
}

/** What of a browser's storage is used. */
export interface KeptText {
  read(): string | null;
  write(text: string): void;
}

export class Outbox {
  readonly #kept: KeptText;
  #entries: OutboxEntry[] = [];
  #number = 0;

  constructor(kept: KeptText) {
    this.#kept = kept;
    for (const edit of parseKept(kept.read())) this.#push(edit);
  }

  get entries(): readonly OutboxEntry[] {
    return this.#entries;
  }

  /** How many changes the service does not have yet. */
  get unsentCount(): number {
    return this.#entries.filter(({ state }) => state !== "stored").length;
  }

  /** Takes a change. One that is not under way yet is replaced by a newer one of the same item. */
  add(edit: Edit): void {
    const latest = this.#latest(edit.id);
    if (!latest || edit.kind === "create") this.#push(edit);
    else if (latest.state === "waiting" || latest.state === "conflict") this.#merge(latest, edit);
    // Made on a state whose tag is known only once the one under way is stored.
    else this.#push({ ...edit, etag: latest.storedAs?.etag });
    this.#keep();
  }

  /** The next one to send. Those of an item wait for a conflict about it to be decided. */
  next(): OutboxEntry | undefined {
    const held = new Set<string>();
    for (const entry of this.#entries) {
      if (entry.state === "sending" || (entry.state === "waiting" && !held.has(entry.edit.id))) return entry;
      if (entry.state === "conflict") held.add(entry.edit.id);
    }
    return undefined;
  }

  /** The service has stored it; later edits of the item were made on that state. */
  stored(entry: OutboxEntry, etag: string | undefined, version: number | undefined): void {
    entry.state = "stored";
    entry.storedAs = { etag, version };
    for (const later of this.#entries) {
      if (later.number > entry.number && later.edit.id === entry.edit.id && later.edit.kind !== "create")
        later.edit = { ...later.edit, etag };
    }
    this.#keep();
  }

  conflicted(entry: OutboxEntry, theirs: Theirs | undefined): void {
    entry.state = "conflict";
    entry.conflict = { theirs, deletes: entry.edit.kind === "delete" };
    this.#keep();
  }

  /** Sends a conflicting edit again, now made on what the service has. */
  insist(entry: OutboxEntry): void {
    const { edit, conflict } = entry;
    if (conflict?.theirs) entry.edit = edit.kind === "create" ? edit : { ...edit, etag: conflict.theirs.etag };
    else if (edit.kind === "update") entry.edit = { kind: "create", id: edit.id, json: edit.json };
    entry.state = "waiting";
    entry.conflict = undefined;
    this.#keep();
  }

  /** Forgets an edit, and with it those of the item that were made after it. */
  drop(entry: OutboxEntry): void {
    this.#entries = this.#entries.filter(({ number, edit }) => number < entry.number || edit.id !== entry.edit.id);
    this.#keep();
  }

  /** Forgets what the change feed has told of: all that was stored up to a version, deletions of items that are gone. */
  settle(version: number, isThere: (id: string) => boolean): void {
    const isTold = ({ state, edit, storedAs }: OutboxEntry) =>
      state === "stored" && (edit.kind === "delete" ? !isThere(edit.id) : (storedAs?.version ?? 0) <= version);
    // What was stored before something that was told of is past, too.
    const told = new Map(this.#entries.filter(isTold).map(({ edit, number }) => [edit.id, number]));
    if (told.size === 0) return;
    this.#entries = this.#entries.filter(({ edit, number }) => number > (told.get(edit.id) ?? -1));
  }

  #latest(id: string): OutboxEntry | undefined {
    return this.#entries.findLast(({ edit }) => edit.id === id);
  }

  #merge(entry: OutboxEntry, edit: Edit): void {
    const { edit: before } = entry;
    if (before.kind === "create" && edit.kind === "delete") this.drop(entry);
    else if (before.kind === "create" && edit.kind === "update") entry.edit = { ...before, json: edit.json };
    else if (before.kind !== "create" && edit.kind !== "create") entry.edit = { ...edit, etag: before.etag };
  }

  #push(edit: Edit): void {
    const number = this.#number++;
    this.#entries.push({ number, edit, state: "waiting", storedAs: undefined, conflict: undefined });
  }

  #keep(): void {
    const unsent = this.#entries.filter(({ state }) => state !== "stored").map(({ edit }) => edit);
    this.#kept.write(JSON.stringify(unsent));
  }
}

function parseKept(text: string | null): Edit[] {
  try {
    const edits: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(edits) ? edits.filter(isEdit) : [];
  } catch (error) {
    // Garbled by somebody else; there is nothing in it to send.
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

function isEdit(value: unknown): value is Edit {
  if (typeof value !== "object" || value === null || !("kind" in value && "id" in value)) return false;
  return (
    typeof value.id === "string" && (value.kind === "delete" || ("json" in value && typeof value.json === "string"))
  );
}
