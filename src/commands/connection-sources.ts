// The places that say which server a command talks to, and as whom: flags, environment variables and a profile. This
// file decides which of them comes first, and to which server a profile's credentials may be sent.

import { type Environment, variableOf } from "../terminal/environment.ts";
import { type Arguments, UsageError } from "./command.ts";
import { readProfile } from "./profile.ts";
import { parseServer } from "./server-address.ts";

const defaultServer = "http://127.0.0.1:5000/";

type Setting = "server" | "username" | "password" | "password-file" | "form" | "ca";

interface Source {
  /** How error messages name the server setting of this source, for example `--server`. */
  readonly serverName: string;
  readonly read: (setting: Setting) => string | undefined;
}

export interface ConnectionSettings {
  readonly server: URL;
  readonly form: string | undefined;
  readonly ca: string | undefined;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** The path of a file that contains the password. If it is given, `password` is ignored. */
  readonly passwordFile: string | undefined;
}

/**
 * A profile that the user names on the command line comes before the environment. A profile that is used without being
 * named there, such as `default`, comes after it.
 */
export function readConnection(args: Arguments, environment: Environment): ConnectionSettings {
  const named = args.text("profile");
  const profileName = named ?? (environment[variableOf("profile")] || undefined);
  const profileValues = new Map(Object.entries(readProfile(profileName, environment)));
  const flags: Source = { serverName: "--server", read: (setting) => args.text(setting) };
  const variables: Source = {
    serverName: variableOf("server"),
    read: (setting) => environment[variableOf(setting)] || undefined,
  };
  const profile: Source = {
    serverName: `The server of the profile ${profileName ?? "default"},`,
    read: (setting) => profileValues.get(setting),
  };
  const sources = named === undefined ? [flags, variables, profile] : [flags, profile, variables];
  const server = serverOf(sources);
  // A password must not reach a server by accident. So a profile's credentials are for the profile's own server. They
  // are sent to another server only if the command line names both the profile and that server.
  const isForProfile = serverOf([profile]).origin === server.origin;
  const isAsked = named !== undefined && flags.read("server") !== undefined;
  const mayUseProfile = isForProfile || isAsked;
  if (!mayUseProfile && named !== undefined && (profileValues.has("username") || profileValues.has("password")))
    throw new UsageError(
      `The profile ${named} names no server, so its credentials are not sent to ${server}, which ${variables.serverName} names. Add the server to the profile, or give it with --server ${server}`,
    );
  const vouching = mayUseProfile ? sources : sources.filter((source) => source !== profile);
  const username = first(vouching, "username");
  // A source that names another user has the password of that user. With it, the server would refuse this user.
  const secret = vouching
    .filter(({ read }) => [undefined, username].includes(read("username")))
    .find(({ read }) => (read("password-file") ?? read("password")) !== undefined);
  return {
    server,
    form: first(sources, "form"),
    ca: first(sources, "ca"),
    username,
    password: secret?.read("password"),
    passwordFile: secret?.read("password-file"),
  };
}

function first(sources: readonly Source[], setting: Setting): string | undefined {
  return sources.map(({ read }) => read(setting)).find((value) => value !== undefined);
}

function serverOf(sources: readonly Source[]): URL {
  const source = sources.find(({ read }) => read("server") !== undefined);
  return parseServer(source?.read("server") ?? defaultServer, source?.serverName);
}
