// This file is loaded into a program before the program starts. The program's service then checks every answer against
// the API's description.

import { dirname, join } from "node:path";
import { checkAnswers } from "./checked-answer.ts";

// The program may be another build, such as an installed package. So this imports the `App` of that build.
const path = join(dirname(Bun.main), "../src/http/app.ts");
const { App } = (await import(path)) as typeof import("../../src/http/app.ts");
checkAnswers(App.prototype);
