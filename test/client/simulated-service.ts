// A to-do service in memory for the simulation: the list, conditional writes, the document of changes and the change
// feed, with restarts, backups and tombstones that are forgotten. It tells an auditor about every write.

import { mergeFields } from "../../src/items/field-merge.ts";

export type Fields = Readonly<Record<string, string>>;

interface StoredItem {
  readonly json: string;
  readonly version: number;
  readonly position: number;
}

export interface SimulatedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly ifMatch: string | undefined;
  readonly body: string;
}

export interface SimulatedReply {
  readonly status: number;
  readonly etag?: string | undefined;
  readonly type?: string;
  readonly body?: string;
  /** The token from which a change feed continues. Undefined if the reply is not a feed. */
  readonly feedFrom?: { readonly version: number; readonly epoch: string } | "resync";
}

/** The status of a full store. */
const full = 507;

/** Notified of every write that is stored, with the item before and after it. */
export type OnWrite = (actor: string, id: string, before: Fields | undefined, after: Fields | undefined) => void;

export interface Backup {
  readonly items: ReadonlyMap<string, StoredItem>;
  readonly version: number;
}

export class SimulatedService {
  readonly #onWrite: OnWrite;
  /** True if it is another server, without ETags and a change feed. */
  readonly isPlain: boolean;
  items = new Map<string, StoredItem>();
  #tombstones = new Map<string, number>();
  #forgottenTo = 0;
  #epochs = 0;
  epoch = "e0";
  version = 0;
  readOnly = false;
  /** If set, every request is refused with this status. With that of a full store, only requests that need room are. */
  refusal: number | undefined;

  constructor(isPlain: boolean, onWrite: OnWrite) {
    this.isPlain = isPlain;
    this.#onWrite = onWrite;
  }

  backup(): Backup {
    return { items: new Map(this.items), version: this.version };
  }

  restore({ items, version }: Backup): void {
    this.items = new Map(items);
    this.version = version;
    this.#tombstones.clear();
    this.#forgottenTo = version;
    this.epoch = `e${++this.#epochs}`;
  }

  forgetTombstones(): void {
    this.#tombstones.clear();
    this.#forgottenTo = this.version;
  }

  get list(): string[] {
    return [...this.items.values()].sort((one, other) => one.position - other.position).map(({ json }) => json);
  }

  fieldsOf(id: string): Fields | undefined {
    const item = this.items.get(id);
    return item && (JSON.parse(item.json) as Fields);
  }

  write(actor: string, id: string, json: string | undefined): void {
    const before = this.items.get(id);
    this.version++;
    if (json === undefined) {
      this.items.delete(id);
      this.#tombstones.set(id, this.version);
    } else {
      this.#tombstones.delete(id);
      this.items.set(id, { json, version: this.version, position: before?.position ?? this.version });
    }
    this.#onWrite(
      actor,
      id,
      before && (JSON.parse(before.json) as Fields),
      json === undefined ? json : JSON.parse(json),
    );
  }

  handle(actor: string, request: SimulatedRequest): SimulatedReply {
    const { method, path, query } = request;
    if (this.refusal !== undefined && this.refusal !== full) return { status: this.refusal };
    if (path.startsWith("/changes/") && this.isPlain) return { status: 404 };
    const [, epoch = "", digits = ""] = /since=(\w+)-(\d+)/.exec(query) ?? [];
    const since = { epoch, version: Number(digits) };
    const isKnown = this.knows(since);
    if (path === "/changes/delta") return this.#delta(isKnown ? since.version : undefined);
    if (path === "/changes/events")
      return { status: 200, type: "text/event-stream", feedFrom: isKnown ? since : "resync" };
    if (method === "GET" && path === "/api/todoitems/")
      return {
        status: 200,
        type: "application/json",
        body: `[${this.list.join()}]`,
        etag: this.isPlain ? undefined : this.#tag(this.version),
      };
    return this.#operate(actor, request);
  }

  /** Whether it can still say what has changed since then. */
  knows({ epoch, version }: { readonly epoch: string; readonly version: number }): boolean {
    return epoch === this.epoch && version >= this.#forgottenTo && version <= this.version;
  }

  /** The changes after a version, as the feed sends them. */
  changesSince(version: number): { readonly version: number; readonly json: string }[] {
    const items = Array.from(this.items, ([id, item]) => ({ version: item.version, json: this.#change(id, item) }));
    const gone = Array.from(this.#tombstones, ([id, at]) => ({
      version: at,
      json: `{"version":${at},"position":1,"id":"${id}","item":null}`,
    }));
    return [...items, ...gone]
      .filter((change) => change.version > version)
      .sort((one, other) => one.version - other.version);
  }

  #change(id: string, { version, position, json }: StoredItem): string {
    const etag = JSON.stringify(this.#tag(version));
    return `{"version":${version},"position":${position},"id":"${id}","etag":${etag},"item":${json}}`;
  }

  #delta(version: number | undefined): SimulatedReply {
    const changes = this.changesSince(version ?? 0).filter(
      ({ json }) => version !== undefined || !json.endsWith("null}"),
    );
    const head = `"epoch":"${this.epoch}","version":${this.version},"readOnly":${this.readOnly}`;
    const body = `{${head},"whole":${version === undefined},"changes":[${changes.map(({ json }) => json).join()}]}`;
    return { status: 200, type: "application/json", body };
  }

  #tag(version: number, suffix = ""): string {
    return `"${this.epoch}-${version}${suffix}"`;
  }

  #operate(actor: string, { method, path, ifMatch, body }: SimulatedRequest): SimulatedReply {
    const pathId = path.slice("/api/todoitems/".length);
    const id = pathId || (JSON.parse(body) as { ID: string }).ID;
    const current = this.items.get(id);
    const problem = (status: number, code: string, more = "") => ({
      status,
      type: this.isPlain ? "text/plain" : "application/problem+json",
      body: this.isPlain ? code : `{"code":"${code}","detail":""${more}}`,
    });
    if (method === "POST" && current) return problem(409, "TodoItemIDInUse");
    if (method !== "POST" && !current) return problem(404, "RecordNotFound");
    if (method === "GET" && current)
      return { status: 200, type: "application/json", body: current.json, etag: this.#tag(current.version) };
    if (!this.isPlain && current && ifMatch !== undefined && ifMatch !== this.#tag(current.version))
      return { ...problem(412, "PreconditionFailed", `,"current":${current.json}`), etag: this.#tag(current.version) };
    const status = method === "POST" ? 201 : 204;
    // Our service looks for room last, so this says that no earlier attempt is stored.
    if (this.refusal === full && method !== "DELETE") return { status: full };
    if (this.readOnly) return { status, etag: this.#tag(this.version, "-not-kept") };
    this.write(actor, id, method === "DELETE" ? undefined : body);
    return { status, etag: this.isPlain || method === "DELETE" ? undefined : this.#tag(this.version) };
  }
}

/** An item with one field changed by somebody who sees the current state. */
export function withField(json: string, name: string, value: string): string {
  return mergeFields("{}", JSON.stringify({ [name]: value }), json).json;
}
