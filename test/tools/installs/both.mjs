// A program in which one part imports the client, and another part requires it. So there are two copies of each class.

import { createRequire } from "node:module";
import * as imported from "todoitems-client";
import session from "./session.cjs";

const require = createRequire(import.meta.url);
const required = require("todoitems-client");
if (imported.TodoClient === required.TodoClient) throw new Error("there is one copy only");
const offline = require("todoitems-client/offline");
console.log(JSON.stringify(await session(imported, offline, required, process.argv[2])));
