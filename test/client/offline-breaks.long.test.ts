// Deliberate breaks of the client. The simulation of offline lists must find each of them.

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
    from: 'await this.#writeOutbox(next, need === "room");',
    to: "void this.#writeOutbox(next).catch(() => {});",
  },
  {
    name: "the outbox on the device does not say that an edit may have been stored",
    file: "offline/kept-list.ts",
    from: "?? JSON.stringify(edit)",
    to: "?? JSON.stringify({ ...edit, sent: false })",
  },
  {
    name: "a change is sent without If-Match",
    file: "offline/edit-sender.ts",
    from: "id, { ifMatch, signal }, mine)",
    to: 'id, kind === "change" ? { signal } : { ifMatch, signal }, mine)',
  },
  {
    name: "a removal is sent without If-Match",
    file: "offline/edit-sender.ts",
    from: "id, { ifMatch, signal }, mine)",
    to: 'id, kind === "remove" ? { signal } : { ifMatch, signal }, mine)',
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
  {
    name: "a waiting edit is not compared with what the user saw before the next one is merged into it",
    file: "offline/outbox.ts",
    from: 'const open = last.kind === "add" ? last : reconciled(last, below, false);',
    to: "const open: Edit | undefined = last;",
  },
  {
    name: "any response with a 2xx status confirms an edit",
    file: "offline/edit-sender.ts",
    from: "if (isOurs && !isDocumented)",
    to: "if (false && !isDocumented)",
  },
  {
    name: "a page in place of the change feed makes the service one without a feed",
    file: "live/watch.ts",
    from: "const feedFailuresMax = 3;",
    to: "const feedFailuresMax = 0;",
  },
  {
    name: "a list that is made again does not wait for the one that is being closed",
    file: "offline/offline-list.ts",
    from: "failure, shared)",
    to: "failure, undefined)",
  },
  {
    name: "what is noted about edits must fit into a full outbox",
    file: "offline/kept-list.ts",
    from: 'await this.#writeOutbox(next, need === "room")',
    to: "await this.#writeOutbox(next, true)",
  },
  {
    name: "an exception in one attempt stops the sending",
    file: "offline/edit-sender.ts",
    from: ".catch((error: unknown) => this.#later(error))",
    to: "",
  },
  {
    name: "the copy is kept although the outbox on the device is older",
    file: "offline/kept-list.ts",
    from: "!this.isKept || this.#isBehind",
    to: "!this.isKept",
  },
  {
    name: "a removal whose response was lost is sent again, although somebody has created the item again",
    file: "offline/outbox.ts",
    from: "if (mayBeStored || !sameFields(base, now.json))",
    to: "if (!sameFields(base, now.json))",
  },
  {
    name: "an add under a known ID counts as stored because somebody else has created the item",
    file: "offline/outbox.ts",
    from: 'edit.kind === "add" && edit.isOwnId && edit.sent',
    to: 'edit.kind === "add" && edit.sent',
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
