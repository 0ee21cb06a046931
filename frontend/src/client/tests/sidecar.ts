import type { WireEvent } from "../../wire/types.ts";

type Answer = Response | Error | ((request: Request) => Response);

/** Answers with the scripted responses in order, and records the requests. */
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
    if (answer === undefined) throw new Error(`no response left for ${request.url}`);
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

type Streamed = WireEvent & { readonly cursor?: string };

/** The id is the event's cursor in the stream of all tasks, its sequence number in that of one task. */
const lines = (events: readonly Streamed[]): string =>
  events
    .map(({ cursor, ...event }) => {
      const id = cursor ?? event.seq;
      return `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(event)}\n\n`;
    })
    .join("");

/** A stream of these events in chunks of any size, which then ends, breaks or stays open. */
export function stream(events: readonly Streamed[], { chunk = 37, breaks = false, open = false } = {}): Response {
  const bytes = new TextEncoder().encode(`: keep-alive\n\n${lines(events)}`);
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (sent < bytes.length) {
        controller.enqueue(bytes.slice(sent, sent + chunk));
        sent += chunk;
      } else if (breaks) controller.error(new TypeError("network error"));
      else if (open) await new Promise(() => {});
      else controller.close();
    },
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
}
