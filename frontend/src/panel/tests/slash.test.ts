import { describe, expect, it } from "vitest";
import { BrainService, fixedToken } from "../../client/index.ts";
import { json, ScriptedSidecar } from "../../client/tests/sidecar.ts";
import { slashSuggestions, understood } from "../features/chat/slash.ts";
import { lookAtAgents } from "../shared/agents.ts";

const agent = (name: string) => ({ name, description: "Knows it well.", role: "smart", tools: [], maxIterations: 8 });

describe("what stands after a slash", () => {
  it("names a kind of task, one of the sidecar's agents or one of the person's own; a path is a task", async () => {
    const sidecar = new ScriptedSidecar([json({ agents: [agent("coder"), agent("sql-expert"), agent("docs")] })]);
    await lookAtAgents(new BrainService({ credentials: fixedToken("x"), fetch: sidecar.fetch }));
    expect(understood("/explain it")).toMatchObject({ text: "/explain it", intent: "explain_code", agent: undefined });
    expect(understood("/coder do it")).toMatchObject({ text: "do it", agent: "coder" });
    expect(understood("/sql-expert add a column")).toMatchObject({ text: "add a column", agent: "sql-expert" });
    expect(understood("/docs write them")).toMatchObject({ intent: "write_docs", agent: undefined });
    expect(understood("/etc/hosts is what?")).toMatchObject({ kind: "task", text: "/etc/hosts is what?" });
    expect(slashSuggestions("/sq").map(({ label }) => label)).toEqual(["/sql-expert"]);
  });

  it("is said back when it is nearly a word of the panel, and is a sentence for whoever insists", () => {
    expect(understood("/sql-exprt add a column")).toMatchObject({
      kind: "misspelled",
      word: "sql-exprt",
      meant: "sql-expert",
      sentence: { kind: "task", text: "/sql-exprt add a column" },
    });
    expect(understood("/codre do it")).toMatchObject({ kind: "misspelled", meant: "coder" });
    // What the sidecar knows better is left to it, and an address is none of it.
    for (const text of ["/exlpain it", "/etc is what?", "/coders answers 500", "/tmp fills up"])
      expect(understood(text)).toMatchObject({ kind: "task", text, intent: undefined });
  });

  it("says so when a command of a task has no task to act on", () => {
    expect(understood("/cancel")).toMatchObject({ kind: "away" });
    expect(understood("/cancel the subscription of Ada")).toMatchObject({ kind: "task" });
  });
});
