// Everything that `todoitems-client/offline` and `todoitems/offline` export.

export type { OfflineStatus } from "./live/status.ts";
export { indexedDbStorage } from "./offline/indexed-db-storage.ts";
export type { OfflineStorage } from "./offline/kept-list.ts";
export type { OfflineListOptions } from "./offline/offline-engine.ts";
export { OfflineList } from "./offline/offline-list.ts";
export type {
  Conflict,
  OfflineItem,
  OfflineSnapshot,
  PendingEdit,
  Resolution,
} from "./offline/offline-snapshot.ts";
export type { EditProblem } from "./offline/outbox.ts";
