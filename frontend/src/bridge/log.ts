/** What tells a call from another one that was given the same id by mistake. */
export type Mark = string;

export interface Entry {
  readonly mark: Mark | undefined;
  /** The frame that answered the call; nothing while it runs. */
  answer: string | undefined;
}

export interface LogLimits {
  readonly answers: number;
  readonly characters: number;
  /** Ids of dropped answers are kept for longer: to say "I no longer know" is better than to act twice. */
  readonly dropped: number;
}

const LIMITS: LogLimits = { answers: 1_000, characters: 64 * 1024 * 1024, dropped: 20_000 };

/** What was answered, by call id: it is asked for again after a reconnect, and must not be done again. */
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

  begin(callId: string, mark: Mark | undefined): void {
    this.#entries.set(callId, { mark, answer: undefined });
    this.#running += 1;
  }

  /** False if the call is not one that runs: it has its answer, and keeps it. */
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
