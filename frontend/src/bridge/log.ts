/** Distinguishes a call from another one with the same id. */
export type Fingerprint = string;

export interface Entry {
  readonly fingerprint: Fingerprint | undefined;
  /** The frame with the result; undefined while the call runs. */
  answer: string | undefined;
}

export interface LogLimits {
  readonly answers: number;
  readonly characters: number;
  /** Ids outlive their dropped results, so that a call never runs twice. */
  readonly dropped: number;
}

const LIMITS: LogLimits = { answers: 1_000, characters: 64 * 1024 * 1024, dropped: 20_000 };

/** Results by call id. The sidecar asks for them again after a reconnect. */
export class ResultLog {
  readonly #entries = new Map<string, Entry>();
  readonly #dropped = new Set<string>();
  #running = 0;
  #characters = 0;

  constructor(private readonly limits: LogLimits = LIMITS) {}

  get running(): number {
    return this.#running;
  }

  ids(): string[] {
    return [...this.#entries.keys()];
  }

  get(callId: string): Entry | undefined {
    return this.#entries.get(callId);
  }

  wasDropped(callId: string): boolean {
    return this.#dropped.has(callId);
  }

  begin(callId: string, fingerprint: Fingerprint | undefined): void {
    this.#entries.set(callId, { fingerprint, answer: undefined });
    this.#running += 1;
  }

  /** Returns false if the call is not running; its first result stays. */
  answer(callId: string, text: string): boolean {
    const entry = this.#entries.get(callId);
    if (entry === undefined || entry.answer !== undefined) return false;
    entry.answer = text;
    this.#running -= 1;
    this.#characters += text.length;
    this.#entries.delete(callId);
    this.#entries.set(callId, entry);
    while (this.#entries.size - this.#running > this.limits.answers || this.#characters > this.limits.characters) {
      this.#dropOldest();
    }
    return true;
  }

  #dropOldest(): void {
    for (const [callId, entry] of this.#entries) {
      if (entry.answer === undefined) continue;
      this.#entries.delete(callId);
      this.#characters -= entry.answer.length;
      this.#dropped.add(callId);
      break;
    }
    const oldest = this.#dropped.values().next();
    if (this.#dropped.size > this.limits.dropped && !oldest.done) this.#dropped.delete(oldest.value);
  }
}
