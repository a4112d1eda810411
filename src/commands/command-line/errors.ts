// The errors of commands. Each has the exit code of the program.

/** A failure that the user can fix, such as a file that cannot be imported. Its `cause` may decide the exit code. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
  readonly exitCode: number = 1;
}

/** A wrong command, flag or argument. */
export class UsageError extends CommandError {
  override readonly name = "UsageError";
  override readonly exitCode = 2;
}
