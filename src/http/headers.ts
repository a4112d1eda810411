// Headers shared by many answers.

/** Keeps browsers from guessing the media type. Otherwise they could treat an item that looks like HTML as a page. */
export const nosniff = { "X-Content-Type-Options": "nosniff" };

/** The charset is not in quotes, because at least one client in use cannot handle a quoted charset. */
export const jsonHeaders = { "Content-Type": "application/json; charset=utf-8", ...nosniff };

/** Leads programs to the API's description, and people to its reference (RFC 8631). */
export const serviceLinks = { Link: '</openapi.json>; rel="service-desc", </docs>; rel="service-doc"' };
