// Says which problems an operation can answer with, and gives an example of each.

import { problemType } from "../http/problem.ts";
import { type ProblemCode, problemCodes, problems } from "../http/problem-table.ts";
import type { DescribedInstance } from "./described-instance.ts";
import { headerRefs, type Part, schemaRef } from "./document.ts";
import { exampleId, exampleItem, spelled } from "./examples.ts";

/**
 * Facts about an operation. They decide which problems its description lists, with which headers and which examples.
 */
interface ProblemContext {
  readonly needsCredentials: boolean;
  readonly writes?: boolean;
  readonly isList?: boolean;
  readonly isDelete?: boolean;
}

/** Every operation can answer with these problems. */
const anywhere: readonly ProblemCode[] = [
  "InvalidRequest",
  "RequestTimeout",
  "BodyTooLarge",
  "TargetTooLong",
  "HeadersTooLarge",
  "InternalError",
  "Overloaded",
  "HttpVersionNotSupported",
];

const headersOfStatus: Readonly<Record<number, readonly string[]>> = {
  401: ["WWW-Authenticate"],
  412: ["ETag"],
  429: ["Retry-After"],
  503: ["Retry-After"],
};

/** Every problem code with its status, an explanation, and an example of `detail`. /docs shows this table. */
export function problemTable(instance: DescribedInstance): Part {
  const context = { needsCredentials: true, writes: true };
  return Object.fromEntries(
    problemCodes.map((code) => {
      const { status, when } = problems[code];
      return [code, { status, when, detail: detailOf(instance, code, context) }];
    }),
  );
}

/** The responses for the problems of one operation, by status. Each response has one example for each problem code. */
export function problemResponses(
  instance: DescribedInstance,
  codes: readonly ProblemCode[],
  context: ProblemContext,
): Record<string, Part> {
  const { needsCredentials } = context;
  const all = new Set<ProblemCode>([...anywhere, ...codes]);
  if (needsCredentials) all.add("CredentialsRequired");
  if (needsCredentials || instance.rateLimitPerSecond !== undefined) all.add("TooManyRequests");
  if (instance.checksHosts) all.add("HostNotAllowed");
  if (instance.requiredFields.length === 0) all.delete("FieldRequired");
  if (instance.storeBytesMax === undefined) all.delete("StoreFull");
  const byStatus = Map.groupBy([...all].sort(), (code) => problems[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [String(status), problemResponse(instance, status, codes, context)]),
  );
}

function problemResponse(
  instance: DescribedInstance,
  status: number,
  codes: readonly ProblemCode[],
  context: ProblemContext,
): Part {
  const hasCurrent = codes.includes("PreconditionFailed");
  const compressed = hasCurrent ? ["Vary", "Content-Encoding"] : [];
  const id = status >= 500 ? ["X-Request-Id"] : [];
  const headers = [...(headersOfStatus[status] ?? []), ...compressed, ...id];
  return {
    description: codes.map((code) => `\`${code}\`: ${problems[code].when}`).join("\n\n"),
    ...(headers.length === 0 ? {} : { headers: headerRefs(...headers) }),
    content: {
      "application/problem+json": {
        schema: schemaRef(hasCurrent ? "PreconditionFailedProblem" : "Problem"),
        examples: Object.fromEntries(
          codes.map((code) => [code, { summary: problems[code].when, value: exampleProblem(instance, code, context) }]),
        ),
      },
    },
  };
}

function exampleProblem(instance: DescribedInstance, code: ProblemCode, context: ProblemContext): unknown {
  const { status, title } = problems[code];
  const detail = detailOf(instance, code, context);
  const document = { type: problemType(code), title, status, detail, code };
  const hasCurrent = code === "PreconditionFailed" && !context.isList;
  return hasCurrent ? { ...document, current: exampleItem(instance.fieldNames, { Done: true }) } : document;
}

function detailOf(instance: DescribedInstance, code: ProblemCode, context: ProblemContext): string {
  const { detail } = problems[code];
  if (typeof detail === "string") return detail;
  const { bodyBytesMax, headerBytesMax, requiredFields, fieldNames } = instance;
  const { writes = false, isList = false, isDelete = false } = context;
  return detail({
    id: exampleId,
    host: "app.example",
    method: "PATCH",
    allowed: ["GET", "POST", "PUT"],
    waitSeconds: 1,
    bodyBytesMax,
    headerBytesMax,
    requiredField: requiredFields[0] ?? "Name",
    idField: spelled("ID", fieldNames),
    writes,
    isList,
    isDelete,
  });
}
