// Leads to another list, or to a new one. A list has an address of its own, and exists while it has an item.

import { useEffect, useId, useState } from "preact/hooks";
import { listTitle, pageOf } from "./addresses.ts";
import { Dialog } from "./dialog.tsx";
import { usePage } from "./page-context.ts";

const shownMax = 100;

export function ListsDialog() {
  const { session, open } = usePage();
  const ruleId = useId();
  const [names, setNames] = useState<readonly string[]>();
  const [isAway, setIsAway] = useState(false);
  const [typed, setTyped] = useState("");
  useEffect(() => {
    session.listNames().then(setNames, async () => {
      setIsAway(true);
      setNames(await session.keptNames());
    });
  }, []);
  const all = ["", ...(names ?? []).filter((name) => name !== "")];
  const found = all.filter((name) => listTitle(name).toLowerCase().includes(typed.toLowerCase()));
  const goTo = (name: string) => {
    open();
    session.goTo(name);
  };
  return (
    <Dialog title="Lists" kind="lists">
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          goTo(typed);
        }}
      >
        <label>
          Name of a list
          <span class="value">
            <input
              value={typed}
              onInput={({ currentTarget: { value } }) => setTyped(value)}
              pattern="(?!(a|A)(p|P)(i|I)$)[A-Za-z0-9][A-Za-z0-9._\-]{0,63}"
              aria-describedby={ruleId}
              required
              autocapitalize="none"
              autocomplete="off"
              data-control="list-name"
            />
            <button type="submit" class="primary">
              {isAway || (typed !== "" && names?.includes(typed)) ? "Open" : "New list"}
            </button>
          </span>
        </label>
        <p id={ruleId} class="hint">
          Up to 64 letters, digits, dots, hyphens and underscores, with a letter or a digit first. A new list is stored
          with its first item.
        </p>
        <p class="hint" role="status">
          {isAway && "The names of other lists cannot be loaded, because the service cannot be reached."}
        </p>
      </form>
      <ul class="links">
        {found.slice(0, shownMax).map((name) => (
          <li key={name}>
            <a
              href={pageOf(name, session.settings.root)}
              class="one-line"
              aria-current={name === session.address.name ? "page" : undefined}
              onClick={(event) => {
                // The browser itself opens a link in another tab or window.
                if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
                event.preventDefault();
                goTo(name);
              }}
            >
              {listTitle(name)}
            </a>
          </li>
        ))}
      </ul>
      {found.length > shownMax && (
        <p class="hint">{(found.length - shownMax).toLocaleString("en")} more. Type a part of the name to find one.</p>
      )}
    </Dialog>
  );
}
