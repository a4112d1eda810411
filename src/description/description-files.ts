// The description as files: OpenAPI 3.1 as JSON and YAML, and OpenAPI 3.0 as JSON. They contain the address at which
// the reader reached the service. So there is one set of files for each address. Each set is made when it is first
// asked for.

import type { SiteFile } from "../http/site.ts";
import type { HttpRequest } from "../wire/message.ts";
import { type DescribedInstance, describeApi } from "./api-description.ts";
import { asOpenApi30 } from "./openapi-30.ts";
import { writeYaml } from "./yaml.ts";

/**
 * Files are made for at most this many addresses. Readers who use yet another address get a description with a relative
 * address. Otherwise a client could make the service write a new description for every request.
 */
const addressesMax = 16;
const encoder = new TextEncoder();

export class DescriptionFiles {
  readonly #instance: DescribedInstance;
  readonly #files = new Map<string, ReadonlyMap<string, SiteFile>>();

  constructor(instance: DescribedInstance) {
    this.#instance = instance;
  }

  find({ path, isSecure, headers }: HttpRequest): SiteFile | undefined {
    if (!path.startsWith("/openapi")) return undefined;
    const host = headers.get("host");
    return this.#filesFor(host === undefined ? "/" : `${isSecure ? "https" : "http"}://${host.toLowerCase()}`).get(
      path,
    );
  }

  #filesFor(address: string): ReadonlyMap<string, SiteFile> {
    const key = this.#files.has(address) || this.#files.size < addressesMax ? address : "/";
    let files = this.#files.get(key);
    if (!files) {
      files = filesOf(this.#instance, key);
      this.#files.set(key, files);
    }
    return files;
  }
}

function filesOf(instance: DescribedInstance, address: string): ReadonlyMap<string, SiteFile> {
  const description = describeApi(instance, address);
  const file = (mediaType: string, text: string): SiteFile => ({
    mediaType,
    bytes: encoder.encode(text),
    immutable: false,
  });
  return new Map([
    ["/openapi.json", file("application/json", JSON.stringify(description))],
    ["/openapi.yaml", file("application/yaml", writeYaml(description))],
    ["/openapi-3.0.json", file("application/json", JSON.stringify(asOpenApi30(description)))],
  ]);
}
