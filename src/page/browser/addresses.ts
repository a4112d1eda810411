// The addresses of a list. The page of a named list is served with or without a slash at the end of its address. The
// list's address has one.

import { listPath, listsPath } from "../page-settings.ts";

export interface ListAddress {
  readonly list: URL;
  readonly items: URL;
  /** Empty for the list at the service's own address. */
  readonly name: string;
}

/** The list whose page has this address. `root` is the service's own address. */
export function listAt(href: string, root: string): ListAddress {
  const { origin, pathname } = new URL(href);
  const list = new URL(pathname.endsWith("/") ? pathname : `${pathname}/`, origin);
  const name = list.href === root ? "" : decodeURIComponent(list.pathname.split("/").at(-2) ?? "");
  return { list, items: new URL(listPath, list), name };
}

/** The address of the page of a list. */
export function pageOf(name: string, root: string): string {
  return name === "" ? root : `${root}${listsPath}/${encodeURIComponent(name)}/`;
}

/** What people call a list. */
export function listTitle(name: string): string {
  return name === "" ? "todoitems" : name;
}
