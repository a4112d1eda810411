// The whole page: header, banners, composer, toolbar, list, notices and dialogs. Also handles the keyboard shortcuts.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Draft } from "../draft.ts";
import { named } from "../item-fields.ts";
import { type Filter, filters, viewList } from "../list-view.ts";
import type { ShownItem } from "../overlay.ts";
import type { PageSettings } from "../page-settings.ts";
import type { NewEntry } from "../pasted-lines.ts";
import type { Session } from "../session.ts";
import { Banners } from "./banners.tsx";
import { Composer } from "./composer.tsx";
import { ConflictDialog } from "./conflict-dialog.tsx";
import { ConnectPanel } from "./connect-panel.tsx";
import { canUndoIn, canUndoInEditor, noteChange, noteText } from "./field-undo.ts";
import { Header } from "./header.tsx";
import { isTyping } from "./is-typing.ts";
import { ItemRows } from "./item-rows.tsx";
import { keepFocus } from "./keep-focus.ts";
import { Notices } from "./notices.tsx";
import { ShortcutsDialog } from "./shortcuts-dialog.tsx";
import { SignInDialog } from "./sign-in-dialog.tsx";
import { Toolbar } from "./toolbar.tsx";
import { useEdited } from "./use-edited.ts";
import { useKept } from "./use-kept.ts";
import { rowBelow } from "./use-row-focus.ts";
import { useSession } from "./use-session.ts";

