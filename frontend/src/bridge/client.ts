import type {
  EndedProcess,
  JsonValue,
  NotifyFrame,
  OpenCall,
  ResultBody,
  ShellInfo,
  ShellToolSpec,
  Welcome,
} from "../wire/types.ts";
import { SUBPROTOCOL } from "./frames.ts";
import { type Effect, ShellSession } from "./session.ts";

/** The part of the platform's WebSocket that the client uses. Pass one with the same constructor in Node before 22. */
export interface Socket {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
}
export type SocketConstructor = new (url: string, protocols: string[]) => Socket;

/** The sidecar's address. Asked for with each connection: after a restart the token, and maybe the port, is new. */
export interface Endpoint {
  readonly url: string;
  readonly token: string;
}

export interface CallContext {
  readonly id: string;
  readonly workspace: string;
  readonly timeoutMs: number;
  /** Aborts when the call is cancelled or times out, or when the client closes. */
  readonly signal: AbortSignal;
  /** Live output, shown while the call runs. */
  stream(stream: "stdout" | "stderr", text: string): void;
  /** Reports a process that ended with the call. */
  killed(pid: number, command: string): void;
}

export type ToolHandler = (
  args: { [key: string]: JsonValue },
  call: CallContext,
) => Promise<string | ResultBody> | string | ResultBody;

/** A handler throws this to report, with its own code, why a call failed. */
export class ToolFailure extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = "ToolFailure";
  }
}

export type BridgeState = "connecting" | "connected" | "waiting" | "closed";

export interface BridgeOptions {
  readonly endpoint: () => Endpoint | Promise<Endpoint>;
  readonly workspace: string;
  readonly shell: ShellInfo;
  /** The tools that this shell runs; the sidecar runs all others itself. */
  readonly tools: { readonly [name: string]: ToolHandler };
  /** Descriptions of those tools that are the shell's own. */
  readonly own?: readonly ShellToolSpec[];
  readonly WebSocket?: SocketConstructor;
  readonly fetch?: typeof fetch;
  readonly onState?: (state: BridgeState) => void;
  readonly onWelcome?: (frame: Welcome) => void;
}

const BRIDGE = "/api/brain/bridge";
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;
const CONNECT_MS = 10_000;

/** A shell's end of the bridge. It reconnects from `start` until `close`. */
export class BridgeClient {
  readonly #session: ShellSession;
  readonly #running = new Map<string, AbortController>();
  readonly #closed = new AbortController();
  #socket: Socket | undefined;
  #state: BridgeState = "waiting";
  #pause = FIRST_PAUSE_MS;
  #loop: Promise<void> | undefined;

  constructor(private readonly options: BridgeOptions) {
    const { shell, workspace, tools, own = [] } = options;
    const ours = Object.keys(tools).filter((name) => !own.some((tool) => tool.name === name));
    this.#session = new ShellSession(shell, workspace, [...ours.sort(), ...own]);
  }

