import { describe, expect, test } from "bun:test";
import { type FieldNames, respell } from "../../src/items/field-names.ts";

function spelled(name: string, style: FieldNames): string {
  return Object.keys(JSON.parse(respell(JSON.stringify({ [name]: 0 }), style)))[0] ?? "";
}

describe("field names", () => {
  // In .NET, `JsonNamingPolicy.CamelCase` gives these spellings.
  for (const [name, camel] of Object.entries({
    ID: "id",
    Id: "id",
    Name: "name",
    name: "name",
    URLPath: "urlPath",
    URL: "url",
    URLValue: "urlValue",
    I: "i",
    IPhone: "iPhone",
    "I Phone": "i Phone",
    "IP address": "ip address",
    isCIA: "isCIA",
    Xml2Json: "xml2Json",
    SnAkEcAsE: "snAkEcAsE",
    ABC1: "abC1",
    _Name: "_Name",
    Émile: "émile",
    "": "",
    "1A": "1A",
    İstanbul: "İstanbul",
  })) {
    test(`camel: "${name}" becomes "${camel}"`, () => expect(spelled(name, "camel")).toBe(camel));
  }

  for (const [name, pascal] of Object.entries({
    id: "ID",
    Id: "ID",
    name: "Name",
    Name: "Name",
    urlPath: "UrlPath",
    émile: "Émile",
    ß: "ß",
    "": "",
    _name: "_name",
  })) {
    test(`pascal: "${name}" becomes "${pascal}"`, () => expect(spelled(name, "pascal")).toBe(pascal));
  }

  test("values, nested names and the order of fields stay as they are", () => {
    expect(respell('{"B":{"C":1.0},"A":[{"D":1e400}],"\\u0043":"\\ud800"}', "camel")).toBe(
      '{"b":{"C":1.0},"a":[{"D":1e400}],"c":"\\ud800"}',
    );
  });

  test("a name stays as it is if another field already has the new spelling", () => {
    const shapes = ['{"A":1,"B":2}', '{"A":1,"a":2}', '{"a":1,"A":2}', '{"B":1,"A":2}', '{"A,B":1}', '{"A\\",\\"B":1}'];
    const wanted = ['{"a":1,"b":2}', '{"A":1,"a":2}', '{"a":1,"A":2}', '{"b":1,"a":2}', '{"a,B":1}', '{"a\\",\\"B":1}'];
    expect(shapes.map((json) => respell(json, "camel"))).toEqual(wanted);
    expect(respell('{"a":1,"b":2}', "pascal")).toBe('{"A":1,"B":2}');
  });
});
