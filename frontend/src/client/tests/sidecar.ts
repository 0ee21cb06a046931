import type { WireEvent } from "../../wire/types.ts";

type Answer = Response | Error | ((request: Request) => Response);

/** A sidecar that answers what it was told to, in order, and remembers what it was asked. */
export class ScriptedSidecar {
  readonly requests: { method: string; path: string; headers: Headers; body: unknown }[] = [];
  constructor(readonly answers: Answer[]) {}

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(new URL(String(input), "http://sidecar"), init);
    const text = await request.clone().text();
    this.requests.push({
      method: request.method,
      path: new URL(request.url).pathname + new URL(request.url).search,
      headers: request.headers,
      body: text ? JSON.parse(text) : undefined,
    });
    const answer = this.answers.shift();
    if (answer === undefined) throw new Error(`nothing is left to answer ${request.url}`);
    if (answer instanceof Error) throw answer;
    return typeof answer === "function" ? answer(request) : answer;
  };
}

export const json = (body: unknown, status = 200): Response => new Response(JSON.stringify(body), { status });

export const problem = (status: number, code: string, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify({ title: "No", status, detail: `because ${code}`, code }), {
    status,
    headers: { "Content-Type": "application/problem+json", ...headers },
  });

const lines = (events: readonly WireEvent[]): string =>
  events
    .map((event) => `${event.seq === undefined ? "" : `id: ${event.seq}\n`}data: ${JSON.stringify(event)}\n\n`)
    .join("");

/** A stream that tells these events in pieces of any size, and then ends or breaks. */
export function stream(events: readonly WireEvent[], { piece = 37, breaks = false } = {}): Response {
  const bytes = new TextEncoder().encode(`: keep-alive\n\n${lines(events)}`);
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent < bytes.length) {
        controller.enqueue(bytes.slice(sent, sent + piece));
        sent += piece;
      } else if (breaks) controller.error(new TypeError("network error"));
      else controller.close();
    },
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
}
