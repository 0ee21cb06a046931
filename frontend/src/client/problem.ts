import type { FieldProblem, Problem } from "../wire/types.ts";

/** The base of every error that a call can throw. `code` is stable between versions. */
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

/** The sidecar is not running, or the connection broke. The call may or may not have taken effect. */
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
/** The events after a cursor no longer exist. */
export const isGone = (error: unknown): boolean => error instanceof ProblemError && error.status === 410;
export const isUnauthenticated = (error: unknown): boolean => error instanceof ProblemError && error.status === 401;

/** True for a route that an older sidecar lacks, as opposed to a missing task or file. */
export const isMissingRoute = (error: unknown): boolean =>
  error instanceof ProblemError && (error.status === 405 || (error.status === 404 && error.code === "not_found"));

/** True if the same call may succeed later. */
export const isTransient = (error: unknown): boolean =>
  error instanceof Unreachable || (error instanceof ProblemError && (error.status === 429 || error.status >= 500));

export async function parseProblem(response: Response): Promise<ProblemError> {
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
    const message = `The sidecar answered ${response.status} without a reason.`;
    return new ProblemError(response.status, "http_error", message, "Refused", [], seconds);
  }
}
