// The user's edits that the change feed has not reported back yet, in the order they were made. The page shows the
// service's items with these edits applied, so the user sees an edit at once. Removing an edit from this list undoes it
// on the page. Edits that the service has not stored are kept in the tab's session storage, so they survive a reload.

export type Edit =
  | { readonly kind: "create"; readonly id: string; readonly json: string }
  | { readonly kind: "update"; readonly id: string; readonly json: string; readonly etag: string | undefined }
  | { readonly kind: "delete"; readonly id: string; readonly etag: string | undefined };

/** The service's version of an item that the user has edited too. */
export interface Theirs {
  readonly json: string;
  readonly etag: string | undefined;
}

export interface Conflict {
  /** The service's version of the item; undefined if somebody else deleted the item. */
  readonly theirs: Theirs | undefined;
  /** True if the user's edit is a deletion. */
  readonly deletes: boolean;
}

export interface OutboxEntry {
  readonly number: number;
  edit: Edit;
  /**
   * An entry stays in the outbox after the service has stored its edit, until the change feed has reported the edit.
   * Otherwise the page would show the old version of the item for a moment.
   */
  state: "waiting" | "sending" | "stored" | "conflict";
  /** The item's ETag and version after the service stored this edit. Undefined until then. */
  storedAs: { readonly etag: string | undefined; readonly version: number | undefined } | undefined;
  conflict: Conflict | undefined;
}

/** The part of the browser's storage that an outbox uses. */
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

  /** The number of edits that the service has not stored yet. */
  get unsentCount(): number {
    return this.#entries.filter(({ state }) => state !== "stored").length;
  }

  /**
   * Adds an edit. If the latest edit of the same item still waits or has a conflict, an update or a deletion is merged
   * into it.
   */
  add(edit: Edit): void {
    const latest = this.#latest(edit.id);
    if (!latest || edit.kind === "create") this.#push(edit);
    else if (latest.state === "waiting" || latest.state === "conflict") this.#merge(latest, edit);
    // The new edit is based on the result of the latest one, so it needs the ETag of that result. While the latest edit
    // is still being sent, this ETag is unknown, and `stored` sets it later.
    else this.#push({ ...edit, etag: latest.storedAs?.etag });
    this.#keep();
  }

  /** The next edit to send; undefined if there is none. Edits of an item with a conflict wait until it is resolved. */
  next(): OutboxEntry | undefined {
    const held = new Set<string>();
    for (const entry of this.#entries) {
      if (entry.state === "sending" || (entry.state === "waiting" && !held.has(entry.edit.id))) return entry;
      if (entry.state === "conflict") held.add(entry.edit.id);
    }
    return undefined;
  }

  /** Marks an edit as stored. Later edits of the same item are based on its result, so they get the new ETag. */
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

  /**
   * Resolves a conflict in favour of the user: the edit will be sent again, now based on the service's version of the
   * item. If the service no longer has the item, an update becomes a create.
   */
  insist(entry: OutboxEntry): void {
    const { edit, conflict } = entry;
    if (conflict?.theirs) entry.edit = edit.kind === "create" ? edit : { ...edit, etag: conflict.theirs.etag };
    else if (edit.kind === "update") entry.edit = { kind: "create", id: edit.id, json: edit.json };
    entry.state = "waiting";
    entry.conflict = undefined;
    this.#keep();
  }

  /** Removes an edit and all later edits of the same item. */
  drop(entry: OutboxEntry): void {
    this.#entries = this.#entries.filter(({ number, edit }) => number < entry.number || edit.id !== entry.edit.id);
    this.#keep();
  }

  /**
   * Removes the stored edits that the change feed has reported. A deletion has been reported if `isThere` returns false
   * for its item. Any other edit has been reported if it was stored at or before this version.
   */
  settle(version: number, isThere: (id: string) => boolean): void {
    const isReported = ({ state, edit, storedAs }: OutboxEntry) =>
      state === "stored" && (edit.kind === "delete" ? !isThere(edit.id) : (storedAs?.version ?? 0) <= version);
    // When an edit has been reported, older edits of the same item are removed too.
    const reported = new Map(this.#entries.filter(isReported).map(({ edit, number }) => [edit.id, number]));
    if (reported.size === 0) return;
    this.#entries = this.#entries.filter(({ edit, number }) => number > (reported.get(edit.id) ?? -1));
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
    // The stored text is not JSON, so it was not written by an outbox and contains no edits.
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
