// What a sample program consists of. It is in pieces, so that the code for one operation can be made from it as well as
// the whole program.

export interface SampleOptions {
  /** The address of the service, without a slash at its end. */
  readonly server: string;
  /** Which operations need credentials. */
  readonly auth: "off" | "writes" | "all";
  /** Where creates and updates have the ID of the item: `a` in the path and the body, `b` only in the body. */
  readonly form: "a" | "b";
  /** The names of the fields of an item. */
  readonly names: { readonly id: string; readonly name: string; readonly notes: string; readonly done: string };
  /** The file with the authority's certificate, if clients must be told to trust it. */
  readonly authorityFile: string | undefined;
}

/** What a sample shows. `changes` is the document of changes; `live` and `ready` ask for the health. */
export type SampleStep = "create" | "list" | "read" | "update" | "delete" | "follow" | "changes" | "live" | "ready";
export type Steps = { readonly [Step in SampleStep]?: string };

export interface Program {
  readonly before: string;
  /** Reads, updates and deletes use the item that `create` has made. */
  readonly steps: Steps;
  readonly after?: string;
  /** Whole programs, which need no other piece. */
  readonly alone: Steps;
}

/** The addresses of the list, with a slash at its end, of the feed, and of the document of changes. */
export function addresses({ server }: SampleOptions): { listUrl: string; feedUrl: string; changesUrl: string } {
  return {
    listUrl: `${server}/api/todoitems/`,
    feedUrl: `${server}/changes/events`,
    changesUrl: `${server}/changes/delta`,
  };
}

/** The programs that ask for the health. `ask` makes one of them. */
export function health({ server }: SampleOptions, ask: (url: string) => string): Steps {
  return { live: ask(`${server}/health/live`), ready: ask(`${server}/health/ready`) };
}

/** Joins the lines that are there. */
export function lines(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined).join("\n");
}
