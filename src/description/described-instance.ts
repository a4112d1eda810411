// The facts about one instance that its description depends on.

import type { AuthMode } from "../http/access.ts";
import type { UrlForms } from "../http/routes.ts";
import type { FieldNames } from "../items/field-names.ts";

export interface DescribedInstance {
  /** The version of the package. */
  readonly version: string;
  readonly forms: UrlForms;
  readonly fieldNames: FieldNames;
  /** Fields that every created or updated item must have. They must not be blank. */
  readonly requiredFields: readonly string[];
  readonly auth: AuthMode;
  readonly readOnly: boolean;
  /** True if HTTPS uses a development certificate. Its authority's certificate can then be downloaded. */
  readonly hasAuthority: boolean;
  /** True if a request with an unknown name in `Host` is refused. */
  readonly checksHosts: boolean;
  /** How many requests each address may send in a second. Undefined if there is no limit. */
  readonly rateLimitPerSecond: number | undefined;
  readonly bodyBytesMax: number;
  readonly headerBytesMax: number;
  /** The largest size of the store. Undefined if there is no limit. */
  readonly storeBytesMax: number | undefined;
}
