// Headers shared by many answers.

/** Keeps browsers from guessing the media type: an item that looks like HTML is still JSON. */
export const nosniff = { "X-Content-Type-Options": "nosniff" };

/** The charset is not in quotes, because a client that is in use cannot handle a quoted charset. */
export const jsonHeaders = { "Content-Type": "application/json; charset=utf-8", ...nosniff };

/** Leads programs to the API's description, and people to its reference (RFC 8631). */
export const serviceLinks = { Link: '</openapi.json>; rel="service-desc", </docs>; rel="service-doc"' };
