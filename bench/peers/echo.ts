// The upper limit for requests with a body: a bare Bun.serve that reads the body and sends it back.
// Usage: bun echo.ts PORT

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.argv[2]),
  development: false,
  reusePort: false,
  fetch: async (request) =>
    new Response(await request.bytes(), {
      status: 201,
      headers: { "Content-Type": "application/json; charset=utf-8", ETag: '"1"', Location: "/api/todoitems/1" },
    }),
});
console.log("ready");
