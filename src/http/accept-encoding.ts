// Reads from the `Accept-Encoding` header whether a client accepts gzip (RFC 9110, section 12.5.3).

/** Clients send few different headers, so the results are remembered. When there are this many, all are forgotten. */
const rememberedMax = 100;
const remembered = new Map<string, boolean>();

/** True if the client accepts gzip, and does not prefer an uncompressed answer. */
export function acceptsGzip(header: string | undefined): boolean {
  if (header === undefined) return false;
  const known = remembered.get(header);
  if (known !== undefined) return known;
  if (remembered.size >= rememberedMax) remembered.clear();
  const members = header.toLowerCase().split(",");
  const quality = qualityOf("gzip", members) ?? qualityOf("*", members) ?? 0;
  const accepts = quality > 0 && quality >= (qualityOf("identity", members) ?? 0);
  remembered.set(header, accepts);
  return accepts;
}

function qualityOf(coding: string, members: readonly string[]): number | undefined {
  for (const member of members) {
    const [name, ...parameters] = member.split(";").map((part) => part.trim());
    if (name !== coding) continue;
    const quality = parameters.find((parameter) => parameter.startsWith("q="));
    return quality === undefined ? 1 : Number(quality.slice(2));
  }
  return undefined;
}
