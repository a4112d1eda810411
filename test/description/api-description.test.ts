// Tests openapi.yaml and what is made from it: the description of an instance, the variant for OpenAPI 3.0, and the
// files that an instance serves.

import { describe, expect, test } from "bun:test";
import { version } from "../../package.json";
import {
  type ApiDescription,
  completeDescription,
  type DescribedInstance,
  describeApi,
  type Operation,
  type Part,
} from "../../src/description/api-description.ts";
import { DescriptionFiles } from "../../src/description/description-files.ts";
import { asOpenApi30 } from "../../src/description/openapi-30.ts";
import { writeYaml } from "../../src/description/yaml.ts";
import { problemType } from "../../src/http/problem.ts";
import { type ProblemCode, problemStatus, titleOf } from "../../src/http/problem-table.ts";
import type { HttpRequest } from "../../src/wire/message.ts";
import { responseOf } from "./described-answers.ts";
import { mismatches } from "./schema.ts";

const instance: DescribedInstance = { forms: "both", auth: "off", fieldNames: "as-sent", lists: "one" };
const describeWith = (changes: Partial<DescribedInstance> = {}) => describeApi({ ...instance, ...changes }, "/");
const forms = ["both", "a", "b"] as const;
const everyDescription = forms.flatMap((form) =>
  (["off", "writes", "all"] as const).flatMap((auth) =>
    (["as-sent", "camel"] as const).map((fieldNames) => describeWith({ forms: form, auth, fieldNames })),
  ),
);

/** Every object in a value, with the path to it. */
function* partsOf(value: unknown, path = "#"): Generator<[string, Part]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield [path, value as Part];
  for (const [name, member] of Object.entries(value)) yield* partsOf(member, `${path}/${name}`);
}

function refsOf(value: unknown): string[] {
  return [...partsOf(value)].map(([, part]) => part["$ref"]).filter((ref) => typeof ref === "string");
}

function resolve(description: ApiDescription, part: Part): Part {
  const { $ref } = part;
  if (typeof $ref !== "string") return part;
  const names = $ref.slice("#/".length).split("/");
  return names.reduce<unknown>((found, name) => (found as Part | undefined)?.[name], description) as Part;
}

function operationsOf(description: ApiDescription): Operation[] {
  return Object.values(description.paths).flatMap((pathItem) => Object.values(pathItem));
}

function parametersOf(description: ApiDescription, operation: Operation): Part[] {
  return ((operation["parameters"] ?? []) as Part[]).map((part) => resolve(description, part));
}

/** The names of the examples of a request body or a response. */
function examplesOf(part: Part = {}): string[] {
  const contents = Object.values((part["content"] ?? {}) as Part) as Part[];
  return contents.flatMap((content) => Object.keys((content["examples"] ?? {}) as Part));
}