  get state(): BridgeState {
    return this.#state;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Ends the connection and every call that still runs. */
  async close(): Promise<void> {
    this.#closed.abort(new ToolFailure("cancelled", "The shell is closed."));
    for (const running of this.#running.values()) running.abort(this.#closed.signal.reason);
    this.#socket?.close(1000, "closed");
    await this.#loop;
    this.#enter("closed");
  }

  /** Sends a notification from the editor, or drops it while disconnected: the sidecar then looks for itself. */
  notify(frame: Omit<NotifyFrame, "type">): void {
    this.#perform(this.#session.notify(frame));
  }

  async #run(): Promise<void> {
    const closed = this.#closed.signal;
    while (!closed.aborted) {
      this.#enter("connecting");
      try {
        await this.#connection();
      } catch {
        // The sidecar is not running yet; try again.
      }
      if (closed.aborted) return;
      this.#enter("waiting");
      await pause(this.#pause * (0.5 + Math.random() / 2), closed);
      this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS);
    }
  }

  async #connection(): Promise<void> {
    const { url, token } = await this.options.endpoint();
    const ticket = await this.#ticket(url, token);
    if (this.#closed.signal.aborted) return;
    const Constructor = this.options.WebSocket ?? (globalThis.WebSocket as unknown as SocketConstructor | undefined);
    if (Constructor === undefined) throw new Error("This platform has no WebSocket; pass one in the options.");
    const address = `${url.replace(/^http/, "ws")}${BRIDGE}?ticket=${encodeURIComponent(ticket)}`;
    const socket = new Constructor(address, [SUBPROTOCOL]);
    this.#socket = socket;
    try {
      await this.#exchange(socket);
    } finally {
      this.#socket = undefined;
      this.#session.lost();
    }
  }

  /** A webview can't send headers with a WebSocket, so it sends a ticket instead. */
  async #ticket(url: string, token: string): Promise<string> {
    const get = this.options.fetch ?? fetch;
    const answer = await get(`${url}${BRIDGE}/ticket`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}` },
      signal: AbortSignal.any([this.#closed.signal, AbortSignal.timeout(CONNECT_MS)]),
    });
    if (!answer.ok) throw new Error(`No ticket: ${answer.status}`);
    const { ticket } = (await answer.json()) as { ticket: string };
    return ticket;
  }

  #exchange(socket: Socket): Promise<void> {
    return new Promise((resolve) => {
      // Gives up on a connection that neither opens nor fails.
      const late = setTimeout(() => socket.close(), CONNECT_MS);
      socket.onopen = () => socket.send(this.#session.hello());
      socket.onmessage = (event: { data: unknown }) => {
        clearTimeout(late);
        this.#perform(this.#session.receive(event.data));
      };
      socket.onerror = () => {};
      socket.onclose = () => {
        clearTimeout(late);
        resolve();
      };
    });
  }

  #perform(effects: readonly Effect[]): void {
    for (const effect of effects) {
      switch (effect.kind) {
        case "send":
          this.#socket?.send(effect.text);
          break;
        case "run":
          void this.#runCall(effect.call);
          break;
        case "stop":
          this.#running.get(effect.callId)?.abort(new ToolFailure("cancelled", "The call was cancelled."));
          break;
        case "welcomed":
          this.#pause = FIRST_PAUSE_MS;
          this.#enter("connected");
          this.options.onWelcome?.(effect.frame);
          break;
      }
    }
  }

  async #runCall(call: OpenCall): Promise<void> {
    const stopped = new AbortController();
    this.#running.set(call.id, stopped);
    const late = setTimeout(
      () => stopped.abort(new ToolFailure("timed_out", `${call.tool} took longer than ${call.timeoutMs / 1000} s.`)),
      call.timeoutMs,
    );
    const killed: EndedProcess[] = [];
    try {
      const result = await this.#callHandler(call, stopped.signal, killed);
      const body: ResultBody = typeof result === "string" ? { content: result } : { ...result };
      if (killed.length > 0) body.killed = [...(body.killed ?? []), ...killed];
      this.#perform(this.#session.result(call.id, body));
    } catch (thrown) {
      this.#perform(this.#session.error(call.id, describeError(thrown, stopped.signal), killed));
    } finally {
      clearTimeout(late);
      this.#running.delete(call.id);
    }
  }

  async #callHandler(call: OpenCall, signal: AbortSignal, killed: EndedProcess[]): Promise<string | ResultBody> {
    const handler = Object.hasOwn(this.options.tools, call.tool) ? this.options.tools[call.tool] : undefined;
    if (handler === undefined) throw new ToolFailure("unknown_tool", `This shell has no tool ${call.tool}.`);
    const result = await handler(call.args, {
      id: call.id,
      workspace: call.workspace,
      timeoutMs: call.timeoutMs,
      signal,
      stream: (stream, text) => this.#perform(this.#session.stream(call.id, stream, text)),
      killed: (pid, command) => killed.push({ pid, command }),
    });
    return result;
  }

  #enter(state: BridgeState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.options.onState?.(state);
  }
}

function describeError(thrown: unknown, signal: AbortSignal): { code: string; message: string } {
  // An aborted handler may throw anything; the reason is the abort.
  const cause = signal.aborted ? signal.reason : thrown;
  if (cause instanceof ToolFailure) return { code: cause.code, message: cause.message };
  return { code: "tool_failed", message: cause instanceof Error ? cause.message : String(cause) };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    signal.addEventListener("abort", over);
    if (signal.aborted) over();
  });
}
