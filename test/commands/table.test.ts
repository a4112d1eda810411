// Tables fit the terminal, whatever the items contain. Colour is used only on a terminal.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { layOut } from "../../src/commands/table.ts";
import { printable, styleOf } from "../../src/terminal/text.ts";

const plain = styleOf({ isTTY: false }, {});

describe("tables", () => {
  test("a table is never wider than the terminal, whatever characters it contains", () => {
    const cell = fc
      .oneof(fc.string({ unit: "grapheme", maxLength: 60 }), fc.constantFrom("日本語日本語", "👩‍👩‍👧‍👦👍🏽", ""))
      .map(printable);
    const column = fc.record({ title: cell, cells: fc.array(cell, { minLength: 3, maxLength: 3 }) });
    fc.assert(
      fc.property(
        fc.array(column, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 30, max: 200 }),
        (columns, width) => {
          const table = layOut(
            columns.map((one, index) => ({ ...one, optional: index > 1 })),
            width,
            plain,
          );
          expect(table.lines).toHaveLength(4);
          for (const line of table.lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(width);
        },
      ),
    );
  });

  test("a line break of Windows is shown as one line break", () => {
    expect(printable("milk\r\nbread\nhoney\rjam")).toBe("milk⏎bread⏎honey�jam");
  });

  test("a table shortens the widest cells first, and names the columns that it leaves out", () => {
    const columns = [
      { title: "ID", cells: ["1234"], optional: false },
      { title: "Name", cells: ["short"], optional: false },
      { title: "Notes", cells: ["a very long note that goes on and on"], optional: true },
      { title: "More", cells: ["another long text, longer than that"], optional: true },
    ];
    expect(layOut(columns, 40, plain)).toEqual({
      lines: ["ID    Name   Notes          More", "1234  short  a very long …  another lon…"],
      leftOut: [],
    });
    expect(layOut(columns, 30, plain)).toEqual({
      lines: ["ID    Name   Notes", "1234  short  a very long note…"],
      leftOut: ["More"],
    });
  });
});

describe("a wide column", () => {
  const table = (name: string, notes: string, width: number) => {
    const columns = [
      { title: "ID", cells: ["1234"], optional: false },
      { title: "Name", cells: [name], optional: false, wide: true },
      { title: "Notes", cells: [notes], optional: true },
    ];
    const [, row = ""] = layOut(columns, width, plain).lines;
    return row.split("  ").map((cell) => cell.length);
  };

  test("leaves half of the room to a long text beside it", () => {
    expect(table("n".repeat(150), "t".repeat(150), 120)).toEqual([4, 58, 54]);
  });

  test("takes the room that the other columns do not need", () => {
    expect(table("n".repeat(150), "t".repeat(20), 120)).toEqual([4, 92, 20]);
  });

  test("is not shortened if the others still have enough room", () => {
    expect(table("n".repeat(50), "t".repeat(150), 120)).toEqual([4, 50, 62]);
    expect(table("n".repeat(30), "t".repeat(150), 60)).toEqual([4, 30, 22]);
  });

  test("has at least 32 columns on a narrow terminal", () => {
    expect(table("n".repeat(150), "t".repeat(150), 60)).toEqual([4, 32, 20]);
  });
});

describe("colour", () => {
  test("colour is used on a terminal, but not with NO_COLOR, on a dumb terminal or in a pipe", () => {
    expect(styleOf({ isTTY: true }, {}).bold("x")).toBe("\u001b[1mx\u001b[22m");
    for (const environment of [{ NO_COLOR: "1" }, { TERM: "dumb" }])
      expect(styleOf({ isTTY: true }, environment).bold("x")).toBe("x");
    expect(plain.red("x")).toBe("x");
    expect(styleOf({ isTTY: true }, { NO_COLOR: "" }).bold("x")).not.toBe("x");
  });
});
