// The error for an invalid item or JSON text. Its message tells the client what is wrong and what to send instead.

export type ItemErrorCode =
  | "FieldRequired"
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
