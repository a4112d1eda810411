// Many lists in one store of a real service, which has so little memory that most requests meet a list that has to be
// loaded. Between the rounds it is stopped or killed.

import { ManyLists } from "../fuzz/many-lists.ts";
import type { Send } from "../fuzz/requests.ts";
import type { Part } from "../torture/part.ts";
import { StoredService } from "./stored-service.ts";

const stepsEach = 20;
const roundsMin = 2;

export const manyListsPart: Part = {
  name: "many lists",
  promise: "Every list is exactly what a service of its own would show.",
  weight: 3,
  secondsMin: 20,
  shortSeconds: 5,
  async run({ random, tally, goOn }) {
    const service = new StoredService();
    const flags = ["--lists", "many", "--list-memory", "1"];
    const send: Send = (method, path, init) => service.program.fetch(path, { ...init, method });
    const lists = new ManyLists([send], random, tally);
    try {
      await service.start({ touchesFiles: false, flags });
      for (let round = 0; (round < roundsMin || goOn()) && tally.wrong === 0; round++) {
        await lists.work(stepsEach);
        await lists.compare();
        await lists.endFeeds();
        const { exitCode, stderr } = await service.stop(random.chance(0.5) ? "SIGKILL" : "SIGTERM");
        tally.faults++;
        if (![0, 137].includes(exitCode) || stderr.includes("error"))
          tally.noteWrong(`the service ended with ${exitCode}: ${stderr}`);
        await service.start({ touchesFiles: false, flags });
        await lists.compare();
      }
      await lists.endFeeds();
    } finally {
      await service.dispose();
    }
  },
};
