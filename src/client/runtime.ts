// The kind of program that the client runs in, where that makes a difference.

/** A page, or a worker of one. */
export function isBrowser(): boolean {
  return "document" in globalThis || "WorkerGlobalScope" in globalThis;
}

export function isReactNative(): boolean {
  const navigator: unknown = Reflect.get(globalThis, "navigator");
  return Reflect.get(Object(navigator), "product") === "ReactNative";
}
