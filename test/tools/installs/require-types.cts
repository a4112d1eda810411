// A program that requires the client, for a bundler.

import client = require("todoitems-client");
import offline = require("todoitems-client/offline");

const todo = new client.TodoClient<{ ID: string; Price: number }>("/");
const list = new offline.OfflineList(todo, { storage: () => localStorage });
export const price: number | undefined = list.getSnapshot().items[0]?.item.Price;
// @ts-expect-error a price is a number
list.add({ Price: "1" });
