// Random requests to the API, and what the service must answer. A request is built from parts, and each part knows
// whether it is right or wrong. So the answer follows from the documented order of checks.

import type { Random } from "../wire/random.ts";
import type { ItemModel } from "./item-model.ts";
import { jsonMembers, jsonValue } from "./json-values.ts";

export interface ItemRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer> | undefined;
  readonly expected: Expected;
}

interface Expected {
  readonly status: number;
  /** The ID of the item that the request reads or writes. If a create has no ID, the service generates one. */
  readonly id?: string | undefined;
  /** If the body has no ID, or a null ID: its other members, to which the service adds the ID. */
  readonly addedTo?: string;
  /** If the body has an ID: the exact text that is stored. */
  readonly json?: string;
}

interface Body {
  readonly text: string;
  /** True if the text is not a valid item. */
  readonly isWrong: boolean;
  readonly id?: string;
  readonly members?: string;
}

const collectionPaths = [
  "/api",
  "/api/",
  "/api/todoitems",
  "/api/todoitems/",
  "/API/TodoItems/",
  "/api/todoitems/?x=%00",
];
const unknownPaths = ["/api/other", "/api//todoitems", "/api/todoitems/a/b", "/apis", "/nothing", "/api/todoitems//"];
const badIds = ["x", "%", "%41", "null", "11111111-1111-4111-8111-11111111111", "11111111-1111-4111-8111-11111111111g"];
const goodTypes = ["application/json", "application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"'];
const badTypes = ["text/plain", "application/json; charset=latin1", "application/x-www-form-urlencoded", "json"];
const bodyBytesMax = 1024 ** 2;
const depthMax = 64;

export function itemRequest(random: Random, model: ItemModel): ItemRequest {
  const way = random.below(20);
  if (way === 0) return plain(random, random.pick(unknownPaths), 404);
  if (way === 1) return { method: random.pick(["PATCH", "HEAD", "OPTIONS"]), ...toItem(random), ...expecting(405) };
  if (way === 2) return { method: "DELETE", path: random.pick(collectionPaths), ...noBody, ...expecting(405) };
  if (way === 3)
    return {
      method: random.pick(["GET", "DELETE"]),
      path: `/api/todoitems/${random.pick(badIds)}`,
      ...noBody,
      ...expecting(400),
    };
  if (way < 7) return readRequest(random, model);
  if (way < 9) return deleteRequest(random, model);
  return writeRequest(random, model);
}

const noBody = { headers: {}, body: undefined } as const;
const expecting = (status: number) => ({ expected: { status } });

function toItem(random: Random) {
  return { path: `/api/todoitems/${randomId(random)}`, ...noBody };
}

function plain(random: Random, path: string, status: number): ItemRequest {
  return { method: random.pick(["GET", "DELETE", "HEAD"]), path, ...noBody, ...expecting(status) };
}

function randomId(random: Random): string {
  const digits = Array.from({ length: 32 }, () => random.below(16).toString(16)).join("");
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`;
}

function anyId(random: Random, model: ItemModel): string {
  const known = model.ids;
  const id = known.length > 0 && random.chance(0.7) ? random.pick(known) : randomId(random);
  return random.chance(0.3) ? id.toUpperCase() : id;
}

function readRequest(random: Random, model: ItemModel): ItemRequest {
  const id = anyId(random, model);
  const known = model.get(id);
  const etag = random.pick(["", known?.etag ?? '"none"', `W/${known?.etag}`, '"stale"', "*"]);
  const matches = known !== undefined && etag !== "" && etag !== '"stale"';
  const status = known ? (matches ? 304 : 200) : 404;
  const headers: Record<string, string> = etag === "" ? {} : { "If-None-Match": etag };
  return { method: "GET", path: `/api/todoitems/${id}`, headers, body: undefined, expected: { status, id } };
}

function deleteRequest(random: Random, model: ItemModel): ItemRequest {
  const id = anyId(random, model);
  const condition = randomCondition(random, model, id);
  const status = model.get(id) ? (condition.holds ? 204 : 412) : 404;
  return {
    method: "DELETE",
    path: `/api/todoitems/${id}`,
    headers: condition.headers,
    body: undefined,
    expected: { status, id },
  };
}

/** `If-Match` compares strongly, so a weak ETag never matches. */
function randomCondition(random: Random, model: ItemModel, id: string) {
  const etag = model.get(id)?.etag ?? '"none"';
  const value = random.pick(["", "", etag, `"x", ${etag}`, `W/${etag}`, '"stale"', "*"]);
  const headers: Record<string, string> = value === "" ? {} : { "If-Match": value };
  return { headers, holds: value === "" || value === "*" || (value.includes(etag) && !value.startsWith("W/")) };
}

function writeRequest(random: Random, model: ItemModel): ItemRequest {
  const isCreate = random.chance(0.5);
  const pathId = random.chance(0.5) ? anyId(random, model) : undefined;
  const body = randomBody(random, pathId ?? anyId(random, model));
  const id = body.id ?? pathId;
  const condition = isCreate || id === undefined ? { headers: {}, holds: true } : randomCondition(random, model, id);
  const type = random.chance(0.93) ? random.pick(goodTypes) : random.pick(badTypes);
  // Sometimes a string in the body gets a byte that is not UTF-8.
  const isBroken = random.chance(0.03);
  const bytes = Buffer.from(isBroken ? body.text.replace('"', '"\x01') : body.text, "utf8");
  if (isBroken && bytes.includes(1)) bytes[bytes.indexOf(1)] = 0xff;
  return {
    method: isCreate ? "POST" : "PUT",
    path: pathId === undefined ? random.pick(collectionPaths) : `/api/todoitems/${pathId}`,
    headers: { "Content-Type": type, ...condition.headers },
    body: new Uint8Array(bytes),
    expected: { status: status(), id, ...stored(body) },
  };

  function status(): number {
    if (bytes.length > bodyBytesMax) return 413;
    if (badTypes.includes(type)) return 415;
    const isMismatched =
      body.id !== undefined && pathId !== undefined && body.id.toLowerCase() !== pathId.toLowerCase();
    if (body.isWrong || bytes.includes(0xff) || isMismatched || (!isCreate && id === undefined)) return 400;
    const isKnown = id !== undefined && model.get(id) !== undefined;
    if (isCreate) return isKnown ? 409 : 201;
    if (!isKnown) return 404;
    return condition.holds ? 204 : 412;
  }
}

function stored({ text, id, members }: Body): Pick<Expected, "addedTo" | "json"> {
  if (members !== undefined) return { addedTo: members };
  return id === undefined ? {} : { json: text.replace("\ufeff", "") };
}

function randomBody(random: Random, id: string): Body {
  const members = jsonMembers(random);
  const idMember = `"${random.pick(["ID", "ID", "id", "Id"])}":"${id}"`;
  const at = random.below(members.length + 1);
  const item = `{${[...members.slice(0, at), idMember, ...members.slice(at)].join(",")}}`;
  const rest = members.join(",");
  const way = random.below(24);
  if (way < 12) return { text: item, isWrong: false, id };
  if (way < 14) return { text: `{${rest}}`, isWrong: false, members: rest };
  if (way === 14) return { text: `\ufeff${item}`, isWrong: false, id };
  if (way === 15) return { text: item.slice(0, -1 - random.below(Math.min(item.length - 1, 5))), isWrong: true };
  if (way === 16)
    return { text: random.pick([jsonValue(random, 5), "[]", "", " ", `${item}${item}`, `${item},`]), isWrong: true };
  if (way === 17) return { text: `{${idMember},"iD":"${id}"}`, isWrong: true };
  if (way === 18) return { text: `{"ID":${random.pick(['"x"', "5", "true", "{}", "[]", '""'])}}`, isWrong: true };
  if (way === 19) return { text: `{${idMember},"x":${"[".repeat(depthMax)}${"]".repeat(depthMax)}}`, isWrong: true };
  if (way === 20)
    return { text: `{${idMember},"x":${"[".repeat(depthMax - 1)}${"]".repeat(depthMax - 1)}}`, isWrong: false, id };
  if (way === 21)
    return {
      text: `{${idMember},"x":${random.pick(["01", "+1", ".5", "NaN", "'a'", '"\t"', "tru", "1.", '"\\x"'])}}`,
      isWrong: true,
    };
  if (way === 22 && random.chance(0.1))
    return { text: `{${idMember},"x":"${"x".repeat(bodyBytesMax)}"}`, isWrong: false, id };
  return { text: `{"ID":null${rest === "" ? "" : `,${rest}`}}`, isWrong: false, members: rest };
}
