// Sends requests for each described operation over a real connection. Collects the statuses and the problem codes of
// the responses, and the texts of the problems.

import { completeDescription, type Operation } from "../../src/description/api-description.ts";
import { RawConnection } from "../http/raw-connection.ts";
import { ids, item } from "../service.ts";
import { differences } from "./described-answers.ts";

export interface DescribedOperation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly hasBody: boolean;
  readonly responses: Operation["responses"];
}

/** What a test changes in a valid request, to get a different answer. */
export interface RequestChanges {
  readonly path?: string;
  readonly version?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body. Each character stands for one byte. */
  readonly body?: string;
  /** False if the request stays incomplete. */
  readonly ends?: boolean;
}

export const operations: readonly DescribedOperation[] = Object.entries(completeDescription.paths).flatMap(
  ([path, pathItem]) =>
    Object.entries(pathItem).map(([method, { operationId, responses }]) => ({
      operationId,
      method: method.toUpperCase(),
      path: path.replace("{id}", ids.one),
      hasBody: ["post", "put"].includes(method),
      responses,
    })),
);

export class ProvokedAnswers {
  /** What was seen: `operation status`. */
  readonly seen = new Set<string>();
  /** The `detail` texts of each problem, by its code. */
  readonly details = new Map<string, Set<string>>();

  async send(port: number, operation: DescribedOperation, changes: RequestChanges = {}): Promise<number> {
    const connection = await RawConnection.open(port);
    connection.send(requestText(operation, changes));
    const isFeed = operation.operationId === "followChanges";
    const text = await (isFeed ? connection.until(/^HTTP\/1\.1 200[\s\S]*\r\n\r\n/) : connection.untilClosed());
    connection.close();
    return this.#note(operation, text);
  }

  #note({ operationId, method, path }: DescribedOperation, text: string): number {
    const [head = "", body = ""] = text.split("\r\n\r\n");
    const [statusLine = "", ...lines] = head.split("\r\n");
    const status = Number(statusLine.split(" ")[1]);
    const fields = lines.map((line): [string, string] => [
      line.slice(0, line.indexOf(":")),
      line.slice(line.indexOf(":") + 1),
    ]);
    const headers = new Headers(fields);
    const isStream = headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    const found = differences(completeDescription, {
      method,
      path,
      status,
      headers,
      body: isStream ? undefined : body,
    });
    if (found.length > 0) throw new Error(found.join("\n"));
    this.seen.add(`${operationId} ${status}`);
    if (headers.get("content-type") === "application/problem+json") {
      const { code, detail } = JSON.parse(body) as { code: string; detail: string };
      this.details.set(code, (this.details.get(code) ?? new Set()).add(detail));
    }
    return status;
  }
}

function requestText(operation: DescribedOperation, changes: RequestChanges): string {
  const { method, hasBody } = operation;
  const { path = operation.path, version = "HTTP/1.1", ends = true } = changes;
  const body = changes.body ?? (hasBody ? item(ids.one) : "");
  const headers = {
    Host: "localhost",
    ...(body === "" ? {} : { "Content-Type": "application/json", "Content-Length": String(body.length) }),
    Connection: "close",
    ...changes.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} ${version}\r\n${lines.join("")}${ends ? `\r\n${body}` : ""}`;
}
