// Whole programs for React and Expo that work offline, for "Connect your app". They are those of docs/client.md, with the
// address of this service.

import type { CodeSample } from "../description/code-samples.ts";
import type { PageSettings } from "./page-settings.ts";

/** `address` ends with a slash. */
export function appSamples(address: string, { form, auth }: Pick<PageSettings, "form" | "auth">): CodeSample[] {
  const needed = [
    ...(form === "a" ? ['form: "a"'] : []),
    ...(auth === "off" ? [] : ['credentials: { username: "NAME", password: "PASSWORD" }']),
  ];
  const client = (...options: readonly string[]) => {
    const all = [...options, ...needed].join(", ");
    return `new TodoClient("${address}"${all === "" ? "" : `, { ${all} }`})`;
  };
  return [
    { language: "React", parts: [{ label: "A list that works offline", code: react(client()) }] },
    { language: "Expo", parts: [{ label: "App.tsx", code: expo(client("fetch")) }] },
  ];
}

function react(client: string): string {
  return `import { memo, useSyncExternalStore } from "react";
import { TodoClient, type TodoItem } from "todoitems-client";
import { OfflineList } from "todoitems-client/offline";

const list = new OfflineList(${client}, { storage: () => localStorage });

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
const Row = memo(function Row({ id, item }: { id: string; item: TodoItem }) {
  const setDone = (done: boolean) => list.change(id, (current) => ({ ...current, Done: done }));
  return (
    <li>
      <label>
        <input type="checkbox" checked={item.Done ?? false} onChange={(event) => setDone(event.currentTarget.checked)} />
        {item.Name}
      </label>
    </li>
  );
});`;
}

function expo(client: string): string {
  return `import "react-native-get-random-values";
import AsyncStorage from "@react-native-async-storage/async-storage";
import { fetch } from "expo/fetch";
import { useEffect, useState, useSyncExternalStore } from "react";
import { AppState, FlatList, SafeAreaView, Switch, Text, TextInput, View } from "react-native";
import { TodoClient } from "todoitems-client";
import { OfflineList } from "todoitems-client/offline";

const client = ${client};
const list = new OfflineList(client, { storage: AsyncStorage, name: "ann" });

export default function App() {
  const { items, pending, status } = useSyncExternalStore(list.subscribe, list.getSnapshot, list.getSnapshot);
  const [name, setName] = useState("");
  useEffect(() => {
    const subscription = AppState.addEventListener("change", (state) => state === "active" && list.retry());
    return () => subscription.remove();
  }, []);
  const add = async () => {
    await list.add({ Name: name, Done: false });
    setName("");
  };
  return (
    <SafeAreaView>
      <Text>{status.connection.kind === "lost" ? \`Offline, \${pending.length} edits wait\` : "Connected"}</Text>
      <TextInput value={name} onChangeText={setName} onSubmitEditing={add} placeholder="What is to be done?" />
      <FlatList
        data={items}
        keyExtractor={({ id }) => id}
        renderItem={({ item: { id, item } }) => (
          <View>
            <Switch
              value={item.Done ?? false}
              onValueChange={(done) => list.change(id, (current) => ({ ...current, Done: done }))}
            />
            <Text onLongPress={() => list.remove(id)}>{item.Name}</Text>
          </View>
        )}
      />
    </SafeAreaView>
  );
}`;
}
