// Everything that `todoitems/client` exports.

export type { Credentials } from "./basic.ts";
export {
  exactNumbers,
  type ItemCodec,
  jsonText,
  type NewItem,
  NumberText,
  plainValues,
  type TodoItem,
} from "./codecs.ts";
export {
  BadRequestError,
  ConflictError,
  ForbiddenError,
  HttpError,
  InvalidResponseError,
  ItemTooLargeError,
  isTodoError,
  MethodNotAllowedError,
  NetworkError,
  NotFoundError,
  PreconditionFailedError,
  RedirectError,
  ResponseTooLargeError,
  ServerError,
  TimeoutError,
  TodoClientError,
  TooManyRequestsError,
  UnauthorizedError,
  UnsupportedMediaTypeError,
} from "./errors.ts";
export type { RequestOptions, RetryOptions } from "./requester.ts";
export {
  type ItemsOptions,
  type Stored,
  TodoClient,
  type TodoClientOptions,
  type WriteOptions,
} from "./todo-client.ts";
export type { WatchEvent, WatchedItem, WatchOptions, WatchState } from "./watch.ts";
