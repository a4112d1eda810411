// An error as the client library reports it. The engine recognises it by its class.

export class ServerError extends Error {
  readonly severity: "ERROR" | "FATAL";
  readonly code: string;

  constructor(code: string, severity: "ERROR" | "FATAL" = "ERROR") {
    super(`simulated error ${code}`);
    this.code = code;
    this.severity = severity;
  }
}
