// The items of a demonstration instance: three of them, with the fields that the tutorial's clients know.

export const sampleItems = JSON.stringify([
  {
    ID: "6bb8a868-dba1-4f1a-93b7-24ebce87e243",
    Name: "Point an app at this service",
    Notes: "List, create, update and delete under /api/todoitems/",
    Done: true,
  },
  {
    ID: "b94afb54-a1cb-4313-8af3-b7511551b33b",
    Name: "Send a change of this item",
    Notes: "A demonstration checks and answers every request, and keeps no change",
    Done: false,
  },
  {
    ID: "ecfa6f80-3671-4911-aabe-63cc442c1ecf",
    Name: "Start a writable instance",
    Notes: "npm start, without --demo",
    Done: false,
  },
]);
