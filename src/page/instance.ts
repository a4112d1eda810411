// What the service tells its page about itself, in the page's head.

import type { FieldNames } from "../items/field-names.ts";

export interface Instance {
  readonly readOnly: boolean;
  readonly fieldNames: FieldNames;
  /** Which form of the create and update paths the page uses. */
  readonly form: "a" | "b";
  /** Which operations need credentials. */
  readonly auth: "off" | "writes" | "all";
  /** Whether there is a development authority to trust, for download. */
  readonly hasAuthority: boolean;
}

/** The name of the meta element that carries it. */
export const instanceMetaName = "instance";

// Addresses are relative to the page, because a proxy may serve it under a path.
export const listPath = "api/todoitems/";
export const feedPath = "changes";
export const apiDescriptionPath = "openapi.yaml";
export const authorityPath = "certificate-authority.crt";
