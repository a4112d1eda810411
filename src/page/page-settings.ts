// The settings of the service that the page must know, and the addresses that the page uses. The service writes the
// settings into the page's head.

import type { FieldNames } from "../items/field-names.ts";

export interface PageSettings {
  readonly readOnly: boolean;
  readonly fieldNames: FieldNames;
  /** Where creates and updates contain the ID of the item: `a` in the path and the body, `b` only in the body. */
  readonly form: "a" | "b";
  /** Which operations need credentials. */
  readonly auth: "off" | "writes" | "all";
  /** True if the service takes tokens only, which the page cannot get. */
  readonly tokensOnly: boolean;
  /** True if the service uses a development certificate. Its authority's certificate can then be downloaded. */
  readonly hasAuthority: boolean;
  /** The ports on which the service itself listens. A proxy in front of the service may use other ports. */
  readonly httpPort: number | undefined;
  readonly httpsPort: number | undefined;
  /** True if the service has more lists than the one at its own address. */
  readonly hasLists: boolean;
  /**
   * The service's own address, with a slash at the end. In the page's head it is relative: empty, or some `../` if this
   * is the page of a named list.
   */
  readonly root: string;
}

/** The name of the meta element that contains the settings. */
export const settingsMetaName = "settings";

// This address is relative to the list's address, because a proxy may serve the page under any path.
export const listPath = "api/todoitems/";

// These are relative to the service's own address.
export const listsPath = "lists";
export const apiDescriptionPath = "openapi.yaml";
export const manifestPath = "manifest.webmanifest";
export const workerPath = "service-worker.js";
export const referencePath = "docs";
export const authorityPath = "certificate-authority.crt";

/** The header of our pages. By it, the service worker knows them from those of somebody else at the same address. */
export const pageHeader = "Todoitems-Page";
