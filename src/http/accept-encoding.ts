// Reads from the `Accept-Encoding` header which compression a client accepts (RFC 9110, section 12.5.3).

/** Clients send few different headers, so the results are remembered. When there are this many, all are forgotten. */
const rememberedMax = 100;
const remembered = new Map<string, ReadonlyMap<string, number>>();
/**
 * The names that are remembered from a header. Other names are ignored, because a header can list thousands of them.
 */
const knownNames = new Set(["gzip", "br", "identity", "*"]);

/** True if the client accepts this coding, and does not prefer an uncompressed answer. */
export function accepts(header: string | undefined, coding: "gzip" | "br"): boolean {
  if (header === undefined) return false;
  const qualities = remembered.get(header) ?? remember(header);
  const quality = qualities.get(coding) ?? qualities.get("*") ?? 0;
  return quality > 0 && quality >= (qualities.get("identity") ?? 0);
}

function remember(header: string): ReadonlyMap<string, number> {
  const qualities = new Map<string, number>();
  for (const member of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = member.split(";").map((part) => part.trim());
    if (!knownNames.has(name)) continue;
    const quality = parameters.find((parameter) => parameter.startsWith("q="));
    qualities.set(name, quality === undefined ? 1 : Number(quality.slice(2)));
  }
  if (remembered.size >= rememberedMax) remembered.clear();
  remembered.set(header, qualities);
  return qualities;
}
