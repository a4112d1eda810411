// Files that are imported as text.

declare module "*.cs" {
  const text: string;
  export = text;
}

declare module "*.dart" {
  const text: string;
  export = text;
}

declare module "*.jsx" {
  const text: string;
  export = text;
}

declare module "*.kt" {
  const text: string;
  export = text;
}

declare module "*.swift" {
  const text: string;
  export = text;
}
