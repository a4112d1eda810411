// Shows how the user's own app can reach this service: addresses, code for each language, the certificate to trust, and
// the API's description.

import { useEffect, useState } from "preact/hooks";
import type { CodeSample } from "../../description/code-samples.ts";
import { apiDescriptionPath, authorityPath, type PageSettings, referencePath } from "../page-settings.ts";
import { CodeSamples } from "./code-samples.tsx";
import { Copyable } from "./copyable.tsx";
import { Dialog } from "./dialog.tsx";
import { usePage } from "./page-context.ts";

const authorityFile = "todoitems-authority.crt";

export function ConnectPanel() {
  const { address, settings } = usePage().session;
  const list = address.items;
  const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(list.hostname);
  return (
    <Dialog title="Connect your app" kind="panel">
      <h3>Address of the list</h3>
      {addresses(list, isHere, settings).map(({ label, address }) => (
        <Copyable key={label} label={label} text={address} />
      ))}
      {isHere && (
        <p class="hint">
          A phone on the same network needs the service started with <code>--host 0.0.0.0</code>, and in place of{" "}
          <code>{list.hostname}</code> the address that the service then shows as “Network”.
        </p>
      )}
      <h3>Code</h3>
      <Samples />
      {settings.hasAuthority && (
        <>
          <h3>HTTPS</h3>
          <p>
            This service uses a development certificate. Clients trust it once they trust its authority:{" "}
            <a href={settings.root + authorityPath} download={authorityFile}>
              download the certificate authority
            </a>
            . The chapter “Connect your app” of the documents has the steps for each platform.
          </p>
        </>
      )}
      <h3>API description</h3>
      <p>
        <a href={settings.root + referencePath}>The reference</a> explains every request and response, and lets you try
        them. <a href={settings.root + apiDescriptionPath}>openapi.yaml</a> is the same for programs (OpenAPI 3.1).
      </p>
    </Dialog>
  );
}

/**
 * Returns the addresses of the list. If the page was opened on this machine, these include the addresses for emulators.
 * They also include the addresses for HTTPS, if the page came directly from the service's own HTTP port. Behind a proxy
 * or a mapped port, the addresses for HTTPS are not known.
 */
function addresses(list: URL, isHere: boolean, { httpPort, httpsPort }: PageSettings) {
  if (!isHere) return [{ label: "This service", address: list.href }];
  const at = (label: string, host: string, port?: number) => {
    const url = new URL(list);
    url.hostname = host;
    if (port !== undefined) {
      url.protocol = "https:";
      url.port = String(port);
    }
    return { label, address: url.href };
  };
  const all = [at("This machine", list.hostname), at("Android emulator", "10.0.2.2"), at("iOS simulator", "localhost")];
  if (httpsPort === undefined || list.protocol !== "http:" || Number(list.port || 80) !== httpPort) return all;
  return [...all, at("HTTPS", "localhost", httpsPort), at("HTTPS, Android emulator", "10.0.2.2", httpsPort)];
}

function Samples() {
  const { address, settings } = usePage().session;
  const [chosen, setChosen] = useState("curl");
  const [samples, setSamples] = useState<readonly CodeSample[] | "away">([]);
  useEffect(() => {
    const load = async () => {
      const path = document.querySelector<HTMLElement>("[data-samples]")?.dataset["samples"] ?? "";
      const module: typeof import("./samples.ts") = await import(settings.root + path);
      return module.loadSamples(address.list.href, settings);
    };
    load().then(setSamples, () => setSamples("away"));
  }, []);
  if (samples === "away") return <p class="hint">The code cannot be loaded, because the service cannot be reached.</p>;
  const trust = settings.hasAuthority && address.list.protocol === "https:" ? `curl --cacert ${authorityFile}` : "curl";
  const trusting = samples.map(({ language, parts }) => ({
    language,
    parts: parts.map(({ label, code }) => ({ label, code: code.replaceAll(/^curl/gm, trust) })),
  }));
  return (
    <>
      <CodeSamples samples={trusting} chosen={chosen} onChoose={setChosen} />
      {["React", "Expo"].includes(chosen) && (
        <p class="hint">
          The package <code>todoitems-client</code> is not on npm yet. In a clone of this service,{" "}
          <code>npm pack ./packages/client</code> makes it.
        </p>
      )}
      {["fetch", "TypeScript", "React"].includes(chosen) && (
        <p class="hint">
          A web page on another origin may use the service only if it was started with <code>--cors ORIGIN</code>.
        </p>
      )}
    </>
  );
}
