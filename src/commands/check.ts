// `todoitems check`: reads a whole store and says whether it is sound.

import { widthOf, wrap } from "../terminal/wrapped-text.ts";
import { defineCommand } from "./command-line/command.ts";
import { jsonFlag, printLine } from "./command-line/output.ts";
import { checkStore, describeVerdict } from "./stores/check-store.ts";
import { describeStore, storeFlag, storeOf } from "./stores/store-setting.ts";

export const command = defineCommand(
  {
    name: "check",
    parameters: "[STORE]",
    summary: "check that a store is sound",
    flags: [storeFlag, { ...jsonFlag, meaning: "print the report as JSON" }],
    notes:
      "STORE is a file, such as a backup, or what --store takes. A service may be running on it. Exit codes: 0 the store is sound, 1 it is damaged, 3 it cannot be opened.",
    example: "check monday.db",
  },
  async (args, environment) => {
    const store = storeOf(args, environment, args.positionals[0]);
    const report = await checkStore(store);
    const { facts, findings, isSound } = report;
    if (args.has("json")) await printLine(JSON.stringify({ sound: isSound, ...Object.fromEntries(facts), findings }));
    else {
      const width = widthOf(process.stdout);
      const lines = [`Checked ${describeStore(store)}`, ...report.lines(width), describeVerdict(store, isSound)];
      await printLine(wrap(lines.join("\n"), width));
    }
    return isSound ? 0 : 1;
  },
);
