@rem The npm scripts say "exec", which a POSIX shell uses to hand its process, and so every signal, to
@rem the service. Windows has no such command; this one runs what follows it.
@%*
