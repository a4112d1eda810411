// A program that imports the client.

import * as client from "todoitems-client";
import * as offline from "todoitems-client/offline";
import session from "./session.cjs";

console.log(JSON.stringify(await session(client, offline, client, process.argv[2])));
