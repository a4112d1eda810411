// One of several processes in a load test, each with many clients of one kind. A single process with all clients would
// run out of descriptors. The process prints a line of JSON every second: how many connections are open, and what has
// happened so far. It ends when its standard input ends.
//
//   clients.ts idle|slow|feed COUNT PORT

import { connect, type Socket } from "node:net";

/** How long a slow reader waits on average after each piece it has read. */
const slowPauseMs = 5_000;
/** Clients connect in groups. If all connected at once, the listener's queue would overflow. */
const openedPerTurn = 100;
const openingPauseMs = 50;
const feedsPerAddress = 50;

interface Counts {
  open: number;
  opened: number;
  /** Connections that were closed after they were open. Clients do not close connections themselves. */
  closed: number;
  /** Connections that could not be opened or that broke, and those whose first answer was not 200. */
  refused: number;
  megabytes: number;
}

const [kind = "idle", count = "0", port = "0"] = process.argv.slice(2);
const counts: Counts = { open: 0, opened: 0, closed: 0, refused: 0, megabytes: 0 };
let bytes = 0;

/**
 * The service limits how many feeds each address behind a proxy may have. So these requests claim to come from many
 * addresses.
 */
function requestOf(index: number): string {
  const path = kind === "feed" ? "/changes" : kind === "slow" ? "/api/todoitems/" : "/health/live";
  const address = Math.floor(index / feedsPerAddress);
  const from = `X-Forwarded-For: 10.0.${Math.floor(address / 250)}.${(address % 250) + 1}\r\n`;
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${from}Accept: ${kind === "feed" ? "text/event-stream" : "*/*"}\r\n\r\n`;
}

function open(index: number): void {
  // Connects to several addresses of this machine, so that there are enough ports.
  const socket = connect(Number(port), `127.0.0.${1 + (index % 8)}`);
  let isOpen = false;
  socket.on("connect", () => {
    isOpen = true;
    counts.open++;
    counts.opened++;
    socket.write(requestOf(index));
  });
  socket.once("data", (piece: Buffer) => {
    if (!piece.toString("latin1", 0, 12).startsWith("HTTP/1.1 200")) counts.refused++;
  });
  socket.on("data", (piece: Buffer) => receive(socket, piece));
  socket.on("error", () => counts.refused++);
  socket.on("close", () => {
    if (!isOpen) return;
    counts.open--;
    counts.closed++;
    // A client that is disconnected comes back, after a while.
    setTimeout(open, 2_000, index);
  });
}

function receive(socket: Socket, piece: Buffer): void {
  bytes += piece.length;
  if (kind !== "slow") return;
  socket.pause();
  setTimeout(() => socket.resume(), slowPauseMs * (0.5 + Math.random()));
}

setInterval(() => {
  counts.megabytes = Math.round(bytes / 1e6);
  console.log(JSON.stringify(counts));
}, 1_000);
process.stdin.on("end", () => process.exit(0));
process.stdin.resume();
for (let index = 0; index < Number(count); index++) {
  open(index);
  if (index % openedPerTurn === openedPerTurn - 1) await Bun.sleep(openingPauseMs);
}
