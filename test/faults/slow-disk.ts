// A disk whose syncs take long.

/** The least time that each sync takes. */
const syncMs = 6;

/** Arguments of strace that delay every sync. */
export const slowSyncs: readonly string[] = ["-e", `inject=fsync,fdatasync:delay_enter=${syncMs * 1_000}`];

/**
 * Starts a service with slow syncs. With -D, strace is not the parent of the service, so the process that is started
 * and stopped is the service itself. With --seccomp-bpf, only syncs are traced.
 */
export const slowDiskLauncher: readonly string[] = [
  ...["strace", "-D", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync"],
  ...slowSyncs,
];
