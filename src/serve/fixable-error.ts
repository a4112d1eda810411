/** Something that the operator can fix. `message` says what is wrong, such as with a certificate, a seed or a port. */
export class FixableError extends Error {
  override readonly name = "FixableError";
}
