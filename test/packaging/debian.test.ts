// The Debian package has what it should, with the right permissions, and the unit is one that systemd accepts.
// packaging/try-deb.sh tests whether the package can be installed and removed, which needs root and a network.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json";
import { bunCommand } from "../bun-command.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { projectFolder } from "../program.ts";

const folder = temporaryFolder();
const deb = join(folder.path, "todoitems.deb");
const unit = join(projectFolder, "packaging/todoitems.service");
afterAll(() => folder.dispose());

function run(...command: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: folder.path });
  return { exitCode, output: stdout.toString() + stderr.toString() };
}

describe.skipIf(Bun.which("dpkg-deb") === null)("the Debian package", () => {
  beforeAll(() => {
    const executable = join(folder.path, "executable");
    writeFileSync(executable, "#!/bin/sh\necho not the real one\n");
    const script = join(projectFolder, "packaging/build-deb.ts");
    expect(run(...bunCommand, script, executable, "amd64", deb)).toMatchObject({ exitCode: 0 });
  });

  test("the package has the program, the units, the settings and the manual page", () => {
    const files = run("dpkg-deb", "--contents", deb)
      .output.split("\n")
      .filter((line) => line.startsWith("-"))
      .map((line) => line.replace(/^(\S+) (\S+) .* \.(\/\S+)$/, "$1 $2 $3"));
    expect(files.sort()).toEqual([
      "-rw-r----- root/root /etc/todoitems/environment",
      "-rw-r--r-- root/root /lib/systemd/system/todoitems-backup.service",
      "-rw-r--r-- root/root /lib/systemd/system/todoitems-backup.timer",
      "-rw-r--r-- root/root /lib/systemd/system/todoitems.service",
      "-rw-r--r-- root/root /usr/share/doc/todoitems/changelog.gz",
      "-rw-r--r-- root/root /usr/share/doc/todoitems/copyright",
      "-rw-r--r-- root/root /usr/share/man/man1/todoitems.1.gz",
      "-rwxr-xr-x root/root /usr/bin/todoitems",
    ]);
  });

  test("the package has this version, and keeps settings that an operator has changed", () => {
    expect(run("dpkg-deb", "--field", deb, "Version").output).toBe(`${version}\n`);
    expect(run("dpkg-deb", "--info", deb, "conffiles").output).toBe("/etc/todoitems/environment\n");
  });
});

describe("the unit", () => {
  test("the unit runs the program of the package as a user of its own, in a sandbox", () => {
    const text = readFileSync(unit, "utf8");
    for (const line of [
      "Type=exec",
      "ExecStart=/usr/bin/todoitems serve",
      "User=todoitems",
      "EnvironmentFile=-/etc/todoitems/environment",
      "Restart=on-failure",
      "NoNewPrivileges=yes",
      "ProtectSystem=strict",
    ])
      expect(text).toContain(`\n${line}\n`);
  });

  test.skipIf(Bun.which("systemd-analyze") === null)("systemd finds nothing wrong with the units", () => {
    const names = ["todoitems.service", "todoitems-backup.service", "todoitems-backup.timer"];
    const copies = names.map((name) => join(folder.path, name));
    for (const [index, name] of names.entries()) {
      // systemd would look for the installed program and its manual page. So the copy names another program, and no
      // manual page.
      const text = readFileSync(join(projectFolder, "packaging", name), "utf8")
        .replace("/usr/bin/todoitems", "/bin/true")
        .replace(/^Documentation=.*\n/m, "");
      writeFileSync(copies[index] ?? "", text);
    }
    const { exitCode, output } = run("systemd-analyze", "verify", ...copies);
    expect(output.split("\n").filter((line) => /todoitems[a-z-]*\.(?:service|timer)/.test(line))).toEqual([]);
    expect(exitCode).toBe(0);
  });

  test("the backup runs the program of the package, on the store of the service, in a folder that systemd makes", () => {
    const text = readFileSync(join(projectFolder, "packaging/todoitems-backup.service"), "utf8");
    const setting = (name: string, from: string) => new RegExp(`^${name}=(.*)$`, "m").exec(from)?.[1];
    const service = readFileSync(unit, "utf8");
    for (const name of ["User", "Environment", "EnvironmentFile"])
      expect(setting(name, text)).toBe(setting(name, service));
    expect(setting("ExecStart", text)).toBe("/usr/bin/todoitems backup");
    expect(setting("WorkingDirectory", text)).toBe(`/var/lib/${setting("StateDirectory", text)}`);
  });
});