export function App({ session, settings }: { session: Session; settings: PageSettings }) {
  useSession(session);
  // A reload keeps the filter. The next visit begins with all items, so that nobody misses those that a filter hides.
  const [filter, setFilter] = useKept(sessionStorage, "todoitems-filter", filters);
  const [search, setSearch] = useState("");
  // The IDs of the items that the user added, saved or brought back since the filter or the search last changed. These
  // items are always shown.
  const [addedIds, setAddedIds] = useState<readonly string[]>([]);
  const [keptDoneLast, setDoneLast] = useKept(localStorage, "todoitems-done-last", ["false", "true"]);
  const doneLast = keptDoneLast === "true";
  const [opened, setOpened] = useState<"connect" | "shortcuts">();
  const [username, setUsername] = useState("");
  const [decidingId, setDecidingId] = useState<string>();
  const composer = useRef<HTMLInputElement>(null);
  const searchBox = useRef<HTMLInputElement>(null);
  const { items, list, signIn, actions, undo, decisions } = session;
  const { loaded } = list;
  const edited = useEdited(items, loaded);

  const { shown, counts, clearable } = useMemo(
    () => viewList(items, { filter, search, doneLast, editedIds: edited.ids, addedIds: new Set(addedIds) }),
    [items, filter, search, doneLast, edited.ids, addedIds],
  );
  const rows = edited.withMissing(shown);
  const { focusId } = session;
  const isHidden = ({ id }: ShownItem) => id === focusId && !rows.some((row) => row.id === id);
  const hidesFocused = focusId !== undefined && items.some(isHidden);
  useLayoutEffect(() => {
    if (hidesFocused) setAddedIds([...addedIds, focusId]);
  }, [hidesFocused]);
  // The ID of the item that is being edited. If there are several, it is the item whose editor was opened last.
  const editedId = useRef<string | undefined>(undefined);
  editedId.current = [...edited.ids].at(-1);

  const conflicts = items.filter(({ conflict }) => conflict);
  const conflictIds = conflicts.map(({ id }) => id).join();
  // A conflict can be found at any time. A dialog that opened by itself would take the focus from somebody who is
  // typing. So a message appears, with a button that opens the dialog.
  useEffect(() => {
    const [first] = conflicts;
    if (!first) return undefined;
    const action = { label: "Decide", run: () => setDecidingId(first.id) };
    const key = session.notices.add("problem", conflictText(first, conflicts.length), action);
    return () => session.notices.close(key);
  }, [conflictIds]);
  const deciding = conflicts.find(({ id }) => id === decidingId);

  const isEmpty = loaded && items.length === 0;
  useEffect(() => {
    if (isEmpty && document.activeElement === document.body) composer.current?.focus({ preventScroll: true });
  }, [isEmpty]);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
      const field = [composer.current, searchBox.current].find((one) => one === event.target);
      if (event.ctrlKey || event.metaKey) {
        const isInEditor = !field && isTyping(event.target);
        const isForField = field ? canUndoIn(field) : isInEditor && canUndoInEditor(event.target);
        // With Caps Lock on, the key is "Z".
        if (event.key.toLowerCase() !== "z" || event.shiftKey || isForField) return;
        // Somebody who types in an editor does not expect Ctrl+Z to undo something elsewhere.
        if (!isInEditor) undo.undoNewest();
        event.preventDefault();
        return;
      }
      if (field && event.key === "ArrowDown") {
        rowBelow(field)?.focus();
        event.preventDefault();
      }
      if (isTyping(event.target)) return;
      // A click beside the fields of an editor takes the focus from them. Then Escape still closes the editor, and no
      // single key is a shortcut.
      const editor = editorOf(editedId.current);
      if (editor && event.target === document.body) {
        if (event.key === "Escape") editor.reset();
        return;
      }
      const isNew = event.key.toLowerCase() === "n" && !event.shiftKey;
      const target = event.key === "/" ? searchBox.current : isNew ? composer.current : undefined;
      if (event.key === "?") setOpened("shortcuts");
      else if (!target) return;
      event.preventDefault();
      target?.focus();
    };
    addEventListener("keydown", onKey);
    addEventListener("beforeinput", noteText);
    addEventListener("input", noteChange);
    return () => {
      removeEventListener("keydown", onKey);
      removeEventListener("beforeinput", noteText);
      removeEventListener("input", noteChange);
    };
  }, []);

  useEffect(
    () =>
      keepFocus(() => {
        const field = composer.current ?? undefined;
        // While the list is not known, the sign-in form may be about to open. The form does not open while a text field
        // has the focus, so do not give the focus to the composer then.
        return (field && rowBelow(field)) ?? (list.loaded ? field : undefined);
      }),
    [],
  );

  useEffect(() => setAddedIds([]), [filter, search]);
  const add = (entries: readonly NewEntry[]) => {
    setAddedIds([...addedIds, ...actions.add(...entries)]);
    // The new item comes first in the list. Scroll there, whatever the user was looking at. The browser would report
    // the scrolling only after the list is drawn again, and the list would scroll back to keep the same rows in sight.
    // So report the scrolling at once.
    scrollTo(0, 0);
    dispatchEvent(new Event("scroll"));
  };
  const save = (base: ShownItem, json: string) => {
    if (edited.isGone(base.id)) actions.addAgain(base.id, json);
    else actions.save(base, json);
    // The new text may no longer fit the search. An item that the user has just saved stays in sight.
    setAddedIds([...addedIds, base.id]);
  };
  // If the user closes an editor without saving, a message offers to continue with the draft. Opening the item itself
  // shows the stored text, because the user has cancelled the change. The offer ends when the item is saved, so no
  // second text can conflict with the saved one.
  const offerDraft = (draft: Draft) =>
    undo.offerDraft(draft.base, () => {
      // If the editor is open again, the draft takes its place. What was typed there is then offered in turn.
      editorOf(draft.base.id)?.reset();
      edited.open(draft.base, draft);
    });

  return (
    <>
      <Header
        session={session}
        settings={settings}
        onOpen={setOpened}
        onSignOut={() => {
          // The next user may be somebody else.
          setUsername("");
          signIn.signOut();
        }}
      />
      <main data-loaded={loaded}>
        <Banners session={session} />
        <Composer
          inputRef={composer}
          onAdd={add}
          isOffline={list.connection === "lost" && list.refusal === undefined}
        />
        <Toolbar
          filter={filter}
          onFilter={setFilter}
          search={search}
          onSearch={setSearch}
          searchRef={searchBox}
          counts={loaded ? counts : undefined}
          doneLast={doneLast}
          onDoneLast={(isLast) => setDoneLast(isLast ? "true" : "false")}
          clearableCount={clearable.length}
          onClearDone={() => actions.remove(...clearable)}
        />
        <ItemRows
          items={rows}
          emptyText={loaded ? emptyText(session, filter, search) : undefined}
          onSignIn={list.connection === "signed-out" ? () => signIn.openForm() : undefined}
          edited={edited}
          onEdit={(item) => edited.open(item)}
          onDone={(item, isDone) => {
            const hides = filter !== "all" && isDone === (filter === "open");
            if (hides) setAddedIds(addedIds.filter((id) => id !== item.id));
            actions.setDone(item, isDone, hides);
          }}
          onSave={save}
          onCancel={offerDraft}
          onDelete={(item) => actions.remove(item)}
          onDiscard={(item) => decisions.discardRefused(item.id)}
          onDecide={(item) => setDecidingId(item.id)}
          focusId={() => (hidesFocused ? undefined : session.focusId)}
          onFocused={() => session.hasFocused()}
          onNowhere={() => composer.current?.focus()}
        />
      </main>
      <Notices notices={session.notices} />
      {signIn.form && (
        <SignInDialog
          signIn={signIn}
          form={signIn.form}
          username={username}
          onUsername={setUsername}
          nextFocus={composer}
        />
      )}
      {!signIn.form && deciding && (
        <ConflictDialog
          key={deciding.id}
          item={deciding}
          count={conflicts.length}
          onDecide={(which) => {
            decisions.decide(deciding.id, which);
            setDecidingId(conflicts.find(({ id }) => id !== deciding.id)?.id);
          }}
          onLater={() => {
            session.focusId = deciding.id;
            setDecidingId(undefined);
          }}
        />
      )}
      {opened === "connect" && (
        <ConnectPanel session={session} settings={settings} onClose={() => setOpened(undefined)} />
      )}
      {opened === "shortcuts" && <ShortcutsDialog onClose={() => setOpened(undefined)} />}
    </>
  );
}

/** The open editor of this item. Resetting the form cancels the edit. */
function editorOf(id: string | undefined): HTMLFormElement | null {
  return document.querySelector(`[data-id="${id}"] form`);
}

function conflictText({ conflict, fields }: ShownItem, count: number): string {
  if (count > 1) return `${count} of your changes need a decision.`;
  return `Your ${conflict?.deletes ? "deletion" : "change"} of ${named(fields)} needs a decision.`;
}

function emptyText(
  { items, list }: Session,
  filter: Filter,
  search: string,
): { readonly title: string; readonly hint: string } {
  if (items.length === 0 && list.readOnly)
    return {
      title: "The list is empty",
      hint: "This service is read-only. It accepts new items, but does not keep them.",
    };
  if (items.length === 0)
    return {
      title: "Nothing to do",
      hint: "Type above and press Enter. Items that your app creates appear here at once.",
    };
  if (search.trim() !== "")
    return {
      title: "Nothing found",
      hint: `No ${filter === "all" ? "" : `${filter} `}item contains “${search.trim()}”.`,
    };
  return filter === "done"
    ? { title: "Nothing done yet", hint: "Items you tick are listed here." }
    : { title: "All done", hint: "Every item is ticked." };
}
