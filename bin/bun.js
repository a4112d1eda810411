// All npm scripts that need Bun start it through this file, except `npm start`.

import { runBun } from "./run-bun.js";

runBun(process.argv.slice(2));