describe("the description", () => {
  test("has the version of the package", () => {
    expect(completeDescription["info"]).toHaveProperty("version", version);
  });

  test("every reference leads to a part of the document, and every component is used", () => {
    for (const description of [completeDescription, ...everyDescription]) {
      const refs = new Set(refsOf(description));
      for (const $ref of refs) expect(resolve(description, { $ref }), $ref).toBeDefined();
      const { securitySchemes: _basic, ...components } = description.components;
      const unused = Object.entries(components).flatMap(([kind, parts]) =>
        Object.keys(parts).filter((name) => !refs.has(`#/components/${kind}/${name}`)),
      );
      expect(unused).toEqual([]);
    }
  });

  test("every example of a body fits its schema", () => {
    for (const description of everyDescription) {
      const { schemas = {} } = description.components;
      let count = 0;
      for (const [path, part] of partsOf(description)) {
        const { schema, examples } = part;
        if (schema === undefined || examples === undefined || part["name"] !== undefined) continue;
        for (const example of Object.values(examples as Part)) {
          const { value } = resolve(description, example as Part);
          expect(mismatches(schema as Part, value, schemas), path).toEqual([]);
          count++;
        }
      }
      for (const [name, schema] of Object.entries(schemas))
        for (const example of (schema["examples"] ?? []) as unknown[])
          expect(mismatches(schema, example, schemas), name).toEqual([]);
      expect(count).toBeGreaterThan(40);
    }
  });

  test("for every example of a response, the request has an example of the same name", () => {
    for (const description of everyDescription) {
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

  // Tools fill in the first example. So after the first create, every other request finds its item.
  test("the first example of every request is about the same item", () => {
    const [[, ofPath] = []] = partsOf(completeDescription.components["parameters"]?.["Id"]?.["examples"]);
    const id = Object.values(ofPath ?? {}).map((example) => (example as Part)["value"])[0];
    for (const operation of operationsOf(completeDescription)) {
      const { content } = (operation["requestBody"] ?? {}) as Part;
      const [first] = [...partsOf(content)].filter(([path]) => /\/examples\/[^/]+$/.test(path));
      if (first) expect(JSON.stringify(first), operation.operationId).toContain(`"ID":"${id}"`);
    }
  });

  test("every header of a response has an example", () => {
    for (const [name, part] of Object.entries(completeDescription.components["headers"] ?? {}))
      expect(part["example"], name).toBeDefined();
  });

  // Tools such as Postman, Bruno and Swagger UI send every example and every default.
  test("no example and no default of a header or of a body makes a request fail", () => {
    const values = Object.values(completeDescription.components["parameters"] ?? {}).flatMap((part) => {
      const { name, in: place, schema, examples = {} } = part;
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
    const remove = completeDescription.paths["/api/todoitems/{id}"]?.["delete"];
    expect(examplesOf(remove?.["requestBody"] as Part)).toEqual([]);
  });

  test("links name operations that the instance offers, and parameters of those operations", () => {
    for (const description of everyDescription) {
      const operations = operationsOf(description);
      const links = operations.flatMap(({ responses }) =>
        Object.values(responses).flatMap((response) => Object.values((response["links"] ?? {}) as Part)),
      ) as Part[];
      expect(links.length).toBeGreaterThan(4);
      for (const link of links) {
        const { operationId, parameters } = resolve(description, link);
        const target = operations.find((candidate) => candidate.operationId === operationId);
        // Bruno cannot follow a link that fills in a header.
        const isPath = ({ in: place }: Part) => place === "path";
        const offered = target
          ? parametersOf(description, target)
              .filter(isPath)
              .map(({ name }) => name)
          : [];
        for (const name of Object.keys(parameters ?? {})) expect(offered, String(operationId)).toContain(name);
      }
    }
  });

  test("an instance leaves out the form that it does not offer", () => {
    const methods = (form: DescribedInstance["forms"], path: string) =>
      Object.keys(describeWith({ forms: form }).paths[path] ?? {});
    expect(forms.map((form) => methods(form, "/api/todoitems"))).toEqual([
      ["get", "post", "put"],
      ["get"],
      ["get", "post", "put"],
    ]);
    expect(forms.map((form) => methods(form, "/api/todoitems/{id}").sort())).toEqual([
      ["delete", "get", "post", "put"],
      ["delete", "get", "post", "put"],
      ["delete", "get"],
    ]);
  });

  test("an instance leaves out credentials where it needs none", () => {
    const guarded = (auth: DescribedInstance["auth"]) =>
      operationsOf(describeWith({ auth })).flatMap(({ operationId, security, responses, "x-codeSamples": samples }) => {
        const needed = security?.length === 1;
        const told = [responses["401"] !== undefined, ...samples.map(({ source }) => source.includes("NAME"))];
        expect([operationId, ...told]).toEqual([operationId, ...told.map(() => needed)]);
        return needed ? [operationId] : [];
      });
    const writes = ["createItem", "updateItem", "createItemAt", "updateItemAt", "deleteItem"];
    const reads = ["listItems", "readItem", "followChanges", "readChanges"];
    expect(guarded("off")).toEqual([]);
    expect(guarded("writes").sort()).toEqual([...writes].sort());
    expect(guarded("all").sort()).toEqual([...writes, ...reads].sort());
    expect(describeWith().components["securitySchemes"]).toBeUndefined();
  });

  test("an instance with one list leaves out lists, and others describe the address of each", () => {
    const one = describeApi(instance, "http://127.0.0.1:5000");
    expect(one["servers"]).toMatchObject([{ url: "http://127.0.0.1:5000" }]);
    expect(Object.keys(one.paths)).not.toContain("/lists");
    expect(one.components["schemas"]).not.toHaveProperty("ListNames");
    for (const [address, url] of [
      ["http://127.0.0.1:5000", "http://127.0.0.1:5000/lists/{list}"],
      ["/", "/lists/{list}"],
    ] as const) {
      const many = describeApi({ ...instance, lists: "many" }, address);
      expect(many["servers"]).toMatchObject([{ url: address }, { url, variables: { list: { default: "work" } } }]);
      expect(Object.keys(many.paths)).toContain("/lists");
    }
  });

  test("nothing but the address differs for an instance that offers everything", () => {
    const plain = (description: ApiDescription) =>
      JSON.parse(JSON.stringify(description), (name, value) =>
        ["security", "x-codeSamples", "servers"].includes(name) ? undefined : value,
      );
    expect(
      plain(describeWith({ auth: "all", lists: "many", users: "users.txt", tokenIssuer: "https://login.example" })),
    ).toEqual(plain(completeDescription));
  });

  test("the schemas, examples and code of an instance with camelCase have id, name, notes and done", () => {
    const spellings = (description: ApiDescription) => {
      const names = /(?<![\w-])(?:ID|Name|Notes|Done)(?![\w-])/g;
      const parts = [...partsOf(description)];
      return [
        ...parts.flatMap(([path, part]) =>
          ["ID", "Name", "Notes", "Done"].filter((name) => name in part).map(() => path),
        ),
        ...parts.flatMap(([, { source = "", value = "", detail = "" }]) =>
          [source, String(detail).match(/"\w+"/g) ?? "", typeof value === "string" ? value : ""].flatMap(
            (text) => String(text).match(names) ?? [],
          ),
        ),
      ];
    };
    expect(spellings(describeWith({ fieldNames: "camel", auth: "all" }))).toEqual([]);
    expect(spellings(describeWith()).length).toBeGreaterThan(100);
    const { TodoItem } = describeWith({ fieldNames: "camel" }).components["schemas"] ?? {};
    expect(TodoItem?.["required"]).toEqual(["id"]);
  });

  test("every problem code has an example with its status and title, and is explained", () => {
    const { examples = {}, schemas = {} } = completeDescription.components;
    expect(Object.keys(examples).sort()).toEqual(Object.keys(problemStatus));
    expect(schemas["Problem"]?.["properties"]).toHaveProperty("code.enum", Object.keys(problemStatus));
    for (const [code, status] of Object.entries(problemStatus) as [ProblemCode, number][]) {
      const value = { type: problemType(code), status, title: titleOf(code), code };
      // No matcher such as `expect.any` here: Bun writes it into the object that it is compared with.
      expect(examples[code]?.["value"]).toMatchObject(value);
    }
  });

  test("a response lists the problems of its own status only", () => {
    for (const operation of operationsOf(completeDescription))
      for (const status of Object.keys(operation.responses)) {
        const response = responseOf(completeDescription, operation, Number(status));
        for (const ref of refsOf(response?.["content"]).filter((name) => name.includes("/examples/")))
          expect(resolve(completeDescription, { $ref: ref })["value"], ref).toHaveProperty("status", Number(status));
      }
  });

  test("is the same document after it was written as YAML and parsed again", () => {
    const description = describeWith();
    expect(Bun.YAML.parse(writeYaml(description))).toEqual(description);
  });

  test("the variant for OpenAPI 3.0 has none of the keywords that only 3.1 knows", () => {
    const description = asOpenApi30(describeWith());
    expect(description.openapi).toBe("3.0.3");
    for (const [path, part] of partsOf(description)) {
      expect(Array.isArray(part["type"]) || part["type"] === "null", path).toBe(false);
      expect(Array.isArray(part["examples"]), path).toBe(false);
      if (part["$ref"] !== undefined) expect(Object.keys(part), path).toEqual(["$ref"]);
    }
    expect(description.paths["/api/todoitems/{id}"]?.["delete"]?.["requestBody"]).toBeUndefined();
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
    const text = new TextDecoder().decode(file?.bytes);
    const { url } = JSON.parse(text).servers[0];
    // The code samples have the same address. A relative address would be of no use in a program.
    expect(text).toContain(`curl ${url === "/" ? "http://localhost:5000" : url}/api/todoitems/`);
    return url;
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
