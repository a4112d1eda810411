// Attacks connections with random streams of bytes. The streams are also compared with llhttp, Node's parser. Whatever
// arrives, the service answers or closes the connection, and its items stay as they are.

import type { Part, Tally } from "../torture/part.ts";
import { compareRandom, describeFinding, Oracle } from "../wire/llhttp-comparison.ts";
import type { Random } from "../wire/random.ts";
import { pieces, requestStream } from "../wire/request-stream.ts";
import { Target, undocumented } from "./target.ts";

const atOnce = 16;
const messagesAtOnce = 2_000;

export const streamsPart: Part = {
  name: "fuzz streams",
  promise: "Whatever our parser accepts, llhttp reads the same way; no stream crashes, blocks or changes the service.",
  weight: 3,
  shortSeconds: 2,
  async run({ random, tally, goOn }) {
    const oracle = new Oracle();
    const target = await Target.start();
    do {
      const rounds = await compareRandom(oracle, random.below(2 ** 31), messagesAtOnce);
      tally.operations += rounds.messages;
      // The comparison would prove little if we refused most of the messages.
      if (rounds.accepted < rounds.messages / 2) tally.noteWrong(`only ${rounds.accepted} messages were accepted`);
      for (const finding of rounds.findings) tally.noteWrong(describeFinding(finding));
      for (let count = 0; count < 10; count++) await fuzzStreams(target, random, tally);
    } while (goOn());
    await oracle.stop();
    await target.stop(tally);
  },
};

/** Sends some random streams at once, then checks that the service still works. */
async function fuzzStreams(target: Target, random: Random, tally: Tally): Promise<void> {
  // The streams must not create items, so replace the media type that items need.
  const streams = Array.from({ length: atOnce }, () => {
    const stream = requestStream(random);
    return { ...stream, text: stream.text.replaceAll(/application\/json/gi, "application/jsom") };
  });
  await Promise.all(
    streams.map(async (stream) => {
      const statuses = await target.sendStream(pieces(stream).map((piece) => piece.toString("latin1")));
      const text = JSON.stringify(stream.text);
      if (statuses === undefined) tally.noteWrong(`a stream is neither answered nor closed: ${text}`);
      else if (undocumented(statuses).length > 0) tally.noteWrong(`answered with ${statuses.join()}: ${text}`);
    }),
  );
  await noteRound(target, tally, "streams on sockets");
}

async function noteRound(target: Target, tally: Tally, what: string): Promise<void> {
  tally.faults += atOnce;
  tally.count(what, atOnce);
  const harm = await target.findHarm();
  if (harm !== undefined) tally.noteWrong(harm);
}
