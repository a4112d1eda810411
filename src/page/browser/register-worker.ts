// Registers the service worker, if this page has a name of its own over HTTPS. On this machine, many projects use the
// same address, one after the other, and our worker would answer the requests for the next one.
// Why: docs/decisions/0088-the-page-keeps.md

import { workerPath } from "../page-settings.ts";

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

/** `root` is the service's own address. */
export async function registerWorker(root: string): Promise<void> {
  const { protocol, hostname } = location;
  const isNamed = /^[^[]*[a-z]/i.test(hostname) && !/(^|\.)localhost\.?$/.test(hostname);
  if (protocol !== "https:" || !isNamed || !navigator.serviceWorker) return;
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  const rules = { createScriptURL: (url: string) => url };
  const policy = trustedTypes?.createPolicy("todoitems", rules) ?? rules;
  await navigator.serviceWorker.register(policy.createScriptURL(root + workerPath));
}
