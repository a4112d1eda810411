// Types for the edits that the user makes, and for conflicts between such an edit and somebody else's change.

export type Edit =
  | { readonly kind: "create"; readonly id: string; readonly json: string }
  | {
      readonly kind: "update";
      readonly id: string;
      readonly json: string;
      readonly etag: string | undefined;
      /**
       * The text of the item that the user's edit starts from. Edits that an older version of the page saved lack this
       * field.
       */
      readonly base?: string;
    }
  | {
      readonly kind: "delete";
      readonly id: string;
      readonly etag: string | undefined;
      /**
       * The item's name and its text when the user deleted it. Edits that an older version of the page saved lack these
       * fields.
       */
      readonly name?: string;
      readonly base?: string;
    };

/** The service's version of an item that the user has edited too. */
export interface Theirs {
  readonly json: string;
  readonly etag: string | undefined;
}

/**
 * The texts that are stored if the user chooses their own version (`mine`) or the other person's version (`theirs`).
 * Each text may include the other side's changes to fields that only the other side has changed. If the user's edit is
 * a deletion, `mine` is the text that the user deleted, or empty if that is not known.
 */
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

/** An edit as the browser's database keeps it. */
export interface KeptEdit {
  readonly edit: Edit;
  /** Identifies the store that the edit is for. Undefined if that store is not known yet. */
  readonly epoch: string | undefined;
  /** True if the service may have stored the edit. Edits that an older version of the page saved lack this field. */
  readonly maybeStored?: boolean;
  /** The user who made the edit, if that user has signed out since. */
  readonly owner?: string | undefined;
}
