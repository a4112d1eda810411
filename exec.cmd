@rem The npm scripts "start" and "dev" begin with "exec": a POSIX shell then replaces itself by the launcher, so a
@rem signal that npm sends to the shell reaches the service. Windows has no exec; this file runs the command after it.
@%*
