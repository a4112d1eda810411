// The whole page: header, composer, toolbar, list, message and dialogs. It is a view on the offline list, which follows
// the service, keeps the edits that wait, sends them and finds conflicts.

import { useMemo, useState } from "preact/hooks";
import { ItemActions, type Notice, type Notify } from "../item-actions.ts";
import type { FormEdits } from "../item-form.ts";
import { type Filter, viewList } from "../list-view.ts";
import { statusLine } from "../page-status.ts";
import type { NewEntry } from "../pasted-lines.ts";
import { Composer } from "./composer.tsx";
import { ConflictDialog } from "./conflict-dialog.tsx";
import { ConnectPanel } from "./connect-panel.tsx";
import { Dialog } from "./dialog.tsx";
import { Header } from "./header.tsx";
import { ItemEditor } from "./item-editor.tsx";
import { ItemRows } from "./item-rows.tsx";
import { ListsDialog } from "./lists-dialog.tsx";
import { NoticeView } from "./notice.tsx";
import { type Opened, PageContext, usePage } from "./page-context.ts";
import type { Session } from "./session.ts";
import { SignInForm } from "./sign-in-form.tsx";
import { StatusLineView } from "./status-line.tsx";
import { Toolbar } from "./toolbar.tsx";
import { useFocusPlace } from "./use-focus-place.ts";
import { useList } from "./use-list.ts";
import { useUndoKey } from "./use-undo-key.ts";

export function Page({ session }: { session: Session }) {
  const { list, username, settings } = session;
  const snapshot = useList(list);
  const { items, status } = snapshot;
  const [filter, setFilter] = useState<Filter>("all");
  const [search, setSearch] = useState("");
  const [opened, open] = useState<Opened>();
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const [addedId, setAddedId] = useState<string>();

  const notify: Notify = (next) =>
    setNotices((all) => {
      const made = next(all.find(({ isUnfinished }) => !isUnfinished));
      return [...all.filter((one) => one.isUnfinished || made?.isUnfinished), ...(made ? [made] : [])];
    });
  const close = (notice: Notice) => setNotices((all) => all.filter((one) => one !== notice));
  const actions = useMemo(() => new ItemActions(list, settings.fieldNames, notify), [list]);
  const edit = (id: string, draft: FormEdits = new Map()) => {
    const found = list.getSnapshot().items.find((item) => item.id === id);
    if (!found) return;
    actions.edits(id);
    open({ kind: "editor", id, json: found.item, draft });
  };
  const { shown, counts } = useMemo(() => viewList(items, filter, search), [items, filter, search]);

  const { loaded, needsCredentials } = status;
  const readOnly = settings.readOnly || status.readOnly;
  const isSignedOut = !loaded && (needsCredentials || (settings.auth === "all" && username === undefined));

  useUndoKey(opened === undefined, actions.undo);
  useFocusPlace();

  const add = async (entries: readonly NewEntry[]) => {
    // A new item is always in sight.
    setSearch("");
    if (filter === "done") setFilter("all");
    setAddedId(await actions.add(entries));
  };
  const line = statusLine(snapshot, session.isKept, {
    signIn: () => open({ kind: "sign-in" }),
    retry: () => void list.retry(),
    sendAnyway: () => void actions.attempt(() => list.sendAnyway()),
    decide: (id) => open({ kind: "conflict", id }),
    edit,
    discard: (id) => void actions.discard(id),
  });

  return (
    <PageContext.Provider value={{ session, snapshot, readOnly, isSignedOut, actions, open, edit }}>
      {/* The message is at the bottom, but comes first in the order of Tab: nobody can tab through a long list in time. */}
      <div class="notices" aria-live="polite">
        {notices.map((notice) => (
          <NoticeView key={notice.text} notice={notice} onClose={() => close(notice)} />
        ))}
      </div>
      <div class="scroller">
        <Header />
        <main data-loaded={loaded}>
          {line && !isSignedOut && <StatusLineView {...line} />}
          {isSignedOut ? (
            <section class="empty" aria-label="Sign in">
              <h2>Sign in</h2>
              <SignInForm />
            </section>
          ) : (
            <>
              {readOnly ? <p class="composer hint">Read-only: changes are not stored.</p> : <Composer onAdd={add} />}
              <Toolbar
                filter={filter}
                onFilter={setFilter}
                search={search}
                onSearch={setSearch}
                counts={loaded ? counts : undefined}
              />
              {shown.length > 0 ? (
                <ItemRows items={shown} addedId={addedId} />
              ) : (
                <EmptyList isAway={line !== undefined} search={search} filter={filter} />
              )}
            </>
          )}
        </main>
      </div>
      {opened?.kind === "connect" && <ConnectPanel />}
      {opened?.kind === "lists" && <ListsDialog />}
      {opened?.kind === "sign-in" && (
        <Dialog title="Sign in" kind="signing-in">
          <SignInForm />
        </Dialog>
      )}
      {opened?.kind === "editor" && <ItemEditor opened={opened} />}
      {opened?.kind === "conflict" && <ConflictDialog key={opened.id} id={opened.id} />}
    </PageContext.Provider>
  );
}

interface EmptyListProps {
  readonly isAway: boolean;
  readonly search: string;
  readonly filter: Filter;
}

function EmptyList({ isAway, search, filter }: EmptyListProps) {
  const { items, status } = usePage().snapshot;
  if (!status.loaded) return isAway ? null : <p class="empty">Loading …</p>;
  if (search.trim() !== "")
    return (
      <p class="empty">
        No {filter === "all" ? "" : filter} item contains “{search.trim()}”.
      </p>
    );
  if (items.length > 0)
    return <p class="empty">{filter === "open" ? "Everything is done." : "Nothing is done yet."}</p>;
  return (
    <div class="empty">
      <h2>No items yet</h2>
      <p>Add one above, or connect your app: what it stores appears here at once.</p>
    </div>
  );
}
