import { expect, test } from "bun:test";
import { describeBlackBox } from "../black-box.ts";
import { expectProblem, ids, item } from "../service.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

describeBlackBox("Resources and their fields: ID", (start) => {
  for (const id of [
    ids.one,
    "00000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
    ids.mixedCase,
  ]) {
    test(`the UUID ${id} is accepted, whatever its version and letter case, and comes back as it was sent`, async () => {
      const service = await start();
      const created = await service.create(item(id));
      expect(created.headers.get("location")).toBe(`/api/todoitems/${id}`);
      expect(await service.list()).toBe(`[${item(id)}]`);
    });
  }

  for (const id of [
    "",
    "x",
    "1111111111114111811111111111111111111",
    `{${ids.one}}`,
    `${ids.one} `,
    "g1111111-1111-4111-8111-111111111111",
    "111111111-111-4111-8111-111111111111",
  ]) {
    test(`an item with the ID ${JSON.stringify(id)} gets 400`, async () => {
      const service = await start();
      for (const method of ["POST", "PUT"]) {
        await expectProblem(await service.send(method, "/api/todoitems/", item(id)), 400, "TodoItemIDInvalid");
      }
    });
  }

  for (const value of ["1", "true", "{}", `["${ids.one}"]`]) {
    test(`an item with an ID that is not a string (${value}) gets 400`, async () => {
      const service = await start();
      await expectProblem(await service.send("POST", "/api/todoitems/", `{"ID":${value}}`), 400, "TodoItemIDInvalid");
    });
  }

  test("IDs that differ only in letter case are the same ID", async () => {
    const service = await start();
    await service.create(item(ids.mixedCase));
    for (const id of [ids.mixedCase.toUpperCase(), ids.mixedCase.toLowerCase()]) {
      await expectProblem(await service.send("POST", "/api/todoitems/", item(id)), 409, "TodoItemIDInUse");
      const read = await service.fetch("GET", `/api/todoitems/${id}`);
      expect(await read.text()).toBe(item(ids.mixedCase));
    }
    const upper = item(ids.mixedCase.toUpperCase());
    expect((await service.send("PUT", `/api/todoitems/${ids.mixedCase}`, upper)).status).toBe(204);
    expect(await service.list()).toBe(`[${upper}]`);
    expect((await service.fetch("DELETE", `/api/todoitems/${ids.mixedCase.toLowerCase()}`)).status).toBe(204);
  });

  for (const name of ["ID", "Id", "id", "iD", "\\u0049D"]) {
    test(`the ID's field may be called ${name}`, async () => {
      const service = await start();
      const json = `{"Name":"a","${name}":"${ids.one}"}`;
      await service.create(json);
      expect(await service.list()).toBe(`[${json}]`);
      expect((await service.send("PUT", "/api/todoitems/", json)).status).toBe(204);
    });
  }

  for (const names of [
    ["ID", "id"],
    ["Id", "ID"],
    ["id", "id"],
  ]) {
    test(`an item with two IDs (${names.join(", ")}) gets 400`, async () => {
      const service = await start();
      const json = `{${names.map((name) => `"${name}":"${ids.one}"`).join(",")}}`;
      await expectProblem(await service.send("POST", "/api/todoitems/", json), 400, "TodoItemIDAmbiguous");
    });
  }

  test("an ID inside a nested object is not the item's ID", async () => {
    const service = await start();
    const json = `{"ID":"${ids.one}","parent":{"id":"${ids.two}"}}`;
    await service.create(json);
    expect(await service.list()).toBe(`[${json}]`);
  });

  for (const [sent, kept] of [
    ['{"Name":"a"}', '"Name":"a"'],
    ['{"ID":null,"Name":"a"}', '"Name":"a"'],
    ['{"Name":"a","id":null,"Done":false}', '"Name":"a","Done":false'],
    ["{}", ""],
    ['{"ID":null}', ""],
  ] as const) {
    test(`create of ${sent} in form B generates an ID and puts it first, as the field ID`, async () => {
      const service = await start();
      const created = await service.create(sent);
      const text = await created.text();
      const id = String(JSON.parse(text).ID);
      expect(id).toMatch(uuid);
      expect(text).toBe(`{${[`"ID":"${id}"`, kept].filter(Boolean).join(",")}}`);
      expect(created.headers.get("location")).toBe(`/api/todoitems/${id}`);
      expect(await service.list()).toBe(`[${text}]`);
    });

    test(`create of ${sent} in form A uses the ID in the path`, async () => {
      const service = await start();
      const created = await service.send("POST", `/api/todoitems/${ids.mixedCase}`, sent);
      expect(created.status).toBe(201);
      expect(await created.text()).toBe(`{${[`"ID":"${ids.mixedCase}"`, kept].filter(Boolean).join(",")}}`);
    });
  }

  for (const [sent, kept, name] of [
    ['{"name":"a","Done":1}', '"name":"a","Done":1', "id"],
    ['{"id":null,"Name":"a","done":1}', '"Name":"a","done":1', "ID"],
    ['{"ID":null,"éa":1}', '"éa":1', "id"],
    ['{"\\u0061":1}', '"\\u0061":1', "id"],
    ['{"_a":1,"b":2}', '"_a":1,"b":2', "ID"],
    ['{"":1}', '"":1', "ID"],
  ] as const) {
    test(`the ID that is added to ${sent} is called ${name}, as the first other name begins`, async () => {
      const service = await start();
      const path = `/api/todoitems/${ids.one}`;
      const created = await service.send("POST", path, sent);
      const expected = `{"${name}":"${ids.one}",${kept}}`;
      expect(await created.text()).toBe(expected);
      expect((await service.send("PUT", path, sent)).status).toBe(204);
      expect(await service.list()).toBe(`[${expected}]`);
      expect(await (await service.create(sent)).text()).toStartWith(`{"${name}":"`);
    });
  }

  test("update in form A may leave the ID out of the body, update in form B may not", async () => {
    const service = await start();
    await service.create(item(ids.one));
    for (const body of ['{"Name":"b"}', '{"ID":null,"Name":"b"}']) {
      expect((await service.send("PUT", `/api/todoitems/${ids.one}`, body)).status).toBe(204);
      await expectProblem(await service.send("PUT", "/api/todoitems/", body), 400, "TodoItemIDRequired");
    }
    expect(await service.list()).toBe(`[${item(ids.one, '"Name":"b"')}]`);
  });
});

