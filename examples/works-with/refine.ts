// A data provider for refine. Start the service with `--field-names camel`, because refine wants `id`.
// The resource is `todoitems`. An update replaces the whole item, so it is a PUT with all fields:
// useForm({ resource: "todoitems", meta: { method: "put" } }), useUpdate().mutate({ …, meta: { method: "put" } })

import simpleRestProvider from "@refinedev/simple-rest";

export const dataProvider = simpleRestProvider("http://localhost:5000/api");
