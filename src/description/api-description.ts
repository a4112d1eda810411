// The description of one instance's API in OpenAPI 3.1. openapi.yaml describes everything that instances offer; here,
// what this instance does not offer is left out, and the address and the spelling of field names become its own.
// Why: docs/decisions/0069-one-description.md

import source from "../../openapi.yaml";
import type { AuthMode } from "../http/access.ts";
import type { ListMode, UrlForms } from "../http/routes.ts";
import type { FieldNames } from "../items/field-names.ts";

/** The settings of an instance that its description depends on. */
export interface DescribedInstance {
  readonly forms: UrlForms;
  readonly auth: AuthMode;
  /** The users file, and the provider of tokens, if there are any. */
  readonly users?: string | undefined;
  readonly tokenIssuer?: string | undefined;
  readonly fieldNames: FieldNames;
  readonly lists: ListMode;
}

/** Any part of a description that needs no type of its own. */
export type Part = { readonly [name: string]: unknown };

export interface Operation extends Part {
  readonly operationId: string;
  readonly security?: readonly Part[];
  readonly responses: { readonly [status: string]: Part };
  readonly "x-codeSamples": readonly { readonly lang: string; readonly label: string; readonly source: string }[];
}

export type PathItem = { readonly [method: string]: Operation };

export interface ApiDescription extends Part {
  readonly openapi: string;
  readonly paths: { readonly [path: string]: PathItem };
  readonly components: { readonly [kind: string]: { readonly [name: string]: Part } };
}

/** openapi.yaml: what all instances offer together. Credentials are optional in it. */
export const completeDescription: ApiDescription = source;

/** The address of the service in openapi.yaml. */
const sourceServer = "http://localhost:5000";

/** What an instance with only the other form does not offer. */
const operationsOfForm = { a: ["createItemAt", "updateItemAt"], b: ["createItem", "updateItem"] };

/**
 * `serverUrl` is the address under which the reader of the description reaches the instance, without a final slash.
 * It may also be `/`, a relative address that is right for every reader. Code samples then keep the address of
 * openapi.yaml, because a relative address would be of no use in a program.
 */
export function describeApi(instance: DescribedInstance, serverUrl: string): ApiDescription {
  const { forms, fieldNames, lists } = instance;
  const missing = [
    ...(forms === "both" ? [] : operationsOfForm[forms === "a" ? "b" : "a"]),
    ...(lists === "one" ? ["/lists"] : []),
  ];
  const text = JSON.stringify({ ...completeDescription, security: undefined });
  // `JSON.parse` shows each member to this function, the inner ones first. Undefined leaves the member out.
  const description = JSON.parse(text, (name, value) => {
    if (name === "servers") return serversOf(value, serverUrl, lists);
    // A link has the name of its operation.
    if (missing.includes(name) || missing.includes(value?.operationId)) return undefined;
    const member = value?.operationId && value.responses ? withSecurity(value, name, instance) : value;
    if (name === "source") return sampleOf(member, fieldNames, serverUrl);
    return fieldNames === "camel" ? inCamelCase(member) : member;
  });
  return withUsedComponents(description);
}

interface Server {
  readonly url: string;
  readonly variables?: Part;
}

function serversOf(servers: readonly Server[], serverUrl: string, lists: ListMode): Server[] {
  const offered = servers.filter(({ variables }) => lists !== "one" || variables === undefined);
  const prefix = serverUrl === "/" ? "" : serverUrl;
  return offered.map((server) => ({ ...server, url: server.url.replace(sourceServer, prefix) || "/" }));
}

function withSecurity(operation: Operation, method: string, instance: DescribedInstance): Operation {
  const { auth, users, tokenIssuer } = instance;
  const isOpen = operation.security?.length === 0;
  const needsCredentials = !isOpen && (auth === "all" || (auth === "writes" && method !== "get"));
  if (!needsCredentials) {
    const { 401: _refused, ...responses } = operation.responses;
    return { ...operation, security: [], responses };
  }
  const takesPasswords = users !== undefined || tokenIssuer === undefined;
  const security = [...(takesPasswords ? [{ basic: [] }] : []), ...(tokenIssuer === undefined ? [] : [{ bearer: [] }])];
  const signIn = takesPasswords ? withPassword : withToken;
  const samples = operation["x-codeSamples"].map((sample) => ({ ...sample, source: signedIn(sample.source, signIn) }));
  return { ...operation, security, "x-codeSamples": samples };
}

function sampleOf(source: string, fieldNames: FieldNames, serverUrl: string): string {
  const spelled = fieldNames === "camel" ? source.replace(fieldInCode, (name) => name.toLowerCase()) : source;
  return serverUrl === "/" ? spelled : spelled.replaceAll(sourceServer, serverUrl);
}

/** How code signs in: with curl, in a request of its own, and with the client. */
interface SignIn {
  readonly curl: string;
  readonly authorization: string;
  readonly option: string;
}

const withPassword: SignIn = {
  curl: "curl -u NAME",
  authorization: 'Authorization: "Basic " + btoa("NAME:PASSWORD")',
  option: 'credentials: { username: "NAME", password: "PASSWORD" }',
};
const withToken: SignIn = {
  curl: 'curl -H "Authorization: Bearer TOKEN"',
  authorization: 'Authorization: "Bearer TOKEN"',
  option: 'token: () => "TOKEN"',
};

/** A sample of openapi.yaml that also signs in. */
function signedIn(source: string, { curl, authorization, option }: SignIn): string {
  return source
    .replaceAll(/^curl/gm, curl)
    .replaceAll(/(fetch\("[^"]*")\)/g, `$1, { headers: { ${authorization} } })`)
    .replaceAll('"Content-Type": "application/json"', `$&, ${authorization}`)
    .replaceAll('method: "DELETE"', `$&, headers: { ${authorization} }`)
    .replaceAll(/(new TodoClient\("[^"]*")\)/g, `$1, { ${option} })`)
    .replaceAll('form: "a"', `$&, ${option}`);
}

/** A field's name in a text: the whole text, a name in quotes, or the end of a JSON pointer. */
const fieldInText = /(?<=^|["/])(?:ID|Name|Notes|Done)(?=$|")/g;
const fieldInCode = /\b(?:ID|Name|Notes|Done)\b/g;

/** Spells the names of fields in a text, or those of an object's members. */
function inCamelCase(value: unknown): unknown {
  const spell = (text: string) => text.replace(fieldInText, (name) => name.toLowerCase());
  if (typeof value === "string") return spell(value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [spell(name), member]));
}

/** Leaves out the components that nothing refers to. */
function withUsedComponents({ components, ...rest }: ApiDescription): ApiDescription {
  const used = new Set<string>();
  const visit = (value: unknown): void => {
    for (const [, kind = "", name = ""] of JSON.stringify(value).matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)) {
      if (used.has(`${kind}/${name}`)) continue;
      used.add(`${kind}/${name}`);
      visit(components[kind]?.[name]);
    }
  };
  visit(rest);
  for (const scheme of ["basic", "bearer"])
    if (JSON.stringify(rest.paths).includes(`{"${scheme}":[]}`)) used.add(`securitySchemes/${scheme}`);
  const kinds = Object.entries(components).map(([kind, parts]): [string, typeof parts] => [
    kind,
    Object.fromEntries(Object.entries(parts).filter(([name]) => used.has(`${kind}/${name}`))),
  ]);
  return {
    ...rest,
    components: Object.fromEntries(kinds.filter(([, parts]) => Object.keys(parts).length > 0)),
  } as ApiDescription;
}
