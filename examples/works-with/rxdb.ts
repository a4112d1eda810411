// Replication for an RxDB collection. A document has the item's ID, its ETag, and the item with all its fields. The 412 of
// an outdated write brings the current item: that is the conflict document that RxDB passes to the conflict handler.

import type { RxCollection, RxJsonSchema, WithDeleted } from "rxdb";
import { replicateRxCollection } from "rxdb/plugins/replication";

type Item = Record<string, unknown>;

export interface TodoDocument {
  id: string;
  etag: string;
  item: Item;
}

export const todoSchema: RxJsonSchema<TodoDocument> = {
  version: 0,
  primaryKey: "id",
  type: "object",
  properties: {
    id: { type: "string", maxLength: 36 },
    etag: { type: "string" },
    item: { type: "object", additionalProperties: true },
  },
  required: ["id", "etag", "item"],
};

interface Delta {
  epoch: string;
  version: number;
  whole: boolean;
  changes: { id: string; etag?: string; item: Item | null }[];
}

const base = "http://localhost:5000/";

export function replicateTodos(collection: RxCollection<TodoDocument>) {
  /** The ETags of states that this client has written, until the replication brings them: by ID and former ETag. */
  const written = new Map<string, string>();

  return replicateRxCollection<TodoDocument, { token: string }>({
    collection,
    replicationIdentifier: `todoitems ${base}`,
    pull: {
      async handler(checkpoint) {
        const response = await request(`changes/delta${checkpoint ? `?since=${checkpoint.token}` : ""}`);
        const { epoch, version, whole, changes }: Delta = await response.json();
        const documents = changes.map(({ id, etag, item }) => asDocument(id, etag, item));
        if (whole) {
          const listed = new Set(changes.map(({ id }) => id));
          const kept = await collection.find().exec();
          documents.push(...kept.filter(({ id }) => !listed.has(id)).map(({ id }) => asDocument(id, "", null)));
        }
        return { documents, checkpoint: { token: `${epoch}-${version}` } };
      },
    },
    push: {
      batchSize: 1,
      async handler([row]) {
        if (row === undefined) return [];
        const { newDocumentState: wanted, assumedMasterState: known } = row;
        const { id } = wanted;
        if (wanted._deleted && known === undefined) return [];
        const state = `${id} ${known?.etag ?? ""}`;
        const response = await request(`api/todoitems/${id}`, {
          method: wanted._deleted ? "DELETE" : known ? "PUT" : "POST",
          headers: {
            "Content-Type": "application/json",
            ...(known ? { "If-Match": written.get(state) ?? known.etag } : {}),
          },
          body: wanted._deleted ? null : JSON.stringify(wanted.item),
        });
        const etag = response.headers.get("ETag") ?? "";
        switch (response.status) {
          case 412:
            return [asDocument(id, etag, (await response.json()).current)];
          case 409: {
            const taken = await request(`api/todoitems/${id}`);
            return [asDocument(id, taken.headers.get("ETag") ?? "", await taken.json())];
          }
          case 404:
            return wanted._deleted ? [] : [asDocument(id, "", null)];
          default:
            written.set(state, etag);
            return [];
        }
      },
    },
  });
}

/** Throws if the request did not come to a decision. RxDB then tries again later. */
async function request(path: string, options?: RequestInit): Promise<Response> {
  const response = await fetch(base + path, options);
  if (response.ok || [404, 409, 412].includes(response.status)) return response;
  throw new Error(`${response.status} ${await response.text()}`);
}

function asDocument(id: string, etag = "", item: Item | null): WithDeleted<TodoDocument> {
  return { id, etag, item: item ?? {}, _deleted: item === null };
}
