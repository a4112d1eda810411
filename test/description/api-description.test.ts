// Tests the API's description: it is complete, it follows the instance's settings, and the file in the repository is
// current. Also tests what is made from the description: YAML, the variant for OpenAPI 3.0, and the files that an
// instance serves.

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defaultDescriptionText } from "../../scripts/default-description.ts";
import { describeApi } from "../../src/description/api-description.ts";
import type { DescribedInstance } from "../../src/description/described-instance.ts";
import { DescriptionFiles } from "../../src/description/description-files.ts";
import type { ApiDescription, Operation, Part } from "../../src/description/document.ts";
import { asOpenApi30 } from "../../src/description/openapi-30.ts";
import { writeYaml } from "../../src/description/yaml.ts";
import { problemCodes } from "../../src/http/problem-table.ts";
import type { HttpRequest } from "../../src/wire/message.ts";
import { projectFolder } from "../program.ts";
import { mismatches } from "./schema.ts";

const instance: DescribedInstance = {
  version: "1.2.3",
  forms: "both",
  fieldNames: "as-sent",
  requiredFields: [],
  auth: "off",
  readOnly: false,
  hasAuthority: false,
  checksHosts: true,
  rateLimitPerSecond: undefined,
  bodyBytesMax: 1_000,
  headerBytesMax: 2_000,
  storeBytesMax: 1_000_000,
};
const describeWith = (changes: Partial<DescribedInstance> = {}) => describeApi({ ...instance, ...changes }, "/");

/** Every object in a value, with the path to it. */
function* partsOf(value: unknown, path = "#"): Generator<[string, Part]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield [path, value as Part];
  for (const [name, member] of Object.entries(value)) yield* partsOf(member, `${path}/${name}`);
}

function refsOf(value: unknown): string[] {
  return [...partsOf(value)].map(([, part]) => part["$ref"]).filter((ref) => typeof ref === "string");
}

function operationsOf(description: ApiDescription): Operation[] {
  return Object.values(description.paths).flatMap((pathItem) => Object.values(pathItem));
}

function parametersOf({ components }: ApiDescription, operation: Operation): Part[] {
  const refs = (operation["parameters"] ?? []) as { readonly $ref: string }[];
  return refs.map(({ $ref }) => components["parameters"]?.[$ref.split("/").at(-1) ?? ""] as Part);
}

/** The names of the examples of a request body or an answer. */
function examplesOf(part: Part = {}): string[] {
  const contents = Object.values((part["content"] ?? {}) as Part) as Part[];
  return contents.flatMap((content) => Object.keys((content["examples"] ?? {}) as Part));
}

