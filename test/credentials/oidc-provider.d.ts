// oidc-provider has no types of its own. This is what a test needs of it.

declare module "oidc-provider" {
  // biome-ignore lint/style/noDefaultExport: the package has one.
  export default class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>);
    callback(): import("node:http").RequestListener;
    on(event: string, listener: (...args: unknown[]) => void): void;
  }
}
