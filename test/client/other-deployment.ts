// A small server like those that other people run for the same clients. It answers a create with 200 and sends its
// errors as plain text. It has no ETags, no request for one item and no change feed, and it offers only one form of the
// paths.

export interface OtherDeployment {
  readonly origin: string;
  stop(): Promise<void>;
}

export function startOtherDeployment(form: "a" | "b"): OtherDeployment {
  const items = new Map<string, Record<string, unknown>>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    development: false,
    async fetch(request) {
      if (request.method === "OPTIONS") return answer(204, null);
      const [, , collection, id] = new URL(request.url).pathname.split("/");
      if (collection !== "todoitems") return answer(404, "Not Found");
      const expectsPath = request.method === "DELETE" || (form === "a" && request.method !== "GET");
      if (expectsPath !== Boolean(id)) return answer(404, "No HTTP resource was found that matches the request URI.");
      if (request.method === "GET") return answer(200, JSON.stringify([...items.values()]), "application/json");
      if (request.method === "DELETE")
        return items.delete((id ?? "").toLowerCase()) ? answer(204, null) : answer(404, "Record not found");
      const item = (await request.json()) as { ID: string };
      const exists = items.has(item.ID.toLowerCase());
      if (request.method === "POST" && exists) return answer(409, "TodoItem ID in use");
      if (request.method === "PUT" && !exists) return answer(404, "Record not found");
      items.set(item.ID.toLowerCase(), { ...item });
      return request.method === "POST" ? answer(200, JSON.stringify(item), "application/json") : answer(204, null);
    },
  });
  return { origin: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

function answer(status: number, body: string | null, type = "text/plain"): Response {
  return new Response(body, {
    status,
    headers: {
      ...(body === null ? {} : { "Content-Type": type }),
      "Access-Control-Allow-Origin": "*",
      "Access-Control-Allow-Methods": "GET, POST, PUT, DELETE",
      "Access-Control-Allow-Headers": "Authorization, Content-Type, If-Match, If-None-Match",
    },
  });
}
