// How many files and sockets the system lets this process open.

/** Undefined if the system has no such limit, or does not report it. */
export function descriptorLimit(): number | undefined {
  // The system enforces the soft limit, so return that one. Bun has already raised it as far as the system allows.
  const report: { readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } } } =
    process.report.getReport();
  const limit = report.userLimits?.open_files?.soft;
  return typeof limit === "number" ? limit : undefined;
}
