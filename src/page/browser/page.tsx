// The whole page: header, composer, toolbar, list, message and dialogs. It is a view on the offline list, which follows
// the service, keeps the edits that wait, sends them and finds conflicts.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Credentials } from "../../client/index.ts";
import type { PendingEdit } from "../../client/offline.ts";
import { ItemActions, type Notice } from "../item-actions.ts";
import type { FormEdits } from "../item-form.ts";
import { type Filter, viewList } from "../list-view.ts";
import type { PageSettings } from "../page-settings.ts";
import { badgeOf, statusLine } from "../page-status.ts";
import type { NewEntry } from "../pasted-lines.ts";
import { listTitle } from "./addresses.ts";
import { Composer } from "./composer.tsx";
import { ConflictDialog } from "./conflict-dialog.tsx";
import { ConnectPanel } from "./connect-panel.tsx";
import { Dialog } from "./dialog.tsx";
import { Header } from "./header.tsx";
import { ItemEditor } from "./item-editor.tsx";
import type { RowActions } from "./item-row.tsx";
import { ItemRows } from "./item-rows.tsx";
import { ListsDialog } from "./lists-dialog.tsx";
import { NoticeView } from "./notice.tsx";
import type { Session } from "./session.ts";
import { SignInForm } from "./sign-in-form.tsx";
import { StatusLineView } from "./status-line.tsx";
import { Toolbar } from "./toolbar.tsx";
import { useList } from "./use-list.ts";
import { useUndoKey } from "./use-undo-key.ts";

interface PageProps {
  readonly session: Session;
  readonly settings: PageSettings;
}

type Opened =
  | { readonly kind: "connect" | "lists" | "sign-in" }
  | { readonly kind: "editor"; readonly id: string; readonly json: string; readonly draft: FormEdits }
  | { readonly kind: "conflict"; readonly id: string };

