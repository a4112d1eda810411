// Verifies the tokens of an identity provider: JWTs with a signature that only the provider can make.
// Why: docs/decisions/0087-lists-of-ones-own.md

import { decodeJwt, errors, type JWTPayload, jwtVerify } from "jose";
import type { ProviderKeys } from "./provider-keys.ts";

/** Where the keys come from. */
export type KeySource = Pick<ProviderKeys, "find" | "renew">;

/** Signatures with a shared secret are not among them, so nobody can use a public key as the secret. */
const algorithms = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];
/** How far the clocks of provider and service may differ. */
const toleranceSeconds = 60;

export interface TokenSettings {
  readonly issuer: string;
  readonly audience: string;
}

export interface VerifiedToken {
  /** Printable ASCII, so that no two of them look like one. */
  readonly subject: string;
  /** In milliseconds since 1970, with the tolerance. */
  readonly endsAtMs: number;
}

/** A token is not valid. The message says why. It is for the operator; clients never see it. */
export class RefusedTokenError extends Error {
  override readonly name = "RefusedTokenError";
  /** What is wrong with it: a claim, the signature, or its form. */
  readonly part: string;

  constructor(part: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.part = part;
  }
}

export class TokenVerifier {
  readonly issuer: string;
  readonly #audience: string;
  readonly #keys: KeySource;

  constructor({ issuer, audience }: TokenSettings, keys: KeySource) {
    this.issuer = issuer;
    this.#audience = audience;
    this.#keys = keys;
  }

  /**
   * Rejects with a `RefusedTokenError` if the token is not valid, and with a `KeysUnavailableError` if there are no keys.
   */
  async verify(token: string): Promise<VerifiedToken> {
    try {
      // These cost little, so they come first. None of them can be believed before the signature is verified.
      const verified = this.#read(decodeJwt(token));
      await this.#verifySignature(token);
      return verified;
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
      throw new RefusedTokenError(error.code, error.message, { cause: error });
    }
  }

  /** If no key fits, the provider may have new ones. A token need not name its key, so a wrong one may have been tried. */
  async #verifySignature(token: string): Promise<void> {
    const options = {
      algorithms,
      issuer: this.issuer,
      audience: this.#audience,
      clockTolerance: toleranceSeconds,
      requiredClaims: ["exp", "sub"],
    };
    const verify = () => jwtVerify(token, this.#keys.find, options);
    try {
      await verify();
    } catch (error) {
      const isOtherKey =
        error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed;
      if (!isOtherKey || !(await this.#keys.renew())) throw error;
      await verify();
    }
  }

  /** What the claims say. Throws if they are not those of a token for this service. */
  #read({ iss, aud, exp, nbf = 0, sub }: JWTPayload): VerifiedToken {
    const nowSeconds = Date.now() / 1_000;
    if (iss !== this.issuer) throw refusal("iss", `its issuer (iss) is ${quoted(iss)}, not exactly ${this.issuer}`);
    if (![aud].flat().includes(this.#audience))
      throw refusal("aud", `its audience (aud) is ${quoted(aud)}, not ${quoted(this.#audience)}`);
    if (typeof exp !== "number") throw refusal("exp", "it does not say when it expires (exp)");
    if (exp + toleranceSeconds <= nowSeconds) throw refusal("exp", "it has expired (exp)");
    if (typeof nbf !== "number" || nbf - toleranceSeconds > nowSeconds)
      throw refusal("nbf", "it is not valid yet (nbf)");
    if (typeof sub !== "string" || !/^[\x20-\x7e]{1,255}$/.test(sub))
      throw refusal("sub", "its subject (sub) is not a text of 1 to 255 printable ASCII characters");
    return { subject: sub, endsAtMs: (exp + toleranceSeconds) * 1_000 };
  }
}

function refusal(part: string, message: string): RefusedTokenError {
  return new RefusedTokenError(part, message);
}

/** A claim, which may be anything, and long. */
function quoted(claim: unknown): string {
  const text = JSON.stringify(claim) ?? "missing";
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
