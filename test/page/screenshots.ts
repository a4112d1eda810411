// `npm run screenshots`: takes the pictures for the documents from the page itself.

import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { Program, projectFolder } from "../program.ts";
import { PageDriver } from "./page-driver.ts";

interface Picture {
  readonly name: string;
  readonly args?: readonly string[];
  readonly items?: readonly object[];
  readonly dark?: boolean;
  readonly width?: number;
  readonly height?: number;
  /** Runs before the picture is taken. */
  readonly prepare?: (page: PageDriver, program: Program) => Promise<void>;
}

const items = [
  { Name: "Learn app development", Notes: "Take the course, then build something small", Done: true },
  { Name: "Develop apps", Notes: "Use the emulator first, then a phone on the same network", Done: false },
  { Name: "Publish apps", Notes: "", Done: false, Store: "beta channel", Price: 850 },
  {
    title: "Renew the certificate",
    completed: false,
    dueDate: "2027-03-01",
    priority: "high",
    tags: ["https", "office"],
  },
  { Name: "Read what changed while I was offline", Notes: "", Done: true },
  {
    Name: "Call Ann about the trip to the coast",
    Notes: "Trains leave at 9:12 and 11:12.\nAsk for the window seat.",
    Done: false,
    Day: "2027-05-14",
    Budget: 240,
    Booked: false,
  },
];

const edit = (page: PageDriver) => page.clickItem("Call Ann about the trip to the coast", "text");

const pictures: readonly Picture[] = [
  { name: "light", items },
  { name: "dark", items, dark: true, prepare: edit },
  { name: "phone", items, width: 390, height: 844 },
  { name: "empty" },
  { name: "error", items, prepare: showError },
  { name: "offline", items, prepare: goOffline },
  { name: "conflict", items, prepare: showConflict },
  { name: "read-only", args: ["--demo"] },
  { name: "connect", items, prepare: async (page) => page.click('[data-control="connect"]') },
];

async function showError(page: PageDriver): Promise<void> {
  await page.add("A name that is too long for this instance. ".repeat(12));
  await page.untilText("was not saved");
}

async function goOffline(page: PageDriver, program: Program): Promise<void> {
  await program.stop();
  await page.untilText("cannot be reached");
  await page.add("Buy milk");
  await page.clickItem("Develop apps", "tick");
}

/** Somebody else changes an item while the page's own edit of it is on its way. */
async function showConflict(page: PageDriver, program: Program): Promise<void> {
  const [, second] = JSON.parse(await program.list()) as { ID: string; Notes: string }[];
  await page.evaluate(`(() => {
    const send = globalThis.fetch;
    const other = new Promise((resolve) => Object.assign(globalThis, { goOn: resolve }));
    globalThis.fetch = async (url, init) => {
      if (init?.method === "PUT") await other;
      return send(url, init);
    };
  })()`);
  await page.clickItem("Develop apps", "text");
  await page.fill('[data-field="Notes"]', "In the emulator");
  await page.clickButton("Save");
  await program.send("PUT", "/api/todoitems/", JSON.stringify({ ...second, Notes: "On the phone" }));
  await page.evaluate("goOn()");
  await page.click('[data-control="conflict"]');
  await page.until("document.querySelector('dialog.conflict')");
}

async function take({ name, args, items = [], dark = false, width = 1100, height = 840, prepare }: Picture) {
  const folder = temporaryFolder();
  const program = await Program.start({
    args: ["--port", "0", "--body-limit", "500", ...(args ?? ["--store", `sqlite:${join(folder.path, "store.db")}`])],
  });
  for (const item of items) await program.send("POST", "/api/todoitems/", JSON.stringify(item));
  const page = await PageDriver.open(program.origin);
  await page.show({ width, height, scale: 2, isPhone: width < 500, colours: dark ? "dark" : "light" });
  await prepare?.(page, program);
  // If edits are unsent, the page shows a note after a short delay. Wait longer than that, so that the picture has it.
  await page.evaluate("new Promise((resolve) => setTimeout(resolve, 900))");
  const path = join(projectFolder, "docs/images", `${name}.png`);
  await Bun.write(path, await page.view.screenshot());
  console.log(path);
  page.close();
  await program.stop();
  folder.dispose();
}

const wanted = process.argv.slice(2);
for (const picture of pictures) if (wanted.length === 0 || wanted.includes(picture.name)) await take(picture);
process.exit(0);
