// Says in plain words why the system refused an operation, such as reading a file or starting a program.

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EDQUOT: "this user's share of the disk is full",
  EFBIG: "the file would be larger than this system allows",
  EIO: "the disk reported an error",
  EISDIR: "it is a folder, not a file",
  ELOOP: "its symbolic links form a circle",
  EMFILE: "too many files are open",
  ENAMETOOLONG: "its name is too long",
  ENOENT: "there is no such file or folder",
  ENOEXEC: "this system cannot run it",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of its path is not a folder",
  EPIPE: "the program that reads the output has closed it",
  EPERM: "permission denied",
  EROFS: "the disk is read-only",
};

export function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "syscall" in error && "code" in error && typeof error.code === "string";
}

/** The reason for an error of the system, in plain words. If `reasons` has none, the error's own message. */
export function systemReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return (isSystemError(error) && reasons[error.code]) || error.message;
}
