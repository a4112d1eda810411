// Defines all settings: the flag, default and meaning of each, how its text is parsed, and the rules between settings. The
// settings reader, --help and the manual page use these definitions. A test compares the table in docs/reference.md with
// them.

import { authModes } from "../http/access.ts";
import { logFormats } from "../http/log.ts";
import { listModes, urlForms } from "../http/routes.ts";
import { fieldNameStyles } from "../items/field-names.ts";
import { asTyped } from "../terminal/program-name.ts";
import {
  allowedOrigins,
  byteSize,
  fieldList,
  hostAddress,
  hostNames,
  integer,
  issuerAddress,
  oneOf,
  onOff,
  optionalText,
  orOff,
  portOrOff,
  ratePerSecond,
  storeAddress,
} from "./setting-values.ts";

export interface Definition {
  readonly flag: string;
  /** Stands for the value in the help text. An on/off switch has none. */
  readonly placeholder?: string;
  /** Written as a user would write it. Without a default, the setting is not set. */
  readonly default?: string;
  readonly meaning: string;
  readonly parse: (value: string) => unknown;
}

export const definitions = {
  host: {
    flag: "host",
    placeholder: "ADDRESS",
    default: "localhost",
    meaning: "address to listen on; `localhost` is both `127.0.0.1` and `::1`, `0.0.0.0` is reachable from the network",
    parse: hostAddress,
  },
  port: {
    flag: "port",
    placeholder: "PORT",
    default: "5000",
    meaning: "HTTP port; `0` picks a free one, `off` is none",
    parse: portOrOff,
  },
  httpsPort: {
    flag: "https-port",
    placeholder: "PORT",
    default: "off",
    meaning: "HTTPS port; `5001` is the tutorial's",
    parse: portOrOff,
  },
  tlsCert: {
    flag: "tls-cert",
    placeholder: "FILE",
    meaning: "PEM certificate for HTTPS; without one, a development certificate is made. Read again when it changes",
    parse: optionalText,
  },
  tlsKey: {
    flag: "tls-key",
    placeholder: "FILE",
    meaning: "PEM key of the certificate",
    parse: optionalText,
  },
  store: {
    flag: "store",
    placeholder: "STORE",
    default: "sqlite:todoitems.db",
    meaning:
      "where items are kept: `sqlite:PATH`, `postgres://USER:PASSWORD@HOST/DATABASE`, or `memory:` to keep nothing",
    parse: storeAddress,
  },
  storeBytesMax: {
    flag: "store-limit",
    placeholder: "SIZE",
    default: "1GiB",
    meaning:
      "how many bytes of items a store may hold, up to `1024GiB`, or `off`; a create or update beyond that returns 507",
    parse: orOff(byteSize(1024 ** 4)),
  },
  lists: {
    flag: "lists",
    placeholder: "LISTS",
    default: "one",
    meaning:
      "`one` list, or `many`: `/lists/NAME/` is then the address of another list, or `user`: as `many`, for each user who signs in; this implies `--auth all`",
    parse: oneOf(listModes),
  },
  listMemoryMax: {
    flag: "list-memory",
    placeholder: "SIZE",
    default: "512MiB",
    meaning:
      "with `--lists many` or `user`, about how much memory lists may take, up to `1024GiB`; the one that was used longest ago is dropped first, and read again when it is needed",
    parse: byteSize(1024 ** 4),
  },
  userBytesMax: {
    flag: "user-limit",
    placeholder: "SIZE",
    default: "off",
    meaning:
      "with `--lists user`, how many bytes of items all lists of one user may have, up to `1024GiB`; a create or update beyond that returns 507",
    parse: orOff(byteSize(1024 ** 4)),
  },
  readOnly: {
    flag: "read-only",
    default: "off",
    meaning: "check and answer every write of a client, but store nothing",
    parse: onOff,
  },
  demo: {
    flag: "demo",
    default: "off",
    meaning: "read-only, in memory, with sample items",
    parse: onOff,
  },
  seed: {
    flag: "seed",
    placeholder: "FILE",
    meaning: "file with a JSON array of items for an empty store; with `--demo`, they replace the sample items",
    parse: optionalText,
  },
  forms: {
    flag: "forms",
    placeholder: "FORMS",
    default: "both",
    meaning: "create and update paths to offer: `a` (ID in the path), `b` (ID in the body), `both`",
    parse: oneOf(urlForms),
  },
  fieldNames: {
    flag: "field-names",
    placeholder: "STYLE",
    default: "as-sent",
    meaning: "spelling of top-level names in responses: `as-sent`, `pascal` (`ID`, `Name`), `camel` (`id`, `name`)",
    parse: oneOf(fieldNameStyles),
  },
  requiredFields: {
    flag: "require",
    placeholder: "FIELD[,FIELD]",
    meaning:
      "fields that a create or update must have, not blank, in any letter case; the original service requires `Name,Notes`",
    parse: fieldList,
  },
  auth: {
    flag: "auth",
    placeholder: "WHICH",
    default: "off",
    meaning: "operations that need credentials: `off`, `writes` (create, update, delete), `all`",
    parse: oneOf(authModes),
  },
  users: {
    flag: "users",
    placeholder: "FILE",
    meaning:
      "file of the users who may sign in: lines `name:hash`, with bcrypt or argon2id hashes; read again when it changes",
    parse: optionalText,
  },
  tokenIssuer: {
    flag: "token-issuer",
    placeholder: "URL",
    meaning:
      "identity provider whose tokens (JWT) sign in, exactly as it names itself; `https:`, or `http:` on this machine",
    parse: issuerAddress,
  },
  tokenAudience: {
    flag: "token-audience",
    placeholder: "NAME",
    meaning: "the name that a token must have as its audience (`aud`)",
    parse: optionalText,
  },
  cors: {
    flag: "cors",
    placeholder: "ORIGIN[,ORIGIN]",
    default: "off",
    meaning: "origins whose web pages may use the service, such as `https://app.example`; `*` for all",
    parse: allowedOrigins,
  },
  rateLimitPerSecond: {
    flag: "rate-limit",
    placeholder: "N/s",
    default: "off",
    meaning: "how many requests per second each address may send; more return 429",
    parse: orOff(ratePerSecond),
  },
  trustProxy: {
    flag: "trust-proxy",
    default: "off",
    meaning: "take the sender's address from the last entry of `X-Forwarded-For`",
    parse: onOff,
  },
  allowedHosts: {
    flag: "allow-host",
    placeholder: "NAME[,NAME]",
    meaning:
      "more names that requests may have in `Host`, or `*` for all; IP addresses, `localhost` and this machine's own names are always allowed; not checked with `--auth all` or `--trust-proxy`",
    parse: hostNames,
  },
  bodyBytesMax: {
    flag: "body-limit",
    placeholder: "SIZE",
    default: "1MiB",
    meaning: "largest request body, up to `1GiB`; in bytes, or with `KiB`, `MiB`, `GiB`",
    parse: byteSize(1024 ** 3),
  },
  requestTimeoutSeconds: {
    flag: "request-timeout",
    placeholder: "SECONDS",
    default: "30",
    meaning: "how long a request, head and body, may take to arrive, up to `3600`",
    parse: integer(1, 3600),
  },
  idleTimeoutSeconds: {
    flag: "idle-timeout",
    placeholder: "SECONDS",
    default: "30",
    meaning: "how long an idle connection is kept open, up to `3600`",
    parse: integer(1, 3600),
  },
  shutdownDelaySeconds: {
    flag: "shutdown-delay",
    placeholder: "SECONDS",
    default: "0",
    meaning:
      "how long to go on after SIGTERM or SIGINT while `/health/ready` already returns 503, so that a load balancer can notice",
    parse: integer(0, 3_600),
  },
  shutdownGraceSeconds: {
    flag: "shutdown-grace",
    placeholder: "SECONDS",
    default: "10",
    meaning: "how long requests in progress may take to finish after SIGTERM or SIGINT",
    parse: integer(0, 3_600),
  },
  metricsPort: {
    flag: "metrics-port",
    placeholder: "PORT",
    default: "off",
    meaning:
      "port for `/metrics`, in the text format of Prometheus, at the address of `--host`; it needs no credentials, and shows no items",
    parse: portOrOff,
  },
  log: {
    flag: "log",
    placeholder: "FORMAT",
    default: "text",
    meaning: "log lines on standard error: `text` or `json`",
    parse: oneOf(logFormats),
  },
  logRequests: {
    flag: "log-requests",
    default: "off",
    meaning: "log one line for every request",
    parse: onOff,
  },
} as const satisfies Readonly<Record<string, Definition>>;

