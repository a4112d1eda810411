// The error for an item or a JSON text that is wrong. Its message tells the author what is wrong and what to send instead.

export type ItemErrorCode =
  | "InvalidJson"
  | "NestingTooDeep"
  | "TodoItemIDAmbiguous"
  | "TodoItemIDInvalid"
  | "TodoItemIDMismatch"
  | "TodoItemIDRequired";

export class ItemError extends Error {
  override readonly name = "ItemError";
  readonly code: ItemErrorCode;

  constructor(code: ItemErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
