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
export type { LiveList, LiveListOptions, LiveListSnapshot } from "./live/live-list.ts";
export type { ListStatus, LiveConnection, WatchState } from "./live/status.ts";
export type { WatchEvent, WatchedItem, WatchOptions } from "./live/watch.ts";
export { TodoClient } from "./todo-client.ts";
