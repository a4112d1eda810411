#!/usr/bin/env bun
// The command line: picks a command, nothing else.

import { version } from "../package.json";
import { certificate } from "./commands/certificate.ts";
import { helpText } from "./commands/help.ts";
import { serve, work } from "./commands/serve.ts";
import { user } from "./commands/user.ts";
import { workCommand } from "./commands/workers.ts";

async function run([command, ...args]: readonly string[]): Promise<number> {
  const asked = [command, ...args];
  if (command === undefined || command === "help" || asked.includes("--help") || asked.includes("-h")) {
    console.log(helpText());
    return 0;
  }
  if (asked.includes("--version")) {
    console.log(version);
    return 0;
  }
  if (command === "serve") return serve(args, process.env);
  if (command === workCommand) return work(args, process.env);
  if (command === "user") return user(args, process.env);
  if (command === "certificate") return certificate(args, process.env);
  console.error(`todoitems has no command ${command}; --help lists what there is.`);
  return 2;
}

process.exit(await run(process.argv.slice(2)));
