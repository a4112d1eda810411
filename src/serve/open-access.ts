// Who may use an instance: the users of the users file, and those with tokens of the identity provider.

import { ProviderKeys } from "../credentials/provider-keys.ts";
import { TokenVerifier } from "../credentials/token-verifier.ts";
import { readSomeUsers, readUsers } from "../credentials/users-file.ts";
import { Access } from "../http/access.ts";
import { BasicAuth } from "../http/basic-auth.ts";
import { BearerAuth } from "../http/bearer-auth.ts";
import { RateLimiter } from "../http/rate-limiter.ts";
import { readOnChange } from "./file-watch.ts";
import type { InstanceContext } from "./instance-context.ts";

export function openAccess(context: InstanceContext): Access {
  const { auth: mode, users, rateLimitPerSecond, trustProxy } = context.settings;
  const auth = mode === "off" || users === undefined ? undefined : openUsers(users, context);
  const rate =
    rateLimitPerSecond === undefined
      ? undefined
      : new RateLimiter({ burst: rateLimitPerSecond, perSecond: rateLimitPerSecond });
  return new Access({ mode, auth, tokens: openTokens(context), rate, trustProxy });
}

function openTokens({ settings, metrics, log }: InstanceContext): BearerAuth | undefined {
  const { tokenIssuer: issuer, tokenAudience: audience } = settings;
  if (issuer === undefined || audience === undefined) return undefined;
  const keys = new ProviderKeys(issuer, {
    onTrouble: (message) => log("error", `The keys of the identity provider cannot be fetched: ${message}`),
    onWithdrawn: () => tokens.forgetAll(),
  });
  // Clients are not told why, so the log says it, once for each reason.
  const logged = new Set<string>();
  const tokens: BearerAuth = new BearerAuth(new TokenVerifier({ issuer, audience }, keys), {
    onFailure({ part, message }) {
      metrics.authenticationFailures++;
      if (!logged.has(part)) log("warn", `A token was refused: ${message}`);
      logged.add(part);
    },
  });
  return tokens;
}

function openUsers(path: string, { metrics, log }: InstanceContext): BasicAuth {
  const auth = new BasicAuth(readSomeUsers(path), { onFailure: () => metrics.authenticationFailures++ });
  readOnChange("users file", [path], () => auth.replaceUsers(readUsers(path)), log);
  return auth;
}
