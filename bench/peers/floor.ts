// The least work that a server can do: a bare Bun.listen that sends the same prepared bytes for each request. In a
// request, it looks only for the end of the head and for "Connection: close". With a certificate it speaks TLS.
// Usage: bun floor.ts PORT FILE-OF-THE-BODY [CERTIFICATE KEY]

const [port, file = "", cert, key] = process.argv.slice(2);
const body = await Bun.file(file).bytes();
const coding = file.endsWith(".gz") ? "Content-Encoding: gzip\r\n" : "";
const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\n${coding}Cache-Control: no-cache\r\nContent-Length: ${body.length}\r\n`;
const answer = Buffer.concat([Buffer.from(`${head}\r\n`), body]);
const lastAnswer = Buffer.concat([Buffer.from(`${head}Connection: close\r\n\r\n`), body]);

interface Sending {
  bytes: Buffer;
  sent: number;
}

function send(socket: Bun.Socket<Sending>): void {
  const { bytes, sent } = socket.data;
  socket.data.sent += Math.max(0, socket.write(bytes, sent, bytes.length - sent));
  if (socket.data.sent === bytes.length && bytes === lastAnswer) socket.end();
}

Bun.listen<Sending>({
  hostname: "127.0.0.1",
  port: Number(port),
  ...(cert && key ? { tls: { cert: Bun.file(cert), key: Bun.file(key) } } : {}),
  socket: {
    open: (socket) => {
      socket.data = { bytes: answer, sent: answer.length };
    },
    data: (socket, request) => {
      if (request.indexOf("\r\n\r\n") === -1) return;
      socket.data = { bytes: request.includes("Connection: close") ? lastAnswer : answer, sent: 0 };
      send(socket);
    },
    drain: (socket) => {
      if (socket.data.sent < socket.data.bytes.length) send(socket);
    },
    close() {},
    error() {},
  },
});
console.log("ready");
