// What a sample program consists of. It is in pieces: together they make the whole program, and some of them make the
// code for a single operation.

export interface SampleOptions {
  /** The address of the service, without a slash at its end. */
  readonly server: string;
  /** Which operations need credentials. */
  readonly auth: "off" | "writes" | "all";
  /**
   * Where a request that creates or updates an item has the item's ID. In form `a`, the ID is in the path and in the
   * body. In form `b`, it is only in the body.
   */
  readonly form: "a" | "b";
  /** The names of the fields of an item. */
  readonly names: { readonly id: string; readonly name: string; readonly notes: string; readonly done: string };
  /** The name of the file with the certificate authority's certificate, if clients must be told to trust it. */
  readonly authorityFile: string | undefined;
}

/**
 * What a sample shows. `follow` is the change feed, and `changes` is the document of changes. `live` and `ready` are
 * the health checks.
 */
export type SampleStep = "create" | "list" | "read" | "update" | "delete" | "follow" | "changes" | "live" | "ready";
export type Steps = { readonly [Step in SampleStep]?: string };

export interface Program {
  readonly before: string;
  /** The steps `read`, `update` and `delete` use the item that `create` has made. */
  readonly steps: Steps;
  readonly after?: string;
  /** Steps that are whole programs by themselves, without `before` and `after`. */
  readonly alone: Steps;
}

/** The addresses of the list (with a slash at its end), the feed, and the document of changes. */
export function addresses({ server }: SampleOptions): { listUrl: string; feedUrl: string; changesUrl: string } {
  return {
    listUrl: `${server}/api/todoitems/`,
    feedUrl: `${server}/changes/events`,
    changesUrl: `${server}/changes/delta`,
  };
}

/**
 * The two programs that ask whether the service is live and whether it is ready. `ask` makes the program for one URL.
 */
export function health({ server }: SampleOptions, ask: (url: string) => string): Steps {
  return { live: ask(`${server}/health/live`), ready: ask(`${server}/health/ready`) };
}

/** Joins the texts with line breaks, and leaves out those that are undefined. */
export function lines(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined).join("\n");
}
