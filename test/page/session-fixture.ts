// Sessions of the page, for tests. Each session has a service of its own in this process, and reaches it over a
// simulated network.

import { afterEach, expect } from "bun:test";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { Access } from "../../src/http/access.ts";
import { BasicAuth } from "../../src/http/basic-auth.ts";
import { Outbox } from "../../src/page/outbox.ts";
import type { ShownItem } from "../../src/page/overlay.ts";
import { Session } from "../../src/page/session.ts";
import { eventually } from "../eventually.ts";
import { item, Service, type ServiceOptions } from "../service.ts";
import { Network } from "./network.ts";

/** After each test, the sessions in `opened` stop following the list, and their services are closed. */
export function useSessions() {
  const opened: { readonly session: Session; readonly service: Service }[] = [];
  afterEach(async () => {
    for (const { session, service } of opened.splice(0)) {
      session.list.rest();
      await service.collection.close();
    }
  });

  async function open(options: ServiceOptions = {}, isTyping = () => false) {
    const service = await Service.on(new MemoryEngine(), options);
    const network = new Network(service);
    const outbox = new Outbox(() => {});
    const session = new Session({
      outbox,
      connect: (credentials) => network.connect(credentials),
      spelling: undefined,
      readOnly: false,
      isTyping,
    });
    opened.push({ session, service });
    const names = () => session.items.map(({ fields }) => fields.name);
    return { service, network, outbox, session, names };
  }

  return { opened, open };
}

/** The options of a service with one user, `ann`. */
export async function guarded(
  mode: "writes" | "all",
  password = "secret",
  usernames: readonly string[] = ["ann"],
): Promise<ServiceOptions> {
  const hash = await Bun.password.hash(password, { algorithm: "bcrypt", cost: 4 });
  const auth = new BasicAuth(new Map(usernames.map((username) => [username, hash])));
  return { access: new Access({ mode, auth }) };
}

export const named = (id: string, name: string) => item(id, `"Name":"${name}"`);
export const entry = (name: string) => ({ name, done: false });

export function shown(session: Session, name: string): ShownItem {
  const found = session.items.find(({ fields }) => fields.name === name);
  if (!found) throw new Error(`${name} is not shown`);
  return found;
}

export const untilLive = (session: Session) => eventually(async () => expect(session.list.connection).toBe("live"));
export const untilSent = (session: Session) => eventually(async () => expect(session.outbox.unsentCount).toBe(0));

export function numbered(index: number): string {
  return `00000000-0000-4000-8000-${index.toString().padStart(12, "0")}`;
}

/** Signs in with the name and the password that `guarded` accepts. */
export async function signIn(session: Session, username = "ann"): Promise<void> {
  session.signIn.openForm();
  session.signIn.submit({ username, password: "secret" });
  await eventually(() => session.signIn.form === undefined);
}
