// Checks bearer tokens (RFC 6750). A verified token is remembered until it expires. Only a keyed hash of it is stored.

import { randomBytes } from "node:crypto";
import { KeysUnavailableError, providerPauseMs } from "../credentials/provider-keys.ts";
import { RefusedTokenError, type TokenVerifier, type VerifiedToken } from "../credentials/token-verifier.ts";
import { Problem } from "./problem.ts";
import { hasEnded, type SignedIn } from "./signed-in.ts";

/** At most this many tokens are remembered, about 15 MB. The one that was verified first is forgotten first. */
const rememberedMax = 50_000;

interface BearerAuthOptions {
  /** Called for each token that is refused, with the reason. Clients never see it. */
  readonly onFailure: (reason: RefusedTokenError) => void;
  readonly rememberedMax: number;
}

export class BearerAuth {
  readonly #secret = randomBytes(32);
  readonly #verifier: TokenVerifier;
  readonly #options: BearerAuthOptions;
  /** Who has signed in, by the keyed hash of the token. */
  #remembered = new Map<string, SignedIn>();

  constructor(verifier: TokenVerifier, options: Partial<BearerAuthOptions> = {}) {
    this.#verifier = verifier;
    this.#options = { onFailure() {}, rememberedMax, ...options };
  }

  /** Ends every sign-in, so that each token has to be verified again. */
  forgetAll(): void {
    for (const signedIn of this.#remembered.values()) signedIn.endsAtMs = 0;
    this.#remembered = new Map();
  }

  /**
   * Who has signed in with this header. Undefined if it has no valid token. Returns a promise only if the token must be
   * verified.
   */
  check(authorization: string): SignedIn | undefined | Promise<SignedIn | undefined> {
    const token = /^bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i.exec(authorization)?.[1];
    if (token === undefined) return this.#refuse(new RefusedTokenError("form", "it is not a signed JWT"));
    const key = new Bun.CryptoHasher("sha256", this.#secret).update(token).digest("base64");
    const known = this.#remembered.get(key);
    if (known && !hasEnded(known)) return known;
    this.#remembered.delete(key);
    return this.#verify(token, key);
  }

  async #verify(token: string, key: string): Promise<SignedIn | undefined> {
    const remembered = this.#remembered;
    let verified: VerifiedToken;
    try {
      verified = await this.#verifier.verify(token);
    } catch (error) {
      if (error instanceof RefusedTokenError) return this.#refuse(error);
      throw error instanceof KeysUnavailableError ? unavailable() : error;
    }
    // The key may have been withdrawn in the meantime.
    if (remembered !== this.#remembered) return this.#verify(token, key);
    // The same token may have been verified in the meantime. There must be one object for both.
    const signedIn = remembered.get(key) ?? {
      owner: `${this.#verifier.issuer} ${verified.subject}`,
      endsAtMs: verified.endsAtMs,
    };
    remembered.set(key, signedIn);
    const [first = ""] = remembered.keys();
    if (remembered.size > this.#options.rememberedMax) remembered.delete(first);
    return signedIn;
  }

  #refuse(reason: RefusedTokenError): undefined {
    this.#options.onFailure(reason);
  }
}

function unavailable(): Problem {
  return new Problem(
    "TokensUnavailable",
    "The identity provider cannot be reached, so no token can be verified. The service's log says why. Send the request again later.",
    { retryAfterSeconds: providerPauseMs / 1_000 },
  );
}
