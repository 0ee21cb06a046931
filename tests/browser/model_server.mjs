// A model server that speaks Chat Completions. It accepts one key and calls the tool `ready` if offered.
import { createServer } from "node:http";

/** The default ports of local model servers; takes the first free one. */
const USUAL = [11434, 1234, 8080, 8000];

export class ModelServer {
  static async start({ key, usual = false } = {}) {
    const server = new ModelServer();
    server.key = key;
    server.asked = [];
    for (const port of usual ? USUAL : [0]) if (await server.#listen(port)) return server;
    throw new Error(`all of the ports ${USUAL.join(", ")} are taken`);
  }

  #listen(port) {
    this.http = createServer((request, response) => this.#answer(request, response));
    return new Promise((done) => {
      this.http.once("error", () => done(false));
      this.http.listen(port, "127.0.0.1", () => {
        this.url = `http://127.0.0.1:${this.http.address().port}`;
        done(true);
      });
    });
  }

  async #answer(request, response) {
    const json = (status, body) => response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.method === "GET" && request.url.endsWith("/models")) return json(200, { object: "list", data: [{ id: "tiny-coder", object: "model", max_model_len: 32_768 }] });
    if (!request.url.endsWith("/chat/completions")) return json(404, { error: { message: "not here" } });
    this.asked.push(request.headers.authorization);
    if (this.key !== undefined && request.headers.authorization !== `Bearer ${this.key}`) return json(401, { error: { message: "That key is not known.", code: "invalid_api_key" } });
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const tool = body.tools?.find((one) => one.function.name === "ready");
    const delta = tool ? { tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "ready", arguments: '{"word":"yes"}' } }] } : { content: "Hello from a small model." };
    const part = (choices, more = {}) => `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: body.model, choices, ...more })}\n\n`;
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(part([{ index: 0, delta: { role: "assistant", content: "", ...delta }, finish_reason: null }]));
    response.write(part([{ index: 0, delta: {}, finish_reason: tool ? "tool_calls" : "stop" }]));
    response.end(`${part([], { usage: { prompt_tokens: 20, completion_tokens: 5 } })}data: [DONE]\n\n`);
  }

  close() {
    this.http.closeAllConnections();
    return new Promise((done) => this.http.close(done));
  }
}
