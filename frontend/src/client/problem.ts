import type { FieldProblem, Problem } from "../wire/types.ts";

/** The root of what a call can fail with; `code` does not change between versions. */
export class BrainError extends Error {
  override readonly name: string = "BrainError";
  constructor(
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The sidecar is not there, or the connection broke. Nothing is known about what it did. */
export class Unreachable extends BrainError {
  override readonly name = "Unreachable";
  constructor(cause: unknown) {
    super("unreachable", "The sidecar does not answer. It may be restarting.", { cause });
  }
}

/** The sidecar refused, with an RFC 9457 problem document. */
export class ProblemError extends BrainError {
  override readonly name = "ProblemError";
  constructor(
    readonly status: number,
    code: string,
    message: string,
    readonly title: string,
    readonly fields: readonly FieldProblem[] = [],
    readonly retryAfterSeconds?: number,
  ) {
    super(code, message);
  }
}

export const isNotFound = (error: unknown): boolean => error instanceof ProblemError && error.status === 404;
export const isUnauthenticated = (error: unknown): boolean => error instanceof ProblemError && error.status === 401;

/** A route that an older sidecar does not have, in contrast to a thing that it does not have. */
export const isMissingRoute = (error: unknown): boolean =>
  error instanceof ProblemError && (error.status === 405 || (error.status === 404 && error.code === "not_found"));

/** True if trying the same thing again later may work. */
export const isTransient = (error: unknown): boolean =>
  error instanceof Unreachable || (error instanceof ProblemError && (error.status === 429 || error.status >= 500));

export async function problemOf(response: Response): Promise<ProblemError> {
  const after = Number(response.headers.get("retry-after"));
  const seconds = Number.isFinite(after) && after > 0 ? after : undefined;
  try {
    const body = (await response.json()) as Partial<Problem>;
    return new ProblemError(
      response.status,
      body.code ?? "http_error",
      body.detail ?? body.title ?? `The sidecar answered ${response.status}.`,
      body.title ?? "Refused",
      body.errors ?? [],
      seconds,
    );
  } catch {
    const message = `The sidecar answered ${response.status} without saying why.`;
    return new ProblemError(response.status, "http_error", message, "Refused", [], seconds);
  }
}
