// The service worker: shows the page while the service is away or hangs. The network's answer is used whenever there is
// one in time, and an answer that is not this service's ends the worker. The API, the reference and everything else pass
// it by.
// Why: docs/decisions/0088-the-page-keeps.md

import { pageHeader } from "../page-settings.ts";

interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}

interface FetchEvent extends ExtendableEvent {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}

/** The part of a service worker's global scope that is used here. */
interface WorkerScope {
  readonly registration: ServiceWorkerRegistration;
  skipWaiting(): Promise<void>;
  addEventListener(type: "install", listener: (event: ExtendableEvent) => void): void;
  addEventListener(type: "fetch", listener: (event: FetchEvent) => void): void;
}

const worker = globalThis as unknown as WorkerScope;
/** The service's own address, with a slash at the end. */
const { scope } = worker.registration;
const cacheName = `todoitems ${scope}`;

/** Where the pages are kept. Those of all lists are the same, except for the slash at the end of the address. */
const pages = ["", "lists/a", "lists/a/"].map((path) => scope + path);

/** How long the service may be silent, before the page is shown without it. */
const silenceMsMax = 5_000;

/** Where the page with this address is kept. Undefined for every other address. */
function pageAt(url: string): string | undefined {
  const [address = ""] = url.split(/[?#]/);
  const below = address.slice(scope.length);
  if (below === "") return scope;
  const [, end] = /^lists\/(?!api\/?$)[a-z0-9][\w.-]{0,63}(\/?)$/i.exec(below) ?? [];
  return end === undefined ? undefined : `${scope}lists/a${end}`;
}

worker.addEventListener("install", (event) => {
  void worker.skipWaiting();
  event.waitUntil(keep());
});

worker.addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  const page = method === "GET" && mode === "navigate" ? pageAt(url) : undefined;
  if (page !== undefined) event.respondWith(open(event, page));
  else if (url.startsWith(`${scope}assets/`)) event.respondWith(load(event.request));
});

async function open(event: FetchEvent, page: string): Promise<Response> {
  const answer = fetch(event.request).catch(() => undefined);
  const kept = await (await caches.open(cacheName)).match(page);
  const silence = new Promise<undefined>((resolve) => setTimeout(resolve, silenceMsMax));
  // If nothing is kept, a late answer is better than none.
  const response = await (kept ? Promise.race([answer, silence]) : answer);
  // With these, the service or a proxy in front of it says that it cannot answer now.
  if (!response || response.status === 429 || response.status >= 500) return kept ?? response ?? Response.error();
  if (!response.headers.has(pageHeader)) await leave();
  else if (response.headers.get("ETag") !== kept?.headers.get("ETag")) event.waitUntil(keep());
  return response;
}

/** The name of an asset changes whenever its content does. */
async function load(request: Request): Promise<Response> {
  return (await caches.match(request.url, { cacheName })) ?? fetch(request);
}

/** Keeps the pages and their assets, and nothing else. If something is missing, what was kept before stays. */
async function keep(): Promise<void> {
  const answers = await Promise.all(pages.map(async (page) => [page, await fetch(page)] as const));
  const ours = answers.filter(([, { ok, headers }]) => ok && headers.has(pageHeader));
  const texts = await Promise.all(ours.map(([, answer]) => answer.clone().text()));
  const assets = texts.flatMap((html) => [...html.matchAll(/"(?:\.\.\/)*(assets\/[^"]+)"/g)]);
  const wanted = [...new Set(assets.map(([, path]) => `${scope}${path}`))];
  const cache = await caches.open(cacheName);
  await cache.addAll(wanted);
  for (const [page, answer] of ours) await cache.put(page, answer);
  const known = [...wanted, ...ours.map(([page]) => page)];
  for (const { url } of await cache.keys()) if (!known.includes(url)) await cache.delete(url);
}

/** Somebody else answers at this address. */
async function leave(): Promise<void> {
  await caches.delete(cacheName);
  await worker.registration.unregister();
}
