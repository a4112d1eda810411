// The requests that write one item, each sent once. In form A, the path of every write contains the item's ID. In form
// B, the ID of a created or updated item is only in the body.

import type { WriteOptions } from "./client-options.ts";
import type { Reply } from "./reply.ts";
import type { Requester } from "./requester.ts";

interface Written {
  readonly reply: Reply;
  readonly text: string;
}

export class ItemRequests {
  readonly #requester: Requester<unknown>;
  readonly #form: "a" | "b";

  constructor(requester: Requester<unknown>, form: "a" | "b") {
    this.#requester = requester;
    this.#form = form;
  }

  create(id: string, json: string, options: WriteOptions): Promise<Written> {
    return this.#write("POST", this.#url(id), options, json);
  }

  update(id: string, json: string, options: WriteOptions): Promise<Written> {
    return this.#write("PUT", this.#url(id), options, json);
  }

  remove(id: string, options: WriteOptions): Promise<Written> {
    // The specification (section Endpoints) lists a JSON TodoItem as a parameter of DELETE in form A, but not in form B.
    const body = this.#form === "a" ? JSON.stringify({ ID: id }) : undefined;
    return this.#write("DELETE", this.#requester.itemUrl(id), options, body);
  }

  #url(id: string): string {
    return this.#form === "a" ? this.#requester.itemUrl(id) : this.#requester.listUrl;
  }

  async #write(method: "POST" | "PUT" | "DELETE", url: string, { signal, ifMatch }: WriteOptions, body?: string) {
    const reply = await this.#requester.send({ method, url, signal, body, headers: { "If-Match": ifMatch } });
    return { reply, text: await reply.text() };
  }
}