export function Page({ session, settings }: PageProps) {
  const { list, address, username } = session;
  const snapshot = useList(list);
  const { items, pending, status } = snapshot;
  const [filter, setFilter] = useState<Filter>("all");
  const [search, setSearch] = useState("");
  const [opened, setOpened] = useState<Opened>();
  const [notice, setNotice] = useState<Notice>();
  const [addedId, setAddedId] = useState<string>();
  const composer = useRef<HTMLInputElement>(null);
  const close = () => setOpened(undefined);

  const actions = useMemo(() => new ItemActions(list, settings.fieldNames, setNotice), [list]);
  const edit = (id: string, draft: FormEdits = new Map()) => {
    const found = list.getSnapshot().items.find((item) => item.id === id);
    if (!found) return;
    actions.edits(id);
    setOpened({ kind: "editor", id, json: found.item, draft });
  };
  const rowActions = useMemo(
    (): RowActions => ({
      onDone: (item, done) => void actions.setDone(item, done),
      onEdit: (id) => edit(id),
      onDelete: (item) => void actions.remove(item),
      onDecide: (id) => setOpened({ kind: "conflict", id }),
    }),
    [actions],
  );
  const { shown, counts } = useMemo(() => viewList(items, filter, search), [items, filter, search]);
  const states = useMemo(() => new Map(pending.map(({ id, state }) => [id, state])), [pending]);

  const { loaded, needsCredentials } = status;
  const readOnly = settings.readOnly || status.readOnly;
  const isEmpty = loaded && items.length === 0;
  useEffect(() => {
    if (isEmpty && document.activeElement === document.body) composer.current?.focus();
  }, [isEmpty]);

  useUndoKey(opened === undefined, actions.undo);

  const add = async (entries: readonly NewEntry[]) => {
    // A new item is always in sight.
    setSearch("");
    if (filter === "done") setFilter("all");
    setAddedId(await actions.add(entries));
  };
  const signIn = async (credentials: Credentials, stays: boolean) => {
    const problem = await session.signIn(credentials, stays);
    if (problem === undefined) close();
    return problem;
  };
  const signOut = () => void actions.attempt(() => session.signOut());
  const signOutIfSafe = () =>
    void actions.attempt(async () => {
      if (!(await session.hasUnsentEdits())) return session.signOut();
      const text = "If you sign out, the edits that the service does not have yet are deleted.";
      return setNotice({ kind: "problem", text, action: { label: "Sign out anyway", run: signOut } });
    });
  const discard = (id?: string) => void actions.attempt(() => list.discard(id));
  const line = statusLine(snapshot, session.isKept, {
    signIn: () => setOpened({ kind: "sign-in" }),
    retry: () => void list.retry(),
    sendAnyway: () => void actions.attempt(() => list.sendAnyway()),
    decide: rowActions.onDecide,
    edit: rowActions.onEdit,
    discard,
  });
  const offersSignIn = settings.auth !== "off" && !settings.tokensOnly && username === undefined && !needsCredentials;
  const isSignedOut = !loaded && (needsCredentials || (settings.auth === "all" && username === undefined));

  return (
    <>
      {/* The message is at the bottom, but comes first in the order of Tab: nobody can tab through a long list in time. */}
      <div aria-live="polite">{notice && <NoticeView notice={notice} onClose={() => setNotice(undefined)} />}</div>
      <div class="scroller">
        <Header
          title={listTitle(address.name)}
          badge={badgeOf(status)}
          username={username}
          offersSignIn={offersSignIn && !isSignedOut}
          onLists={settings.hasLists ? () => setOpened({ kind: "lists" }) : undefined}
          onSignIn={() => setOpened({ kind: "sign-in" })}
          onSignOut={signOutIfSafe}
          onConnect={() => setOpened({ kind: "connect" })}
        />
        <main data-loaded={loaded}>
          {line && !isSignedOut && <StatusLineView {...line} />}
          {isSignedOut ? (
            <section class="empty" aria-label="Sign in">
              <h2>Sign in</h2>
              {settings.tokensOnly ? (
                <p class="sign-in hint">
                  This service takes tokens of an identity provider only. Use it with your app: this page signs in with
                  a name and a password.
                </p>
              ) : (
                <SignInForm username={username} onSignIn={signIn} />
              )}
            </section>
          ) : (
            <>
              {readOnly ? (
                <p class="composer hint">Read-only: changes are not stored.</p>
              ) : (
                <Composer inputRef={composer} onAdd={add} />
              )}
              <Toolbar
                filter={filter}
                onFilter={setFilter}
                search={search}
                onSearch={setSearch}
                counts={loaded ? counts : undefined}
              />
              {shown.length > 0 ? (
                <ItemRows
                  items={shown}
                  states={states}
                  readOnly={readOnly}
                  actions={rowActions}
                  addedId={addedId}
                  onDeleteDone={(done) => void actions.remove(...done)}
                />
              ) : (
                <EmptyList
                  loaded={loaded}
                  isAway={line !== undefined}
                  search={search}
                  filter={filter}
                  all={items.length}
                />
              )}
            </>
          )}
        </main>
      </div>
      {opened?.kind === "connect" && (
        <ConnectPanel address={address} settings={settings} username={username} onClose={close} />
      )}
      {opened?.kind === "lists" && <ListsDialog session={session} root={settings.root} onClose={close} />}
      {opened?.kind === "sign-in" && (
        <Dialog title="Sign in" kind="signing-in" onClose={close}>
          <SignInForm username={username} onSignIn={signIn} onCancel={close} />
        </Dialog>
      )}
      {opened?.kind === "editor" && (
        <ItemEditor
          item={items.find(({ id }) => id === opened.id)?.item}
          opened={opened.json}
          draft={opened.draft}
          problem={pending.find(({ id }) => id === opened.id)?.problem}
          readOnly={readOnly}
          address={`${address.items}${opened.id}`}
          onSave={(edits, seen) => {
            close();
            void actions.save(opened.id, edits, seen);
          }}
          onDiscard={() => {
            close();
            discard(opened.id);
          }}
          onClose={(draft, isChanged) => {
            close();
            const action = { label: "Continue", run: () => edit(opened.id, draft) };
            if (isChanged) setNotice({ kind: "done", id: opened.id, text: "Your changes are not saved", action });
          }}
        />
      )}
      {opened?.kind === "conflict" && (
        <Decision
          edit={pending.find(({ id, conflict }) => id === opened.id && conflict)}
          onResolve={(choice) => {
            const next = pending.find(({ id, conflict }) => id !== opened.id && conflict);
            setOpened(next && { kind: "conflict", id: next.id });
            void actions.attempt(() => list.resolve(opened.id, choice));
          }}
          onClose={close}
        />
      )}
    </>
  );
}

interface DecisionProps {
  /** Undefined if there is nothing left to decide. */
  readonly edit: PendingEdit<string> | undefined;
  readonly onResolve: (choice: "mine" | "theirs") => void;
  readonly onClose: () => void;
}

function Decision({ edit, onResolve, onClose }: DecisionProps) {
  if (!edit?.conflict) return null;
  return <ConflictDialog key={edit.id} conflict={edit.conflict} onResolve={onResolve} onClose={onClose} />;
}

interface EmptyListProps {
  readonly loaded: boolean;
  readonly isAway: boolean;
  readonly search: string;
  readonly filter: Filter;
  /** The number of all items, shown or not. */
  readonly all: number;
}

function EmptyList({ loaded, isAway, search, filter, all }: EmptyListProps) {
  if (!loaded) return isAway ? null : <p class="empty">Loading …</p>;
  if (search.trim() !== "")
    return (
      <p class="empty">
        No {filter === "all" ? "" : filter} item contains “{search.trim()}”.
      </p>
    );
  if (all > 0) return <p class="empty">{filter === "open" ? "Everything is done." : "Nothing is done yet."}</p>;
  return (
    <div class="empty">
      <h2>No items yet</h2>
      <p>Add one above, or connect your app: what it stores appears here at once.</p>
    </div>
  );
}
