import { expect, test } from "bun:test";
import { closest } from "../../src/terminal/suggestion.ts";

const words = ["list", "add", "remove", "--port", "--https-port", "--json", "--password-file", "TODOITEMS_PORT"];

for (const [typed, meant] of Object.entries({
  lst: "list",
  lsit: "list",
  LIST: "list",
  "--prot": "--port",
  "--jsn": "--json",
  "--password": "--password-file",
  TODOITEMS_PROT: "TODOITEMS_PORT",
  rem: "remove",
}))
  test(`${typed} was meant as ${meant}`, () => expect(closest(typed, words)).toBe(meant));

test("nothing is suggested for a word that resembles none", () => {
  for (const typed of ["", "x", "frobnicate", "--nothing", "dad"]) expect(closest(typed, words)).toBeUndefined();
  for (const [typed, other] of [
    ["demo", "done"],
    ["file", "field"],
    ["format", "form"],
    ["verbose", "version"],
  ] as const)
    expect(closest(typed, [other])).toBeUndefined();
});
