// A live list fills the cache of a query, so nothing is refetched.

import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { TodoClient } from "todoitems-client";

const todo = new TodoClient("http://localhost:5000/");
const list = todo.liveList();
const queryKey = ["todoitems"];

export function useTodoItems() {
  const queries = useQueryClient();
  useEffect(() => list.subscribe(() => publish(queries)), [queries]);
  return useQuery({ queryKey, queryFn: ({ signal }) => todo.list({ signal }), staleTime: Number.POSITIVE_INFINITY });
}

function publish(queries: QueryClient) {
  const { items, status } = list.getSnapshot();
  if (status.loaded)
    queries.setQueryData(
      queryKey,
      items.map(({ item }) => item),
    );
}
