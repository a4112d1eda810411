// Loaded before the tests, by test/run.ts and by the bunfig.toml of the project, which `bun test FILE` reads. So a test
// that an editor runs has the same time limit as in `npm test`.

// This package must run before those that need it. If one file imports them all, Bun may run them in another order.
import "reflect-metadata";
import { setDefaultTimeout } from "bun:test";
import { timeLimitMs } from "./time-limit.ts";

setDefaultTimeout(timeLimitMs);
