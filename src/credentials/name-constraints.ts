// Name constraints (RFC 5280, section 4.2.1.10): which host names the development authority may certify. Whoever trusts
// the authority trusts everything that its key has signed. So a stolen key must be worthless for the sites of the
// Internet. Addresses are not constrained, because Mono refuses every certificate of an authority that constrains
// addresses (docs/decisions, 61).

import { isIP } from "node:net";
import { Extension, GeneralName, type X509Certificate } from "@peculiar/x509";

const extensionId = "2.5.29.30";

/** Names that no public authority certifies. Each stands for itself and all names below it. */
const localNames = ["localhost", "local", "internal", "home.arpa"];

/** Permits local names, and the names that the machine has now. */
export function nameConstraints(machineNames: readonly string[]): Extension {
  const others = machineNames.filter((name) => !isIP(name) && !isLocal(name));
  const subtrees = [...localNames, ...others].map((name) => element(0x30, [encodeName(name)]));
  return new Extension(extensionId, true, element(0x30, [element(0xa0, subtrees)]));
}

/** True if this authority may certify the name or address. */
export function permits(authority: X509Certificate, name: string): boolean {
  const constraints = authority.getExtension(extensionId);
  const isListed = constraints !== null && Buffer.from(constraints.value).includes(encodeName(name));
  return isIP(name) !== 0 || isLocal(name) || isListed;
}

function isLocal(name: string): boolean {
  return localNames.some((local) => name.toLowerCase() === local || name.toLowerCase().endsWith(`.${local}`));
}

function encodeName(name: string): Buffer {
  return Buffer.from(new GeneralName("dns", name).rawData);
}

/** One element in the binary encoding of certificates: tag, length, content. */
function element(tag: number, contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  // A length of 128 or more is written as 0x82, which says that two bytes follow, and then the length in those two
  // bytes.
  const lengthBytes = length < 0x80 ? [length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...lengthBytes]), content]);
}
