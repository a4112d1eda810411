// What is inside the executables, as a bill of materials in the CycloneDX format. It contains no time and no random
// number, so the same sources always give the same file.

import { license, version } from "../../package.json";
import { type LockedPackage, lockedPackages, withDependencies } from "./locked-packages.ts";

/**
 * Names in `process.versions` that do not name a library in Bun. They name Bun itself, interfaces, standards, and
 * programs whose versions Bun imitates.
 */
const noLibraries = ["bun", "modules", "napi", "node", "openssl", "unicode", "uv", "v8"];

export function billOfMaterials(): unknown {
  const direct = lockedPackages();
  const packages = withDependencies(direct);
  const program = purl("todoitems", version);
  const runtime = purl("bun", Bun.version);
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": program,
        name: "todoitems",
        version,
        licenses: [{ license: { id: license } }],
        purl: program,
      },
    },
    components: [
      {
        type: "platform",
        "bom-ref": runtime,
        name: "bun",
        version: Bun.version,
        licenses: [{ license: { id: "MIT" } }],
        purl: runtime,
        components: runtimeLibraries().map(([name, version]) => ({ type: "library", name, version })),
      },
      ...packages.map(component),
    ],
    dependencies: [
      { ref: program, dependsOn: [runtime, ...direct.map(refOf)] },
      { ref: runtime },
      ...packages.map((one) => ({ ref: refOf(one), dependsOn: one.dependencies.map(refOf) })),
    ],
  };
}

function component(one: LockedPackage): unknown {
  const [algorithm, hash = ""] = one.integrity.split("-");
  if (algorithm !== "sha512") throw new Error(`${one.name}: package-lock.json has no SHA-512 hash of it`);
  const slash = one.name.indexOf("/");
  return {
    type: "library",
    "bom-ref": refOf(one),
    ...(slash === -1 ? {} : { group: one.name.slice(0, slash) }),
    name: one.name.slice(slash + 1),
    version: one.version,
    hashes: [{ alg: "SHA-512", content: Buffer.from(hash, "base64").toString("hex") }],
    licenses: [{ license: { id: one.license } }],
    purl: refOf(one),
  };
}

/** The libraries in Bun's binary. Their versions are often Git commits. */
function runtimeLibraries(): [name: string, version: string][] {
  return Object.entries(process.versions).flatMap(([name, version]): [string, string][] =>
    version === undefined || noLibraries.includes(name) ? [] : [[name, version]],
  );
}

function refOf({ name, version }: LockedPackage): string {
  return purl(name, version);
}

/** A package URL: the usual identifier of a package across tools. */
function purl(name: string, version: string): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}
