// `todoitems check`: reads a whole store and says whether it is sound.

import { widthOf, wrap } from "../terminal/wrapped-text.ts";
import { defineCommand } from "./command-line/command.ts";
import { countOf, jsonFlag, printLine } from "./command-line/output.ts";
import { checkStore, damagedAdvice } from "./stores/check-store.ts";
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
  async (args) => {
    const store = storeOf(args, args.positionals[0]);
    const { items, findings } = await checkStore(store);
    const isSound = findings.length === 0;
    const verdict = isSound ? "The store is sound." : damagedAdvice();
    const lines = [`Checked ${describeStore(store)}: ${countOf(items)}`, ...findings.map((one) => `  ${one}`), verdict];
    if (args.has("json")) await printLine(JSON.stringify({ sound: isSound, items, findings }));
    else await printLine(wrap(lines.join("\n"), widthOf(process.stdout)));
    return isSound ? 0 : 1;
  },
);
