// The whole page, from top to bottom: header, banners, composer, toolbar, list, status bar, and the dialogs.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ShownItem } from "../overlay.ts";
import type { PageSettings } from "../page-settings.ts";
import type { Session } from "../session.ts";
import { Banners } from "./banners.tsx";
import { Composer } from "./composer.tsx";
import { ConflictDialog } from "./conflict-dialog.tsx";
import { ConnectPanel } from "./connect-panel.tsx";
import { Header } from "./header.tsx";
import { ItemRows } from "./item-rows.tsx";
import { Notices } from "./notices.tsx";
import { SignInDialog } from "./sign-in-dialog.tsx";
import { StatusBar } from "./status-bar.tsx";
import { type Filter, Toolbar } from "./toolbar.tsx";
import { useSession } from "./use-session.ts";

export function App({ session, settings }: { session: Session; settings: PageSettings }) {
  useSession(session);
  const [filter, setFilter] = useState<Filter>("all");
  const [search, setSearch] = useState("");
  const [editingId, setEditingId] = useState<string>();
  const [connecting, setConnecting] = useState(false);
  const [decidingId, setDecidingId] = useState<string>();
  const composer = useRef<HTMLInputElement>(null);
  const searchBox = useRef<HTMLInputElement>(null);
  const { items } = session;

  const openCount = useMemo(() => items.filter(({ fields }) => !fields.done).length, [items]);
  const shown = useMemo(() => select(items, filter, search, editingId), [items, filter, search, editingId]);
  const conflicts = items.filter(({ conflict }) => conflict);
  const conflictIds = conflicts.map(({ id }) => id).join();
  // Whenever the set of conflicts changes, the dialog opens for the first of them. The user can close it and decide
  // later.
  useEffect(() => setDecidingId(conflictIds.split(",")[0] || undefined), [conflictIds]);
  const deciding = conflicts.find(({ id }) => id === decidingId);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const target = event.key === "/" ? searchBox.current : event.key === "n" ? composer.current : undefined;
      if (!target || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      target.focus();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);

  return (
    <>
      <Header session={session} onConnect={() => setConnecting(true)} />
      <main>
        <Banners session={session} />
        <Composer inputRef={composer} onAdd={(name) => session.add(name)} />
        <Toolbar
          filter={filter}
          onFilter={setFilter}
          search={search}
          onSearch={setSearch}
          searchRef={searchBox}
          counts={{ all: items.length, open: openCount, done: items.length - openCount }}
        />
        <ItemRows
          items={shown}
          loaded={session.loaded}
          emptyText={emptyText(items.length, filter, search)}
          editingId={editingId}
          onEdit={setEditingId}
          onDone={(item, done) => session.setDone(item, done)}
          onSave={(base, json) => session.save(base, json)}
          onDelete={(item) => session.remove(item)}
          onDecide={(item) => setDecidingId(item.id)}
          onNowhere={() => composer.current?.focus()}
        />
      </main>
      <StatusBar session={session} />
      <Notices session={session} />
      {session.signIn && <SignInDialog session={session} signIn={session.signIn} />}
      {!session.signIn && deciding && (
        <ConflictDialog
          key={deciding.id}
          item={deciding}
          count={conflicts.length}
          onDecide={(which) => session.decide(deciding.id, which)}
          onLater={() => setDecidingId(undefined)}
        />
      )}
      {connecting && <ConnectPanel settings={settings} onClose={() => setConnecting(false)} />}
    </>
  );
}

/** The items that match the filter and the search. The item that is being edited is always included. */
function select(items: readonly ShownItem[], filter: Filter, search: string, editingId: string | undefined) {
  const wanted = search.trim().toLowerCase();
  if (filter === "all" && wanted === "") return items;
  return items.filter(
    ({ id, fields }) =>
      id === editingId ||
      ((filter === "all" || fields.done === (filter === "done")) && fields.searchText.includes(wanted)),
  );
}

function emptyText(count: number, filter: Filter, search: string): { title: string; hint: string } {
  if (count === 0)
    return {
      title: "Nothing to do",
      hint: "Type above and press Enter. Items that your app creates appear here at once.",
    };
  if (search.trim() !== "") return { title: "Nothing found", hint: `No item contains “${search.trim()}”.` };
  return filter === "done"
    ? { title: "Nothing done yet", hint: "Items you tick are listed here." }
    : { title: "All done", hint: "Every item is ticked." };
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLTextAreaElement ||
    (target instanceof HTMLInputElement && target.type !== "checkbox") ||
    (target instanceof HTMLElement && target.isContentEditable)
  );
}
