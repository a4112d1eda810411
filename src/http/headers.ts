// Headers that answers have in common.

/** Browsers must not guess a type of their own: an item that looks like HTML is still JSON. */
export const nosniff = { "X-Content-Type-Options": "nosniff" };

/** The charset is unquoted: a quoted one breaks a real client. */
export const jsonHeaders = { "Content-Type": "application/json; charset=utf-8", ...nosniff };
