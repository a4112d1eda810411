// Ten deliberate breaks of the client. The simulation of offline lists must find each of them.

import { afterAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { projectFolder } from "../program.ts";

interface Break {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const breaks: readonly Break[] = [
  {
    name: "a call resolves before the outbox is written",
    file: "offline/kept-list.ts",
    from: "await this.#writeOutbox(next);",
    to: "void this.#writeOutbox(next).catch(() => {});",
  },
  {
    name: "the outbox on the device does not say that an edit may have been stored",
    file: "offline/kept-list.ts",
    from: "edits: outbox }",
    to: "edits: outbox.map((edit) => ({ ...edit, sent: false })) }",
  },
  {
    name: "a change is sent without If-Match",
    file: "offline/edit-sender.ts",
    from: "id, { ifMatch }, mine)",
    to: 'id, kind === "change" ? {} : { ifMatch }, mine)',
  },
  {
    name: "a removal is sent without If-Match",
    file: "offline/edit-sender.ts",
    from: "id, { ifMatch }, mine)",
    to: 'id, kind === "remove" ? {} : { ifMatch }, mine)',
  },
  {
    name: "a change whose response was lost is sent again, although somebody put the old value back",
    file: "offline/outbox.ts",
    from: 'if (mayBeStored || edit.kind === "add" || merge',
    to: 'if (edit.kind === "add" || merge',
  },
  {
    name: "if two people change one field, the device wins without a question",
    file: "offline/outbox.ts",
    from: '|| edit.kind === "add" || merge.conflicts.length > 0)',
    to: '|| edit.kind === "add")',
  },
  {
    name: "an add whose response was lost is sent again, although its item has shown up and was removed",
    file: "offline/outbox.ts",
    from: 'edit.kind === "add" && edit.isOwnId && edit.sent && ids.has(edit.id)',
    to: "false && ids.has(edit.id)",
  },
  {
    name: "edits for another store are sent without a question",
    file: "offline/edit-sender.ts",
    from: "epoch !== undefined && epoch !== connected.epoch",
    to: "false",
  },
  {
    name: "a new change is merged into one that may have been stored",
    file: "offline/outbox.ts",
    from: "if (last.sent || last.theirs",
    to: "if (last.theirs",
  },
  {
    name: "two tabs keep one outbox",
    file: "offline/offline-engine.ts",
    from: "if (locks === undefined) await",
    to: "if (locks !== null) await",
  },
];

describe("the simulation finds each deliberate break", () => {
  const folder = temporaryFolder();
  afterAll(() => folder.dispose());

  test.each(breaks)("$name", async ({ name, file, from, to }) => {
    const root = join(folder.path, String(breaks.findIndex((one) => one.name === name)));
    mkdirSync(join(root, "test"), { recursive: true });
    for (const path of ["src/client", "src/items", "test/client"])
      cpSync(join(projectFolder, path), join(root, path), { recursive: true });
    const broken = join(root, "src/client", file);
    const pieces = readFileSync(broken, "utf8").split(from);
    expect(pieces).toHaveLength(2);
    writeFileSync(broken, pieces.join(to));
    const child = Bun.spawn([process.execPath, join(root, "test/client/offline-simulation-run.ts"), "300000", "1"], {
      stdout: "pipe",
      stderr: "inherit",
    });
    const output = await new Response(child.stdout).text();
    expect({ exitCode: await child.exited, output }).toEqual({
      exitCode: 1,
      output: expect.stringMatching(/^seed \d+: /),
    });
  });
});
