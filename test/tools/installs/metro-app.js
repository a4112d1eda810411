// An app for React Native.

import { TodoClient } from "todoitems-client";
import { OfflineList } from "todoitems-client/offline";

console.log(new OfflineList(new TodoClient("http://x/")).getSnapshot().status.loaded);
