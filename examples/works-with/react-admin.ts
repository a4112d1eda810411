// A data provider for react-admin. Start the service with `--field-names camel`, because react-admin wants `id`.

import { fetchUtils } from "ra-core"; // react-admin exports the same
import jsonServerProvider from "ra-data-json-server";

/** The service answers updates and deletions with 204 and no body. react-admin wants the item that was sent. */
const httpClient: typeof fetchUtils.fetchJson = async (url, options) => {
  const response = await fetchUtils.fetchJson(url, options);
  if (response.status !== 204) return response;
  return { ...response, json: typeof options?.body === "string" ? JSON.parse(options.body) : {} };
};

export const dataProvider = jsonServerProvider("http://localhost:5000/api", httpClient);
