#!/usr/bin/env node
// `npx todoitems` and `npm start` run this file.

import { fileURLToPath } from "node:url";
import { runBun } from "./run-bun.js";

runBun([fileURLToPath(new URL("../src/main.ts", import.meta.url)), ...process.argv.slice(2)], { tied: true });
