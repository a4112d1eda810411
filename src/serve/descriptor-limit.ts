// How many files and sockets the system lets this process open.

/** Undefined if the system has no such limit, or does not tell. */
export function descriptorLimit(): number | undefined {
  // The runtime has raised the soft limit as far as it may, so this is the limit that counts.
  const report: { readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } } } =
    process.report.getReport();
  const limit = report.userLimits?.open_files?.soft;
  return typeof limit === "number" ? limit : undefined;
}