/** The value of each setting. A port or a file that is not set is undefined. */
export type Settings = {
  readonly [Name in keyof typeof definitions]: ReturnType<(typeof definitions)[Name]["parse"]>;
};

/** The settings with what follows from others: `--lists user` means `--auth all`, unless `--auth` is given. */
export function implied(settings: Settings, given: ReadonlySet<keyof Settings>): Settings {
  return settings.lists === "user" && !given.has("auth") ? { ...settings, auth: "all" } : settings;
}

/** Says which rules between settings are broken. `given` has the settings that are not left to their defaults. */
export function brokenRules(settings: Settings, given: ReadonlySet<keyof Settings>): string[] {
  const { demo, store, port, httpsPort, metricsPort, tlsCert, tlsKey, auth, users, lists, seed } = settings;
  const problems: string[] = [];
  if (lists === "user" && auth !== "all")
    problems.push(`--lists user needs to know every user: leave out --auth ${auth}, or use --auth all`);
  if (lists === "user" && (demo || seed !== undefined))
    problems.push(
      `--${demo ? "demo" : "seed"} has items of nobody, and --lists user lists of users only: leave one out`,
    );
  if (demo && store.engine !== "memory" && given.has("store"))
    problems.push("--demo keeps its items in memory and takes no --store: leave one out, or use --read-only instead");
  if (port === undefined && httpsPort === undefined)
    problems.push("--port off needs --https-port: there is nothing left to listen on");
  const ports = [port, httpsPort, metricsPort].filter((one) => one !== undefined && one !== 0);
  if (new Set(ports).size < ports.length)
    problems.push("--port, --https-port and --metrics-port need a port of their own each");
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    problems.push("--tls-cert and --tls-key go together: give both, or neither for a development certificate");
  if (tlsCert !== undefined && httpsPort === undefined)
    problems.push("--tls-cert needs --https-port, such as --https-port 5001");
  const hasIssuer = given.has("tokenIssuer");
  if (hasIssuer !== given.has("tokenAudience"))
    problems.push("--token-issuer and --token-audience go together: give both");
  if (hasIssuer && auth === "off") problems.push("--token-issuer needs --auth writes or --auth all, or --lists user");
  if (auth !== "off" && users === undefined && !hasIssuer)
    problems.push(
      `${lists === "user" ? "--lists user" : "--auth"} needs --users FILE, or --token-issuer and --token-audience. Make the file with: ${asTyped("user add NAME --users FILE")}`,
    );
  return problems;
}

/** Warns about settings that have no effect without another setting. */
export function idleSettings({ auth, users, lists, userBytesMax }: Settings): string[] {
  const warnings: string[] = [];
  if (auth === "off" && users !== undefined)
    warnings.push("--users without --auth protects nothing: add --auth writes or --auth all");
  if (lists !== "user" && userBytesMax !== undefined) warnings.push("--user-limit without --lists user limits nothing");
  return warnings;
}
