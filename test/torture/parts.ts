// All parts of `npm run torture`, in the order in which they run.

import manifest from "../../package.json";
import { changedFilesPart, undisturbedPart } from "../faults/changed-files.ts";
import { corruptionPart } from "../faults/corruption.ts";
import { failedSyncPart } from "../faults/failed-sync.ts";
import { failoverRounds } from "../faults/failover-rounds.ts";
import { fullDiskPart } from "../faults/full-disk.ts";
import { killRounds } from "../faults/kill-rounds.ts";
import { lyingSyncPart, powerCutPart } from "../faults/power-cut.ts";
import { syncOrderPart } from "../faults/sync-order.ts";
import { streamsPart } from "../fuzz/connections.ts";
import { requestsPart } from "../fuzz/requests.ts";
import { loadPart } from "../load/load.ts";
import { projectFolder } from "../program.ts";
import { missingStrace, type Part } from "./part.ts";

const killPart: Part = {
  name: "kill -9",
  promise: "A process that is killed loses no answered write, and stores no write in part.",
  weight: 5,
  async run({ tally, goOn }) {
    await killRounds({
      goOn,
      writers: 50,
      onRound: (round, { answered, unanswered, happened }) => {
        tally.faults = round;
        tally.operations = answered;
        Object.assign(tally.notes, { "unanswered writes": unanswered, "of these stored": happened });
      },
    });
  },
};

const slowDiskKillPart: Part = {
  name: "kill -9, slow disk",
  promise: "The same holds if syncs take long, so that more kills hit a commit.",
  weight: 3,
  missing: missingStrace,
  async run({ tally, goOn }) {
    await killRounds({
      goOn,
      writers: 50,
      onSlowDisk: true,
      onRound: (round, { answered, unanswered, happened }) => {
        tally.faults = round;
        tally.operations = answered;
        Object.assign(tally.notes, { "unanswered writes": unanswered, "of these stored": happened });
      },
    });
  },
};

const failoverPart: Part = {
  name: "failover",
  promise: "When PostgreSQL fails over, no answered write is lost or stored twice, and every read is linearizable.",
  weight: 8,
  secondsMin: 40,
  async run({ tally, goOn }) {
    await failoverRounds({
      goOn,
      onRound: (round, { created, repeated, checked }) => {
        tally.faults = round;
        tally.operations = created + checked;
        Object.assign(tally.notes, { "creates sent again": repeated, "operations in linearizable order": checked });
      },
    });
  },
};

const stepsAtOnce = 200_000;
const simulationScript = "test:simulation";

/** The simulator replaces the clock and the timers, so it runs as a program of its own. */
const simulationPart: Part = {
  name: "simulation",
  promise: "Instances on one PostgreSQL stay linearizable, with complete feeds, through every order of failures.",
  weight: 6,
  secondsMin: 20,
  missing: () => (simulationScript in manifest.scripts ? undefined : `there is no npm run ${simulationScript}`),
  async run({ random, tally, goOn }) {
    while (goOn()) {
      const words = ["--steps", String(stepsAtOnce), "--seed", String(random.below(2 ** 31))];
      const command = ["npm", "run", simulationScript, "--silent", "--", ...words];
      const { success, stdout } = Bun.spawnSync(command, { cwd: projectFolder, stdio: ["ignore", "pipe", "inherit"] });
      tally.operations += stepsAtOnce;
      if (!success)
        tally.noteWrong(`npm run ${simulationScript} -- ${words.join(" ")}: ${stdout.toString().slice(-500)}`);
    }
  },
};

export const parts: readonly Part[] = [
  killPart,
  slowDiskKillPart,
  syncOrderPart,
  failedSyncPart,
  powerCutPart,
  lyingSyncPart,
  fullDiskPart,
  corruptionPart,
  changedFilesPart,
  undisturbedPart,
  failoverPart,
  simulationPart,
  requestsPart,
  streamsPart,
  loadPart,
];
