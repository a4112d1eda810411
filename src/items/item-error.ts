// The error for an invalid item or JSON text. Its message tells the client what is wrong and what to send instead.

export type ItemErrorCode =
  | "FieldRequired"
  | "InvalidJson"
  | "NestingTooDeep"
  | "TodoItemIDAmbiguous"
  | "TodoItemIDInvalid"
  | "TodoItemIDMismatch"
  | "TodoItemIDRequired";

/** What to do, besides correcting the ID, about an item of a file that is refused with `TodoItemIDInvalid`. */
export const invalidIdAdvice = "Without this field, the item gets a new ID.";

export class ItemError extends Error {
  override readonly name = "ItemError";
  readonly code: ItemErrorCode;

  constructor(code: ItemErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
