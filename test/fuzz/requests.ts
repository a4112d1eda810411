// Sends random requests, right and wrong, and compares every answer with the one that follows from a model of the
// service, which is a plain Map. test/specification/model.test.ts does it on every engine, with restarts.

import { Program } from "../program.ts";
import type { Part, Tally } from "../torture/part.ts";
import type { Random } from "../wire/random.ts";
import { ItemModel } from "./item-model.ts";
import { type ItemRequest, itemRequest } from "./item-request.ts";

const listEvery = 50;
const itemsMax = 200;
const requestsMin = 100;

export const requestsPart: Part = {
  name: "fuzz requests",
  promise:
    "Every request gets the documented answer, and changes what it is answered to have changed and nothing else.",
  weight: 3,
  shortSeconds: 2,
  async run({ random, tally, goOn }) {
    const program = await Program.start({ args: ["--port", "0", "--store", "memory:"], hasSmallLimits: true });
    try {
      await fuzzRequests((method, path, init) => program.fetch(path, { ...init, method }), random, tally, goOn);
    } finally {
      const { exitCode, stderr } = await program.stop();
      if (exitCode !== 0 || stderr.includes("error")) tally.noteWrong(`the service ended with ${exitCode}: ${stderr}`);
    }
  },
};

/** Sends a request to the service. `init` has the headers and the body. */
export type Send = (method: string, path: string, init: RequestInit) => Promise<Response>;

export async function fuzzRequests(send: Send, random: Random, tally: Tally, goOn: () => boolean): Promise<void> {
  const model = new ItemModel();
  // Starting a service takes a while, so some requests are sent even if the time is over.
  while ((tally.operations < requestsMin || goOn()) && tally.wrong < 10) {
    const request = itemRequest(random, model);
    const difference = await sendAndCompare(send, request, model);
    tally.operations++;
    tally.count(`answered with ${request.expected.status}`);
    if (difference !== undefined) tally.noteWrong(describe(request, difference));
    const oldest = model.ids[0];
    if (model.ids.length > itemsMax && oldest !== undefined) await remove(send, model, oldest);
    if (tally.operations % listEvery === 0 && (await textAt(send, "/api/todoitems/")) !== model.list()) {
      tally.noteWrong("the list is not the model's");
      return;
    }
  }
}

/** Returns what is wrong with the answer. Undefined if nothing is. */
export async function sendAndCompare(send: Send, request: ItemRequest, model: ItemModel): Promise<string | undefined> {
  const { method, path, headers, body, expected } = request;
  const response = await send(method, path, {
    headers: { "Accept-Encoding": "identity", ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  if (response.status !== expected.status) return `answered with ${response.status} ${text}`;
  const { id, json, addedTo } = expected;
  if (method === "GET" && response.status === 200 && id !== undefined && text !== model.get(id)?.json) {
    return `the item is served as ${text}, not as ${model.get(id)?.json}`;
  }
  if (response.status === 412 && id !== undefined && !text.endsWith(`"current":${model.get(id)?.json}}`)) {
    return `the current item is missing in ${text}`;
  }
  if (response.status === 204 && method === "DELETE" && id !== undefined) model.delete(id);
  if (response.status !== 201 && !(response.status === 204 && method === "PUT")) return undefined;
  const location = response.headers.get("location")?.split("/").at(-1);
  const storedId = id ?? location ?? "";
  const stored = method === "POST" ? text : await textAt(send, `/api/todoitems/${storedId}`);
  model.set(storedId, stored, response);
  const rest = addedTo === undefined || addedTo === "" ? "}" : `,${addedTo}}`;
  const possible = json !== undefined ? [json] : [`{"ID":"${storedId}"${rest}`, `{"id":"${storedId}"${rest}`];
  return possible.includes(stored) ? undefined : `stored as ${stored} instead of ${possible[0]}`;
}

/** Removes an item. This keeps the list short, so that comparing it stays quick. */
async function remove(send: Send, model: ItemModel, id: string): Promise<void> {
  await send("DELETE", `/api/todoitems/${id}`, {});
  model.delete(id);
}

async function textAt(send: Send, path: string): Promise<string> {
  return (await send("GET", path, { headers: { "Accept-Encoding": "identity" } })).text();
}

function describe({ method, path, headers, body, expected }: ItemRequest, difference: string): string {
  const text = JSON.stringify(
    Buffer.from(body ?? [])
      .toString("latin1")
      .slice(0, 500),
  );
  return `${method} ${path} ${JSON.stringify(headers)} ${text} should be ${expected.status}: ${difference.slice(0, 500)}`;
}
