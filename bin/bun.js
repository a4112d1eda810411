// The npm scripts start Bun through this file.

import { runBun } from "./run-bun.js";

runBun(process.argv.slice(2));
