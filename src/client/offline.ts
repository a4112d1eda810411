// Everything that `todoitems-client/offline` and `todoitems/offline` export.

export { indexedDbStorage } from "./indexed-db-storage.ts";
export type { OfflineStorage } from "./kept-list.ts";
export type { OfflineListOptions } from "./offline-engine.ts";
export { OfflineList } from "./offline-list.ts";
export type {
  Conflict,
  OfflineItem,
  OfflineSnapshot,
  OfflineStatus,
  PendingEdit,
  Resolution,
} from "./offline-snapshot.ts";
export type { EditProblem } from "./outbox.ts";
