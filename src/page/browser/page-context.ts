// What the parts of the page share: whose list it is, what is in it, what can be done, and what is open.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { OfflineSnapshot } from "../../client/offline.ts";
import type { ItemActions } from "../item-actions.ts";
import type { FormEdits } from "../item-form.ts";
import type { Session } from "./session.ts";

/** A dialog. */
export type Opened =
  | { readonly kind: "connect" | "lists" | "sign-in" }
  | OpenedEditor
  | { readonly kind: "conflict"; readonly id: string };

export interface OpenedEditor {
  readonly kind: "editor";
  readonly id: string;
  /** The item's text when the user opened the editor. */
  readonly json: string;
  /** What the user had typed when the editor was closed before. */
  readonly draft: FormEdits;
}

interface PageContext {
  readonly session: Session;
  readonly snapshot: OfflineSnapshot<string>;
  readonly readOnly: boolean;
  /** True if the page can show nothing but a form to sign in. */
  readonly isSignedOut: boolean;
  readonly actions: ItemActions;
  /** Opens a dialog in place of the one that is open. Without an argument, closes that one. */
  readonly open: (opened?: Opened) => void;
  /** Opens the editor of an item. */
  readonly edit: (id: string, draft?: FormEdits) => void;
}

export const PageContext = createContext<PageContext | undefined>(undefined);

export function usePage(): PageContext {
  const page = useContext(PageContext);
  if (!page) throw new Error("this is not a part of the page");
  return page;
}
