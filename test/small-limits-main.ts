// An entry point for tests: `todoitems serve` with small limits, which users cannot set.

import { describeFailure } from "../src/commands/command-line/failure.ts";
import { connectionVariables } from "../src/commands/service/connection-flags.ts";
import { runService } from "../src/serve/run-service.ts";
import { smallLimits } from "./small-limits.ts";

const [, , , ...args] = process.argv;
try {
  process.exit(await runService(args, process.env, connectionVariables, smallLimits));
} catch (error) {
  const { message, exitCode } = describeFailure(error);
  process.stderr.write(`error: ${message}\n`);
  process.exit(exitCode);
}