describe("the description", () => {
  test("openapi.yaml in the repository is what `npm run describe` writes", () => {
    expect(readFileSync(join(projectFolder, "openapi.yaml"), "utf8")).toBe(defaultDescriptionText());
  });

  test("every reference leads to a part of the document", () => {
    const description = describeWith();
    for (const ref of refsOf(description)) {
      const found = ref
        .slice(2)
        .split("/")
        .reduce<unknown>((part, name) => (part as Part)[name], description);
      expect(found, ref).toBeDefined();
    }
  });

  test("every example of a body fits its schema", () => {
    for (const fieldNames of ["as-sent", "pascal", "camel"] as const) {
      const description = describeWith({ fieldNames, auth: "all", rateLimitPerSecond: 1 });
      const { schemas } = description.components;
      let count = 0;
      for (const [path, part] of partsOf(description.paths)) {
        if (part["schema"] === undefined || part["examples"] === undefined || part["name"] !== undefined) continue;
        for (const example of Object.values(part["examples"] as Part)) {
          expect(mismatches(part["schema"] as Part, (example as Part)["value"], schemas), path).toEqual([]);
          count++;
        }
      }
      expect(count).toBeGreaterThan(100);
    }
  });

  test("for every example of an answer, the request has an example of the same name", () => {
    for (const forms of ["both", "a", "b"] as const) {
      const description = describeWith({ forms });
      for (const operation of operationsOf(description)) {
        const needed = parametersOf(description, operation).filter((parameter) => parameter["required"] === true);
        const body = operation["requestBody"];
        for (const name of examplesOf(operation.responses["200"] ?? operation.responses["201"])) {
          for (const { examples } of needed)
            expect(Object.keys(examples as Part), operation.operationId).toContain(name);
          if (body) expect(examplesOf(body as Part), operation.operationId).toContain(name);
        }
      }
    }
  });

  test("every header of an answer has an example", () => {
    const { headers = {} } = describeWith().components;
    for (const [name, part] of Object.entries(headers)) expect((part as Part)["example"], name).toBeDefined();
  });

  // Tools such as Postman, Bruno and Swagger UI send every example and every default.
  test("no example and no default of a header or of a body makes a request fail", () => {
    const description = describeWith();
    const { parameters = {} } = description.components;
    const values = Object.values(parameters).flatMap((part) => {
      const { name, in: place, schema, examples = {} } = part as Part;
      const all = [
        (schema as Part)["default"],
        ...Object.values(examples as Part).map((example) => (example as Part)["value"]),
      ];
      return place === "header" ? all.filter((value) => value !== undefined).map((value) => [name, value]) : [];
    });
    expect(values).toEqual([
      ["If-Match", "*"],
      ["If-Match", "*"],
      ["Last-Event-ID", expect.any(String)],
    ]);
    expect(examplesOf(description.paths["/api/todoitems/{id}"]?.["delete"]?.["requestBody"] as Part)).toEqual([]);
  });

  test("links name operations that the instance offers, and parameters of those operations", () => {
    for (const forms of ["both", "a", "b"] as const) {
      const description = describeWith({ forms });
      const operations = operationsOf(description);
      const links = operations.flatMap(({ responses }) =>
        Object.values(responses).flatMap((response) => Object.values((response["links"] ?? {}) as Part)),
      ) as { operationId: string; parameters: Part }[];
      expect(links.length).toBeGreaterThan(4);
      for (const { operationId, parameters } of links) {
        const target = operations.find((candidate) => candidate.operationId === operationId);
        const offered = target ? parametersOf(description, target).map(({ name }) => name) : [];
        for (const name of Object.keys(parameters)) expect(offered, operationId).toContain(name);
      }
    }
  });

  test("paths, credentials and field names follow the instance's settings", () => {
    const methods = (forms: DescribedInstance["forms"], path: string) =>
      Object.keys(describeWith({ forms }).paths[path] ?? {});
    expect(methods("both", "/api/todoitems")).toEqual(["get", "post", "put"]);
    expect(methods("a", "/api/todoitems")).toEqual(["get"]);
    expect(methods("b", "/api/todoitems/{id}")).toEqual(["get", "delete"]);
    const security = (auth: DescribedInstance["auth"]) => {
      const { get, post } = describeWith({ auth }).paths["/api/todoitems"] ?? {};
      return [get, post].map((operation) => [operation?.["security"], operation?.responses["401"] !== undefined]);
    };
    const basic = [{ basic: [] }];
    expect(security("off")).toEqual([
      [[], false],
      [[], false],
    ]);
    expect(security("writes")).toEqual([
      [[], false],
      [basic, true],
    ]);
    expect(security("all")).toEqual([
      [basic, true],
      [basic, true],
    ]);
    const camel = describeWith({ fieldNames: "camel" }).components.schemas["TodoItem"];
    expect(camel?.["required"]).toEqual(["id"]);
    expect(JSON.stringify(describeWith({ readOnly: true })["info"])).toContain("read-only");
  });

  test("the schemas, examples and code of an instance with camelCase have id, name, notes and done", () => {
    const description = describeWith({ fieldNames: "camel" });
    const spellings = (value: unknown) =>
      [...partsOf(value)].flatMap(([path, part]) =>
        ["ID", "Name", "Notes", "Done"].filter((name) => name in part).map((name) => `${path}/${name}`),
      );
    expect(spellings(description)).toEqual([]);
    // The search does find these names in the description of an instance with other settings: both in schemas and in
    // examples.
    const others = spellings(describeWith()).join("\n");
    expect([others.includes("/properties/ID"), others.includes("/value/ID")]).toEqual([true, true]);
    // Samples in C# are skipped. Their properties are capitalised, and a serializer option turns them into camelCase.
    for (const { operationId, "x-codeSamples": samples } of operationsOf(description))
      for (const { label, source } of samples as readonly { label: string; source: string }[])
        if (!label.startsWith("C#"))
          expect([operationId, label, /\b(?:ID|Name|Notes|Done)\b/.exec(source)]).toEqual([operationId, label, null]);
  });

  test("every problem code is explained, even if no operation lists it", () => {
    const table = describeWith()["x-problems"] as Part;
    expect(Object.keys(table)).toEqual([...problemCodes]);
    expect(table["RouteNotFound"]).toEqual({
      status: 404,
      when: expect.stringContaining("nothing at this path"),
      detail: expect.any(String),
    });
    expect(table["BodyTooLarge"]).toHaveProperty("detail", expect.stringContaining("1000 bytes"));
  });

  test("with a development certificate, the samples for HTTPS name the authority to trust", () => {
    const commandAt = (server: string) =>
      JSON.stringify(describeApi({ ...instance, hasAuthority: true }, server).paths["/api/todoitems"]?.["get"]);
    expect(commandAt("https://localhost:5001")).toContain("curl --cacert certificate-authority.crt https://localhost");
    expect(commandAt("http://localhost:5000")).not.toContain("--cacert");
    expect(JSON.stringify(describeWith({ hasAuthority: true })["info"])).toContain("/certificate-authority.crt");
  });

  test("is the same document after it was written as YAML and parsed again", () => {
    const description = describeWith();
    expect(Bun.YAML.parse(writeYaml(description))).toEqual(JSON.parse(JSON.stringify(description)));
  });

  test("the variant for OpenAPI 3.0 has none of the keywords that only 3.1 knows", () => {
    const description = asOpenApi30(describeWith());
    expect(description.openapi).toBe("3.0.3");
    for (const [path, part] of partsOf(description)) {
      if (path.includes("/examples/") || path.includes("/example/")) continue;
      expect(Array.isArray(part["type"]) || part["type"] === "null", path).toBe(false);
      expect(part["const"], path).toBeUndefined();
      if (part["$ref"] !== undefined) expect(Object.keys(part), path).toEqual(["$ref"]);
    }
    expect(description.paths["/api/todoitems/{id}"]?.["delete"]?.["requestBody"]).toBeUndefined();
    for (const schema of Object.values(description.components.schemas)) expect(schema["examples"]).toBeUndefined();
  });
});

