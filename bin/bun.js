// What the npm scripts run: Bun with these arguments.

import { runBun } from "./run-bun.js";

runBun(process.argv.slice(2));
