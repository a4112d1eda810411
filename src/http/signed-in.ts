// Who has signed in, and until when. Remembered heads and open feeds hold this object, so a sign-in that ends is over for
// all of them at once.

export interface SignedIn {
  /**
   * Whose lists this user sees: a name of the users file, byte for byte, or the issuer and the subject of a token. The
   * two are never equal, because an issuer contains a colon and a name does not.
   */
  readonly owner: string;
  /** In milliseconds since 1970. It becomes 0 if the user is removed or gets another password. */
  endsAtMs: number;
}

export function hasEnded({ endsAtMs }: SignedIn): boolean {
  return endsAtMs <= Date.now();
}
