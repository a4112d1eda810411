// A part of `npm run torture`: makes the mistakes of the table that take long to be noticed, one after the other.

import type { Part } from "../torture/part.ts";
import { objectionsTo } from "./broken-copy.ts";
import { breaks } from "./table.ts";

export const breaksPart: Part = {
  name: "breaks",
  promise: "The attacks find mistakes: each one that is made on purpose in a copy of the program is noticed.",
  weight: 2,
  secondsMin: 60,
  async run({ random, tally, goOn }) {
    const slow = breaks.filter(({ isQuick }) => !isQuick);
    const first = random.below(slow.length);
    for (const broken of [...slow.slice(first), ...slow.slice(0, first)]) {
      if (!goOn()) return;
      tally.operations++;
      tally.faults++;
      for (const objection of await objectionsTo(broken)) tally.noteWrong(`${broken.name}: ${objection}`);
    }
  },
};
