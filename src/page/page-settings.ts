// What the page must know about its instance of the service. The service writes it into the page's head.

import type { FieldNames } from "../items/field-names.ts";

export interface PageSettings {
  readonly readOnly: boolean;
  readonly fieldNames: FieldNames;
  /** The form of the create and update paths that the page uses. */
  readonly form: "a" | "b";
  /** Which operations need credentials. */
  readonly auth: "off" | "writes" | "all";
  /** True if the certificate of a development authority can be downloaded. */
  readonly hasAuthority: boolean;
}

/** The name of the meta element that contains the settings. */
export const settingsMetaName = "settings";

// Addresses are relative to the page, because a proxy may serve it under a path.
export const listPath = "api/todoitems/";
export const feedPath = "changes";
export const apiDescriptionPath = "openapi.yaml";
export const authorityPath = "certificate-authority.crt";