describeBlackBox("Resources and their fields: fields that the operator requires", (start) => {
  const requiredFields = ["Name", "Notes"];

  for (const [json, missing] of [
    ["{}", '"Name", "Notes"'],
    ['{"Name":"a"}', '"Notes"'],
    ['{"Name":null,"Notes":"n"}', '"Name"'],
    ['{"Name":"a","Notes":""}', '"Notes"'],
    ['{"Name":" \\t\\n","Notes":"n"}', '"Name"'],
    ['{"Name":"a","Notes":"n","Name":""}', '"Name"'],
  ] as const) {
    test(`create and update of ${json} get 400, which names ${missing}, and change nothing`, async () => {
      const service = await start({ requiredFields });
      await service.create(item(ids.one, '"Name":"a","Notes":"n"'));
      const before = await service.list();
      for (const [method, path] of [
        ["POST", "/api/todoitems/"],
        ["POST", `/api/todoitems/${ids.two}`],
        ["PUT", `/api/todoitems/${ids.one}`],
        ["PUT", `/api/todoitems/${ids.three}`],
      ] as const) {
        const { detail } = await expectProblem(await service.send(method, path, json), 400, "FieldRequired");
        expect(detail).toContain(`The item lacks ${missing}:`);
      }
      expect(await service.list()).toBe(before);
    });
  }

  for (const json of [
    '{"Name":"a","Notes":"n"}',
    '{"name":"a","NOTES":"n"}',
    '{"Name":0,"Notes":false}',
    '{"Name":[],"Notes":{}}',
  ]) {
    test(`${json} has all required fields`, async () => {
      const service = await start({ requiredFields });
      expect((await service.send("POST", `/api/todoitems/${ids.one}`, json)).status).toBe(201);
      expect((await service.send("PUT", `/api/todoitems/${ids.one}`, json)).status).toBe(204);
    });
  }

  test("an item that was stored before lacks nothing when it is deleted, with or without a body", async () => {
    const service = await start({ requiredFields, items: [`{"ID":"${ids.one}"}`] });
    expect((await service.send("DELETE", `/api/todoitems/${ids.one}`, `{"ID":"${ids.one}"}`)).status).toBe(204);
  });

  test("the media type is checked before the required fields, and they before the existence of the item", async () => {
    const service = await start({ requiredFields });
    const plain = { "Content-Type": "text/plain" };
    await expectProblem(await service.send("POST", "/api/todoitems/", "{}", plain), 415, "UnsupportedMediaType");
    await expectProblem(await service.send("PUT", `/api/todoitems/${ids.one}`, "{}"), 400, "FieldRequired");
  });
});

