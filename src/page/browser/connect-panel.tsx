// Shows how the user's own app can reach this service: addresses, a command for each operation, the certificate to
// trust.

import { useRef, useState } from "preact/hooks";
import { apiDescriptionPath, authorityPath, feedPath, listPath, type PageSettings } from "../page-settings.ts";
import { Dialog } from "./dialog.tsx";
import { CloseIcon, CopyIcon } from "./icons.tsx";

const exampleId = "54b4c1f2-0f8e-4a6b-9d3c-2f1a7e5b8c90";

export function ConnectPanel({ settings, onClose }: { settings: PageSettings; onClose: () => void }) {
  const base = new URL(listPath, document.baseURI);
  const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(base.hostname);
  return (
    <Dialog title="Connect your app" kind="panel" onClose={onClose}>
      <button type="button" class="bare close" onClick={onClose} aria-label="Close">
        <CloseIcon />
      </button>
      <h3>Base address</h3>
      <Copyable label="This machine" text={base.href} />
      {isHere && <Copyable label="Android emulator" text={withHost(base, "10.0.2.2")} />}
      {isHere && <Copyable label="iOS simulator" text={withHost(base, "localhost")} />}
      {isHere && (
        <p class="hint">
          A phone on the same network needs the service started with <code>--host 0.0.0.0</code>, and this machine’s
          address in place of <code>{base.hostname}</code>.
        </p>
      )}
      <h3>Every operation, with curl</h3>
      {commands(base.href, settings).map(({ label, command }) => (
        <Copyable key={label} label={label} text={command} isLong />
      ))}
      {settings.hasAuthority && (
        <>
          <h3>HTTPS</h3>
          <p>
            This service uses a development certificate. Clients trust it once they trust its authority:{" "}
            <a href={authorityPath} download="todoitems-authority.crt">
              download the certificate authority
            </a>
            . <code>npx todoitems certificate</code> shows the steps for each platform.
          </p>
        </>
      )}
      <h3>API description</h3>
      <p>
        <a href={apiDescriptionPath}>openapi.yaml</a> describes every request and answer (OpenAPI 3.1). The{" "}
        <a href={listPath}>list as JSON</a> and the <a href={feedPath}>change feed</a> are what this page reads.
      </p>
      <h3>Keys of this page</h3>
      <dl class="keys">
        <dt>n</dt>
        <dd>new item</dd>
        <dt>/</dt>
        <dd>search</dd>
        <dt>↑ ↓</dt>
        <dd>from item to item</dd>
        <dt>Space</dt>
        <dd>tick</dd>
        <dt>Enter</dt>
        <dd>edit, save</dd>
        <dt>Del</dt>
        <dd>delete</dd>
        <dt>Esc</dt>
        <dd>leave</dd>
      </dl>
    </Dialog>
  );
}

function withHost(url: URL, host: string): string {
  const other = new URL(url);
  other.hostname = host;
  return other.href;
}

function commands(base: string, { form, auth, hasAuthority }: PageSettings): { label: string; command: string }[] {
  const reads = `curl${auth === "all" ? " -u NAME" : ""}`;
  const writes = `curl${auth === "off" ? "" : " -u NAME"}`;
  const trust = hasAuthority && base.startsWith("https:") ? " --cacert todoitems-authority.crt" : "";
  const json = `-H "Content-Type: application/json" -d`;
  const target = form === "a" ? `${base}${exampleId}` : base;
  const item = (done: boolean) => `'{"ID":"${exampleId}","Name":"Buy milk","Notes":"","Done":${done}}'`;
  return [
    { label: "List", command: `${reads}${trust} ${base}` },
    { label: "Create", command: `${writes}${trust} -X POST ${target} ${json} ${item(false)}` },
    { label: "Read one", command: `${reads}${trust} ${base}${exampleId}` },
    { label: "Update", command: `${writes}${trust} -X PUT ${target} ${json} ${item(true)}` },
    { label: "Delete", command: `${writes}${trust} -X DELETE ${base}${exampleId}` },
    { label: "Follow changes", command: `${reads}${trust} -N ${new URL(feedPath, document.baseURI).href}` },
  ];
}

function Copyable({ label, text, isLong = false }: { label: string; text: string; isLong?: boolean }) {
  const [copied, setCopied] = useState(false);
  const code = useRef<HTMLElement>(null);
  const copy = async () => {
    // Browsers offer the clipboard only to pages that come over HTTPS or from this machine. On other pages, the button
    // only selects the text, and the user copies it.
    if (!navigator.clipboard) {
      if (code.current) getSelection()?.selectAllChildren(code.current);
      return;
    }
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <div class="copyable" data-long={isLong}>
      <span class="label">{label}</span>
      <code ref={code}>{text}</code>
      <button type="button" class="bare" onClick={copy} aria-label={`Copy: ${label}`} title="Copy">
        {copied ? "✓" : <CopyIcon />}
      </button>
    </div>
  );
}
