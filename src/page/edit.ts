// One edit of the user, in the outbox and in the browser's database, and what can contradict it.

export type Edit =
  | { readonly kind: "create"; readonly id: string; readonly json: string }
  | {
      readonly kind: "update";
      readonly id: string;
      readonly json: string;
      readonly etag: string | undefined;
      /** The item as it was before the edit, when it had this ETag. Edits of older versions of the page lack it. */
      readonly base?: string;
    }
  | { readonly kind: "delete"; readonly id: string; readonly etag: string | undefined };

/** The service's version of an item that the user has edited too. */
export interface Theirs {
  readonly json: string;
  readonly etag: string | undefined;
}

/** What each decision of the user would store. Without a conflict, both have the changes of both people. */
export interface Versions {
  readonly mine: string;
  readonly theirs: string;
}

export interface Conflict {
  /** The service's version of the item; undefined if somebody else deleted the item. */
  readonly theirs: (Theirs & { readonly versions: Versions }) | undefined;
  /** True if the user's edit is a deletion. */
  readonly deletes: boolean;
}

/** An edit as the browser keeps it until the next visit. */
export interface KeptEdit {
  readonly edit: Edit;
  /** The store that the user saw when making the edit. Undefined if the page was not connected to it yet. */
  readonly epoch: string | undefined;
  /** The edit is not sent before this time, in milliseconds since 1970. So a deletion can be undone in place. */
  readonly notBefore: number;
  /** True if the service may have stored the edit. Edits of older versions of the page lack it. */
  readonly maybeStored?: boolean;
}
