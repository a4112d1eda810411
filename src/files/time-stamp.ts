/** A time for the name of a file, such as `20261115T204400Z`. Windows does not allow colons in file names. */
export function timeStamp(now: Date): string {
  return `${now.toISOString().slice(0, 19).replaceAll("-", "").replaceAll(":", "")}Z`;
}
