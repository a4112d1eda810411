// Loaded into a program before it starts: the service that it runs checks every answer against the API's description.

import { App } from "../../src/http/app.ts";
import { checkAnswers } from "./checked-answer.ts";

checkAnswers(App.prototype);
