// Loaded into a program before it starts: the service that it runs checks every answer against the API's description.

import { dirname, join } from "node:path";
import { checkAnswers } from "./checked-answer.ts";

// The program may be another build than ours, such as an installed package.
const path = join(dirname(Bun.main), "http/app.ts");
const { App } = (await import(path)) as typeof import("../../src/http/app.ts");
checkAnswers(App.prototype);
