// TanStack Query over the client, refetching every five seconds. A list that works offline needs no query: use OfflineList.

import { QueryClient, QueryClientProvider, useMutation, useQuery } from "@tanstack/react-query";
import { TodoClient } from "todoitems-client";

const todo = new TodoClient("http://localhost:5000/");
const queryKey = ["todoitems"];
const queries = new QueryClient();

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <TodoList />
    </QueryClientProvider>
  );
}

function TodoList() {
  const {
    data = [],
    isPending,
    error,
  } = useQuery({
    queryKey,
    queryFn: ({ signal }) => todo.list({ signal }),
    refetchInterval: 5_000,
  });
  const setDone = useMutation({
    mutationFn: ({ id, done }: { id: string; done: boolean }) => todo.change(id, (item) => ({ ...item, Done: done })),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  if (error) return <p role="alert">{error.message}</p>;
  if (isPending) return <p>Loading …</p>;
  return (
    <ul>
      {data.map(({ ID, Name, Done }) => (
        <li key={ID}>
          <label>
            <input
              type="checkbox"
              checked={Done ?? false}
              onChange={(event) => setDone.mutate({ id: ID, done: event.target.checked })}
            />
            {Name}
          </label>
        </li>
      ))}
    </ul>
  );
}
