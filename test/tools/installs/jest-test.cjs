// A test of an app, for Jest.

const client = require("todoitems-client");
const offline = require("todoitems-client/offline");
const session = require("./session.cjs");

test("the client works in Jest", async () => {
  expect(await session(client, offline, client, process.env.ORIGIN)).toEqual({
    names: "One,Two",
    kept: process.env.KEPT === "true",
    offline: "lost",
    isNetworkError: true,
    message: expect.stringContaining(process.env.REASON),
  });
});
