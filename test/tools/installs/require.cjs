// A program that requires the client.

const client = require("todoitems-client");
const offline = require("todoitems-client/offline");
const session = require("./session.cjs");

if (!require.resolve("todoitems-client").endsWith(".cjs")) throw new Error("Node has loaded an ES module");
session(client, offline, client, process.argv[2]).then((seen) => console.log(JSON.stringify(seen)));
