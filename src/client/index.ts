// Everything that `todoitems-client` and `todoitems/client` export.

export type { Credentials } from "./basic.ts";
export type {
  ChangeOptions,
  FetchInit,
  FetchResponse,
  ItemsOptions,
  RequestOptions,
  RetryOptions,
  Stored,
  TodoClientOptions,
  WriteOptions,
} from "./client-options.ts";
export { type ItemCodec, jsonText, type NewItem, plainValues, type TodoItem } from "./codecs.ts";
export {
  HttpError,
  InvalidResponseError,
  isTodoError,
  NetworkError,
  PreconditionFailedError,
  ResponseTooLargeError,
  TimeoutError,
  TodoClientError,
} from "./errors.ts";
export type { LiveConnection } from "./live/follower.ts";
export type { ListStatus, LiveList, LiveListOptions, LiveListSnapshot } from "./live/live-list.ts";
export type { WatchEvent, WatchedItem, WatchOptions, WatchState } from "./live/watch.ts";
export { TodoClient } from "./todo-client.ts";
