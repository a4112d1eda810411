import { describe, expect, test } from "bun:test";
import type { Change, News } from "../../src/collection/engine.ts";
import { ItemList } from "../../src/collection/item-list.ts";
import { Replica } from "../../src/collection/replica.ts";
import { listText } from "./list-text.ts";

const created = (version: number): Change => ({
  version,
  position: version,
  id: `id-${version}`,
  json: `{"n":${version}}`,
});
const news = (changes: Iterable<Change>, version: number, rest: Partial<News> = {}): News => ({
  epoch: "e",
  version,
  whole: false,
  changes,
  ...rest,
});

function replicaAtTwo(): Replica {
  const replica = new Replica(new ItemList("as-sent"));
  replica.take(news([created(1), created(2)], 2, { whole: true }));
  return replica;
}

const text = ({ list }: Replica) => listText(list.pieces());

describe("a replica", () => {
  test("skips changes that it has already taken", () => {
    const replica = replicaAtTwo();
    replica.take(news([{ ...created(2), json: '{"n":"again"}' }, created(3)], 3));
    expect(text(replica)).toBe('[{"n":1},{"n":2},{"n":3}]');
    replica.take(news([created(1)], 1));
    expect(replica.bookmark).toEqual({ epoch: "e", version: 3 });
  });

  test("goes back to a lower version only if it takes a whole store", () => {
    const replica = replicaAtTwo();
    replica.take(news([created(1)], 1, { whole: true, epoch: "f" }));
    expect(replica.bookmark).toEqual({ epoch: "f", version: 1 });
    expect(text(replica)).toBe('[{"n":1}]');
  });

  test("stays as it was if a whole store cannot be read to the end", () => {
    const replica = replicaAtTwo();
    function* broken(): Generator<Change> {
      yield created(9);
      throw new Error("the disk reported an error");
    }
    expect(() => replica.take(news(broken(), 9, { whole: true, epoch: "f" }))).toThrow("the disk");
    expect(replica.bookmark).toEqual({ epoch: "e", version: 2 });
    expect(text(replica)).toBe('[{"n":1},{"n":2}]');
  });
});

describe("a watcher", () => {
  test("is notified of each change once, when the list already shows it", () => {
    const replica = replicaAtTwo();
    const seen: unknown[] = [];
    const unwatch = replica.watch(({ version, changes }) =>
      seen.push([version, replica.bookmark.version, [...changes].length, text(replica)]),
    );
    replica.take(news([created(2), created(3)], 3));
    replica.take(news([created(3)], 3));
    expect(seen).toEqual([[3, 3, 1, '[{"n":1},{"n":2},{"n":3}]']]);
    unwatch();
    replica.take(news([created(4)], 4));
    expect(seen).toHaveLength(1);
  });

  test("is notified that the whole list was replaced, but not of each change", () => {
    const replica = replicaAtTwo();
    const seen: News[] = [];
    replica.watch((each) => seen.push(each));
    replica.take(news([created(1)], 1, { whole: true, epoch: "f" }));
    expect(seen).toEqual([{ epoch: "f", version: 1, whole: true, changes: [] }]);
  });
});
