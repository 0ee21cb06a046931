import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { OpenCall } from "../wire/types.ts";
import { FRAME_LIMIT } from "./frames.ts";
import { ResultLog } from "./log.ts";
import { type Effect, ShellSession } from "./session.ts";

const call = (id = "c1", args: OpenCall["args"] = {}): OpenCall => ({
  id,
  tool: "read_file",
  args,
  timeoutMs: 10_000,
  workspace: "/w",
});
const framed = (open: OpenCall) => JSON.stringify({ type: "tool_call", ...open });
const welcome = (...open: OpenCall[]) => JSON.stringify({ type: "welcome", session: "s1", heartbeatSeconds: 15, open });
const cancel = (id = "c1") => JSON.stringify({ type: "cancel", id });
const sent = (effects: Effect[]) =>
  effects.flatMap((effect) => (effect.kind === "send" ? [JSON.parse(effect.text)] : []));
const kinds = (effects: Effect[]) => effects.map((effect) => effect.kind);

function connected(log = new ResultLog()): ShellSession {
  const session = new ShellSession({ name: "test", version: "1" }, "/w", ["read_file"], log);
  session.receive(welcome());
  return session;
}

describe("a shell's session", () => {
  test("introduces itself, then resumes its session", () => {
    const session = new ShellSession({ name: "test", version: "1" }, "/w", ["read_file"]);
    const hello = { type: "hello", shell: { name: "test", version: "1" }, workspace: "/w", tools: ["read_file"] };
    expect(JSON.parse(session.hello())).toEqual(hello);
    session.receive(welcome());
    session.receive(framed(call()));
    session.lost();
    expect(JSON.parse(session.hello())).toEqual({ ...hello, session: "s1", remembers: ["c1"] });
  });

  test("runs a call once, and answers every repeat", () => {
    const session = connected();
    expect(kinds(session.receive(framed(call())))).toEqual(["run"]);
    expect(session.receive(framed(call()))).toEqual([]);
    const answer = session.result("c1", { content: "first" });
    expect(sent(answer)).toEqual([{ type: "tool_result", id: "c1", result: { content: "first" } }]);
    expect(session.receive(framed(call()))).toEqual(answer);
    expect(session.result("c1", { content: "second" })).toEqual([]);
  });

  test("keeps a result while disconnected, and sends it once after the welcome", () => {
    const session = connected();
    session.receive(framed(call()));
    session.lost();
    expect(session.result("c1", { content: "kept" })).toEqual([]);
    expect(kinds(session.receive(welcome(call())))).toEqual(["welcomed", "send"]);
    expect(session.receive(framed(call()))).toEqual([]);
    expect(session.receive(framed(call()))).toHaveLength(1);
  });

  test("keeps running calls across connections", () => {
    const session = connected();
    session.receive(framed(call()));
    session.lost();
    expect(kinds(session.receive(welcome(call())))).toEqual(["welcomed"]);
    expect(session.result("c1", { content: "x" })).toHaveLength(1);
  });

  test("refuses an id that another call used", () => {
    const session = connected();
    session.receive(framed(call("c1", { path: "a" })));
    expect(sent(session.receive(framed(call("c1", { path: "b" }))))[0].error.code).toBe("id_reused");
  });

  test("stops a running call, answers a late cancel with the result, and never runs a call that was cancelled first", () => {
    const session = connected();
    session.receive(framed(call()));
    expect(session.receive(cancel())).toEqual([{ kind: "stop", callId: "c1" }]);
    const answer = session.error("c1", { code: "cancelled", message: "x" }, [{ pid: 7, command: "sleep" }]);
    expect(sent(answer)[0].killed).toEqual([{ pid: 7, command: "sleep" }]);
    expect(session.receive(cancel())).toEqual(answer);
    expect(sent(session.receive(cancel("never")))[0].error.code).toBe("cancelled");
    expect(kinds(session.receive(framed(call("never"))))).toEqual(["send"]);
  });

  test("streams only while the call runs and the connection is up", () => {
    const session = connected();
    expect(session.stream("c1", "stdout", "x")).toEqual([]);
    session.receive(framed(call()));
    expect(session.stream("c1", "stdout", "x")).toHaveLength(1);
    session.lost();
    expect(session.stream("c1", "stdout", "x")).toEqual([]);
  });

  test("reports a result that is too large for a frame", () => {
    const session = connected();
    session.receive(framed(call()));
    expect(sent(session.result("c1", { content: "x".repeat(FRAME_LIMIT) }))[0].error.code).toBe("too_large");
  });

  test("does not repeat a call whose result was dropped", () => {
    const session = connected(new ResultLog({ answers: 2, characters: 10_000, dropped: 10 }));
    for (const id of ["a", "b", "c", "d"]) {
      session.receive(framed(call(id)));
      session.result(id, { content: "x" });
    }
    expect(sent(session.receive(framed(call("a"))))[0].error.code).toBe("answer_dropped");
    expect(sent(session.receive(framed(call("d"))))[0].type).toBe("tool_result");
  });

  test.each(["", "{", "[]", "null", "{}", '{"type":"?"}', '{"type":"tool_call"}', 7, undefined])(
    "answers the bad frame %j with an error",
    (text) => {
      expect(sent(connected().receive(text))[0].type).toBe("error");
    },
  );

  test("no call runs twice, however frames repeat and connections break", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("call" as const), id: fc.constantFrom("a", "b", "c") }),
      fc.record({ kind: fc.constant("answer" as const), id: fc.constantFrom("a", "b", "c") }),
      fc.record({ kind: fc.constant("cancel" as const), id: fc.constantFrom("a", "b", "c") }),
      fc.record({ kind: fc.constant("lost" as const), id: fc.constantFrom("a", "b", "c") }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const session = connected();
        const runs = new Map<string, number>();
        const count = (effects: Effect[]) => {
          for (const effect of effects) {
            if (effect.kind === "run") runs.set(effect.call.id, (runs.get(effect.call.id) ?? 0) + 1);
          }
        };
        for (const { kind, id } of steps) {
          if (kind === "call") count(session.receive(framed(call(id))));
          if (kind === "answer") session.result(id, { content: id });
          if (kind === "cancel") count(session.receive(cancel(id)));
          if (kind === "lost") {
            session.lost();
            count(session.receive(welcome(call(id))));
          }
        }
        expect([...runs.values()].every((times) => times === 1)).toBe(true);
      }),
    );
  });
});
