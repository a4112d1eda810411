// How many files and sockets the system lets this process open.

/** Undefined if the system has no such limit, or does not report it. */
export function descriptorLimit(): number | undefined {
  // When Bun starts, it raises the soft limit as far as the system allows. So the soft limit is the one that applies.
  const report: { readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } } } =
    process.report.getReport();
  const limit = report.userLimits?.open_files?.soft;
  return typeof limit === "number" ? limit : undefined;
}
