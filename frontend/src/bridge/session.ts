import type {
  EndedProcess,
  ErrorBody,
  Hello,
  NotifyFrame,
  OpenCall,
  ResultBody,
  ShellFrame,
  ShellInfo,
  Welcome,
} from "../wire/types.ts";
import { encode, parse } from "./frames.ts";
import { ResultLog } from "./log.ts";

/** What the session asks its socket owner to do, in order. */
export type Effect =
  | { readonly kind: "send"; readonly text: string }
  | { readonly kind: "run"; readonly call: OpenCall }
  | { readonly kind: "stop"; readonly callId: string }
  | { readonly kind: "welcomed"; readonly frame: Welcome };

const MAX_RUNNING = 256;

/** A shell's side of the bridge without I/O. It outlives connections and never runs a call twice. */
export class ShellSession {
  #session: string | undefined;
  #connected = false;
  /** Calls that the welcome listed on this connection; each comes again as a frame. */
  readonly #repeated = new Set<string>();

  constructor(
    private readonly shell: ShellInfo,
    private readonly workspace: string,
    private readonly tools: Hello["tools"],
    private readonly log: ResultLog = new ResultLog(),
  ) {}

  get connected(): boolean {
    return this.#connected;
  }

  hello(): string {
    const frame: Hello = { type: "hello", shell: this.shell, workspace: this.workspace, tools: [...this.tools] };
    if (this.#session !== undefined) frame.session = this.#session;
    const known = this.log.ids();
    if (known.length > 0) frame.remembers = known;
    return JSON.stringify(frame);
  }

  lost(): void {
    this.#connected = false;
    this.#repeated.clear();
  }

  receive(text: unknown): Effect[] {
    const parsed = parse(text);
    if (!("frame" in parsed)) return send({ type: "error", error: parsed });
    const frame = parsed.frame;
    switch (frame.type) {
      case "tool_call":
        return this.#repeated.delete(frame.id) ? [] : this.#called(frame);
      case "cancel":
        return this.#cancelled(frame.id);
      case "welcome":
        return this.#welcomed(frame);
      case "error":
        return [];
    }
  }

  result(callId: string, result: ResultBody): Effect[] {
    const text = encode({ type: "tool_result", id: callId, result });
    if (text !== undefined) return this.#answer(callId, text);
    const message = "The result is too large for a frame. Ask for less.";
    return this.error(callId, { code: "too_large", message }, result.killed);
  }

  error(callId: string, error: ErrorBody, killed: readonly EndedProcess[] = []): Effect[] {
    const frame: ShellFrame = { type: "error", id: callId, error };
    if (killed.length > 0) frame.killed = [...killed];
    return this.#answer(callId, JSON.stringify(frame));
  }

  /** Sends live output, or drops it while disconnected: the result contains it anyway. */
  stream(callId: string, stream: "stdout" | "stderr", text: string): Effect[] {
    const entry = this.log.get(callId);
    if (!this.#connected || entry === undefined || entry.answer !== undefined) return [];
    return send({ type: "stream", id: callId, stream, text });
  }

  notify(frame: Omit<NotifyFrame, "type">): Effect[] {
    return this.#connected ? send({ type: "notify", ...frame }) : [];
  }

  #welcomed(frame: Welcome): Effect[] {
    this.#session = frame.session;
    this.#connected = true;
    const effects: Effect[] = [{ kind: "welcomed", frame }];
    for (const call of frame.open) {
      effects.push(...this.#called(call));
      this.#repeated.add(call.id);
    }
    return effects;
  }

  #called(call: OpenCall): Effect[] {
    const fingerprint = fingerprintOf(JSON.stringify([call.tool, call.args]));
    const entry = this.log.get(call.id);
    if (entry !== undefined) {
      if (entry.fingerprint !== undefined && entry.fingerprint !== fingerprint) {
        return refuse(call.id, "id_reused", "Another call already used this id.");
      }
      return entry.answer === undefined ? [] : [{ kind: "send", text: entry.answer }];
    }
    if (this.log.wasDropped(call.id)) return dropped(call.id);
    if (this.log.running >= MAX_RUNNING) {
      return refuse(call.id, "busy", `The shell already runs ${MAX_RUNNING} calls.`);
    }
    this.log.begin(call.id, fingerprint);
    return [{ kind: "run", call }];
  }

  #cancelled(callId: string): Effect[] {
    const entry = this.log.get(callId);
    if (entry !== undefined) {
      return entry.answer === undefined ? [{ kind: "stop", callId }] : [{ kind: "send", text: entry.answer }];
    }
    if (this.log.wasDropped(callId)) return dropped(callId);
    // Cancelled before the call arrived: if it still comes, don't run it.
    this.log.begin(callId, undefined);
    return this.error(callId, { code: "cancelled", message: "Cancelled before it started." });
  }

  #answer(callId: string, text: string): Effect[] {
    return this.log.answer(callId, text) && this.#connected ? [{ kind: "send", text }] : [];
  }
}

/** A short fingerprint of a call. */
function fingerprintOf(text: string): string {
  let [one, other] = [0x811c9dc5, 0xdeadbeef];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x5bd1e995);
  }
  return `${text.length}:${one}:${other}`;
}

function send(frame: ShellFrame): Effect[] {
  return [{ kind: "send", text: JSON.stringify(frame) }];
}

function refuse(callId: string, code: string, message: string): Effect[] {
  return send({ type: "error", id: callId, error: { code, message } });
}

function dropped(callId: string): Effect[] {
  return refuse(callId, "answer_dropped", "This call was run, but its result is no longer stored.");
}
