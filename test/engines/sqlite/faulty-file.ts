// Makes the disk fail under an open SQLite store. Each open file points to a table of functions, through which SQLite
// calls the system. This class makes the store's file or its log point to a copy of that table, with two functions
// replaced. Everything else is the real SQLite.

import { CFunction, JSCallback, type Pointer, ptr, read, toArrayBuffer } from "bun:ffi";
import { constants, type Database } from "bun:sqlite";

/** Result codes of SQLite. */
const ok = 0;
const full = 13;
const failedSync = 1034;

/** Places of functions in SQLite's `sqlite3_io_methods`, and the number of its members. */
const writeIndex = 3;
const syncIndex = 5;
const methodCount = 19;
const pointerBytes = 8;

export class FaultyFile {
  /** Whether each of the next syncs fails. All later syncs succeed, but a sync that succeeds does nothing. */
  syncs: ("fails" | "succeeds")[] = [];
  /** How many writes succeed. All later writes fail as on a full disk. */
  writesLeft = Number.POSITIVE_INFINITY;
  readonly #methods: BigUint64Array;
  readonly #callbacks: readonly JSCallback[];
  readonly #write: ReturnType<typeof CFunction>;

  constructor(database: Database, which: "log" | "store") {
    const file = new BigUint64Array(1);
    const { SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER } = constants;
    database.fileControl(which === "log" ? SQLITE_FCNTL_JOURNAL_POINTER : SQLITE_FCNTL_FILE_POINTER, file);
    const address = pointer(file[0]);
    const methods = pointer(read.ptr(address, 0));
    this.#methods = new BigUint64Array(toArrayBuffer(methods, 0, methodCount * pointerBytes).slice(0));
    const writeArgs = ["ptr", "ptr", "i32", "i64"] as const;
    this.#write = CFunction({ ptr: pointer(this.#methods[writeIndex]), args: [...writeArgs], returns: "i32" });
    const sync = new JSCallback(() => (this.syncs.shift() === "fails" ? failedSync : ok), {
      args: ["ptr", "i32"],
      returns: "i32",
    });
    const write = new JSCallback((...args: unknown[]) => (this.writesLeft-- > 0 ? this.#write(...args) : full), {
      args: [...writeArgs],
      returns: "i32",
    });
    this.#callbacks = [sync, write];
    this.#methods[syncIndex] = BigInt(sync.ptr ?? 0);
    this.#methods[writeIndex] = BigInt(write.ptr ?? 0);
    // SQLite's structure for an open file begins with the address of its table of functions. Replace that address.
    new BigUint64Array(toArrayBuffer(address, 0, pointerBytes))[0] = BigInt(ptr(this.#methods));
  }

  /** Call this only after the store is closed, because SQLite calls the replaced functions until then. */
  dispose(): void {
    for (const callback of this.#callbacks) callback.close();
  }
}

function pointer(address: number | bigint | undefined): Pointer {
  const value = Number(address);
  if (!isPointer(value)) throw new Error("SQLite gave no address");
  return value;
}

function isPointer(value: number): value is Pointer {
  return value > 0;
}