describeBlackBox("Resources and their fields: every other field is kept to the letter", (start) => {
  const fields = [
    '"n":12345678901234567890',
    '"n":1.0',
    '"n":1e400',
    '"n":-0',
    '"n":[0.1e-7,1E+2,-0.0]',
    '"s":"\\ud800"',
    '"s":"\\u0000"',
    '"s":"a\\/b\\u00e9é\\n"',
    '"s":"\u2028\u2029\u007f"',
    '"s":"𝒯 👩‍👩‍👧"',
    '"__proto__":{"a":1},"constructor":2,"toString":3',
    '"10":"a","9":"b","x":"c","1":"d"',
    '"a":{"b":[{},[],[[]],null,true,false,""]}',
    '"":"","\\u0061":1,"a":2',
    '"Name":null',
  ];
  for (const field of fields) {
    test(`create, list, read and update return {${field}} exactly as it was sent`, async () => {
      const service = await start();
      const created = await service.create(item(ids.one, field));
      expect(await created.text()).toBe(item(ids.one, field));
      await service.send("PUT", "/api/todoitems/", item(ids.one, `${field},"more":1`));
      const expected = item(ids.one, `${field},"more":1`);
      expect(await service.list()).toBe(`[${expected}]`);
      expect(await (await service.fetch("GET", `/api/todoitems/${ids.one}`)).text()).toBe(expected);
    });
  }

  test("insignificant white space is dropped, and white space in strings is kept", async () => {
    const service = await start();
    await service.create(`\r\n\t { "ID" :\n"${ids.one}" , "a b" : [ 1 ,\t2 , { } ] , "s" : " x  y " } \n`);
    expect(await service.list()).toBe(`[{"ID":"${ids.one}","a b":[1,2,{}],"s":" x  y "}]`);
  });

  test("update replaces the whole item, so fields that it leaves out are gone", async () => {
    const service = await start();
    await service.create(item(ids.one, '"Name":"a","Notes":"n"'));
    await service.send("PUT", "/api/todoitems/", item(ids.one, '"Name":"b"'));
    expect(await service.list()).toBe(`[${item(ids.one, '"Name":"b"')}]`);
  });
});

describeBlackBox("Resources and their fields: field names in answers", (start) => {
  const sent = `{"ID":"${ids.one}","Name":"a","URLPath":1,"notes":{"Inner":2},"Done":1.0}`;
  const camel = `{"id":"${ids.one}","name":"a","urlPath":1,"notes":{"Inner":2},"done":1.0}`;
  const pascal = `{"ID":"${ids.one}","Name":"a","URLPath":1,"Notes":{"Inner":2},"Done":1.0}`;

  for (const [fieldNames, expected] of [
    ["as-sent", sent],
    ["camel", camel],
    ["pascal", pascal],
  ] as const) {
    test(`the field names ${fieldNames} apply to the list, an item, a created item and the item in a 412`, async () => {
      const service = await start({ fieldNames });
      expect(await (await service.create(sent)).text()).toBe(expected);
      expect(await service.list()).toBe(`[${expected}]`);
      expect(await (await service.fetch("GET", `/api/todoitems/${ids.one}`)).text()).toBe(expected);
      const refused = await service.fetch("DELETE", `/api/todoitems/${ids.one}`, {
        headers: { "If-Match": '"other"' },
      });
      expect(await refused.text()).toEndWith(`,"current":${expected}}`);
    });
  }

  test("a field name keeps its spelling if respelling it would collide with another field", async () => {
    const service = await start({ fieldNames: "camel" });
    await service.create(item(ids.one, '"Name":1,"name":2,"NOTES":3,"Notes":4'));
    expect(await service.list()).toBe(`[{"id":"${ids.one}","Name":1,"name":2,"notes":3,"Notes":4}]`);
  });

  test("an error about the ID names the field as the client spells it", async () => {
    const service = await start({ fieldNames: "camel" });
    const detailOf = async (json: string) => (await service.send("PUT", "/api/todoitems/", json)).json();
    expect(await detailOf('{"id":"x"}')).toMatchObject({ detail: expect.stringMatching(/^The field "id" is not/) });
    expect(await detailOf('{"ID":"x"}')).toMatchObject({ detail: expect.stringMatching(/^The field "ID" is not/) });
    expect(await detailOf('{"name":"a"}')).toMatchObject({ detail: expect.stringContaining('field "id", or in') });
    expect(await detailOf('{"Name":"a"}')).toMatchObject({ detail: expect.stringContaining('field "ID", or in') });
  });

  test("a field name that occurs twice is spelled the same both times", async () => {
    const camel = await start({ fieldNames: "camel" });
    await camel.create(item(ids.one, '"Name":1,"Name":2'));
    expect(await camel.list()).toBe(`[{"id":"${ids.one}","name":1,"name":2}]`);
  });

  test("respelling never turns another name into an ID", async () => {
    const pascal = await start({ fieldNames: "pascal" });
    await pascal.create(item(ids.one, '"ıd":1'));
    expect(await pascal.list()).toBe(`[${item(ids.one, '"ıd":1')}]`);
  });

  test("each spelling of field names has its own ETags, because the bytes differ", async () => {
    const tags = await Promise.all(
      (["as-sent", "camel", "pascal"] as const).map(async (fieldNames) => {
        const service = await start({ fieldNames });
        const etag = (await service.create(sent)).headers.get("etag") ?? "";
        const epoch = etag.slice(1, etag.indexOf("-"));
        return etag.replace(epoch, "");
      }),
    );
    expect(new Set(tags).size).toBe(3);
  });
});
