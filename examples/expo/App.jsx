import "react-native-get-random-values";
import AsyncStorage from "@react-native-async-storage/async-storage";
import { fetch } from "expo/fetch";
import { useEffect, useState, useSyncExternalStore } from "react";
import { AppState, FlatList, SafeAreaView, Switch, Text, TextInput, View } from "react-native";
import { TodoClient } from "todoitems-client";
import { OfflineList } from "todoitems-client/offline";

const client = new TodoClient("http://192.168.1.20:5000/", { fetch });
const list = new OfflineList(client, { storage: AsyncStorage });

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
      <Text>{status.connection.kind === "live" ? "Connected" : `Not connected, ${pending.length} edits wait`}</Text>
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
}