describe("the description's files", () => {
  const request = (path: string, host: string | undefined, isSecure = false): HttpRequest => ({
    method: "GET",
    path,
    query: "",
    headers: new Map(host === undefined ? [] : [["host", host]]),
    peer: "127.0.0.1",
    isSecure,
    readBody: () => new Uint8Array(),
  });
  const serverIn = (files: DescriptionFiles, host: string | undefined, isSecure = false) => {
    const file = files.find(request("/openapi.json", host, isSecure));
    return JSON.parse(new TextDecoder().decode(file?.bytes)).servers[0].url;
  };

  test("name the address that the request was sent to", () => {
    const files = new DescriptionFiles(instance);
    expect(serverIn(files, "10.0.2.2:5000")).toBe("http://10.0.2.2:5000");
    expect(serverIn(files, "Example.test", true)).toBe("https://example.test");
    expect(serverIn(files, undefined)).toBe("/");
    expect(files.find(request("/openapi.txt", "a"))).toBeUndefined();
  });

  test("are written once for each of the first 16 addresses, and once for all other addresses together", () => {
    const files = new DescriptionFiles(instance);
    const hosts = Array.from({ length: 40 }, (_, index) => `host-${index}`);
    const first = hosts.map((host) => files.find(request("/openapi.yaml", host)));
    const second = hosts.map((host) => files.find(request("/openapi.yaml", host)));
    for (const [index, file] of first.entries()) expect(second[index]).toBe(file);
    expect(new Set(first).size).toBe(17);
    expect(serverIn(files, "host-15")).toBe("http://host-15");
    expect(serverIn(files, "host-16")).toBe("/");
  });
});
