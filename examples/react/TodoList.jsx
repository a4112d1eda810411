import { memo, useSyncExternalStore } from "react";
import { TodoClient } from "todoitems-client";
import { OfflineList } from "todoitems-client/offline";

const list = new OfflineList(new TodoClient("http://localhost:5000/"), { storage: () => localStorage });

export function TodoList() {
  const { items, status } = useSyncExternalStore(list.subscribe, list.getSnapshot, list.getSnapshot);
  if (status.connection.kind === "failed") return <p role="alert">{String(status.connection.error)}</p>;
  if (!status.loaded) return <p>Loading …</p>;
  return (
    <>
      {status.connection.kind === "lost" && <p role="status">You are offline. Your changes are kept.</p>}
      <ul>{items.map(({ id, item }) => <Row key={id} id={id} item={item} />)}</ul>
    </>
  );
}

// A row is drawn again only if its item has changed.
const Row = memo(function Row({ id, item }) {
  const setDone = (done) => list.change(id, (current) => ({ ...current, Done: done }));
  return (
    <li>
      <label>
        <input type="checkbox" checked={item.Done ?? false} onChange={(event) => setDone(event.currentTarget.checked)} />
        {item.Name}
      </label>
    </li>
  );
});
