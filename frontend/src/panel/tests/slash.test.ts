import { describe, expect, it } from "vitest";
import { BrainService, fixedToken } from "../../client/index.ts";
import { json, ScriptedSidecar } from "../../client/tests/sidecar.ts";
import { parseInput, slashSuggestions } from "../features/chat/slash.ts";
import { loadAgents } from "../stores/catalog.ts";

const agent = (name: string) => ({ name, description: "Knows it well.", role: "smart", tools: [], maxIterations: 8 });

describe("slash commands", () => {
  it("name an intent, a built-in agent or one of your own; a path is a task", async () => {
    const sidecar = new ScriptedSidecar([json({ agents: [agent("coder"), agent("sql-expert"), agent("docs")] })]);
    await loadAgents(new BrainService({ credentials: fixedToken("x"), fetch: sidecar.fetch }));
    expect(parseInput("/explain it")).toMatchObject({ text: "/explain it", intent: "explain_code", agent: undefined });
    expect(parseInput("/coder do it")).toMatchObject({ text: "do it", agent: "coder" });
    expect(parseInput("/sql-expert add a column")).toMatchObject({ text: "add a column", agent: "sql-expert" });
    expect(parseInput("/docs write them")).toMatchObject({ intent: "write_docs", agent: undefined });
    expect(parseInput("/etc/hosts is what?")).toMatchObject({ kind: "task", text: "/etc/hosts is what?" });
    expect(slashSuggestions("/sq").map(({ label }) => label)).toEqual(["/sql-expert"]);
  });

  it("are suggested for a typo, which you can still send as a task", () => {
    expect(parseInput("/sql-exprt add a column")).toMatchObject({
      kind: "mistyped",
      word: "sql-exprt",
      suggestion: "sql-expert",
      asTask: { kind: "task", text: "/sql-exprt add a column" },
    });
    expect(parseInput("/codre do it")).toMatchObject({ kind: "mistyped", suggestion: "coder" });
    // The sidecar suggests its own commands; a path is not a typo.
    for (const text of ["/exlpain it", "/etc is what?", "/coders answers 500", "/tmp fills up"])
      expect(parseInput(text)).toMatchObject({ kind: "task", text, intent: undefined });
  });

  it("report a command that needs a task", () => {
    expect(parseInput("/cancel")).toMatchObject({ kind: "unavailable" });
    expect(parseInput("/cancel the subscription of Ada")).toMatchObject({ kind: "task" });
  });
});
