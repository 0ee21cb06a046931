import { describe, expect, it } from "vitest";
import { mentioned, offered } from "../features/chat/mentions.ts";
import { offeredReferences } from "../features/chat/references.ts";

const none = { entries: [], files: [], symbols: [] };

describe("mentions after an @", () => {
  it("lead into folders, with the cursor after the slash, or name the whole folder", () => {
    const entries = [
      { path: "src/agents", folder: true },
      { path: "src/app.py", folder: false },
      { path: "src/my notes", folder: true },
    ];
    const text = "explain @src/ and why";
    const shown = offered({ ...none, entries, files: ["src/app.py"] }, "src/", text, 13);
    expect(shown.map(({ label, text }) => [label, text])).toEqual([
      ["src/", "explain @src/  and why"],
      ["src/agents/", "explain @src/agents/ and why"],
      ["src/app.py", "explain @src/app.py  and why"],
      ["src/my notes", 'explain @"src/my notes"  and why'],
    ]);
    expect(shown[1]!.caret).toBe("explain @src/agents/".length);
    expect(offered({ ...none, entries }, "src/ag", "@src/ag", 7).map(({ label }) => label)).toEqual(["src/agents/"]);
  });

  it("quote names with spaces, when written and when read", () => {
    const [only] = offered({ ...none, files: ["a name.md"] }, "name", "see @name", 9);
    expect(only!.text).toBe('see @"a name.md" ');
    expect(mentioned(`${only!.text}and @src/app.py:10 and mail@example.org`)).toEqual(["a name.md", "src/app.py"]);
  });
});

describe("resources and prompts of MCP servers", () => {
  const list = {
    resources: [
      {
        mention: "@notes:note://today",
        server: "notes",
        uri: "note://today",
        name: "today",
        description: "",
        template: false,
      },
      {
        mention: "@notes:note://days/{day}",
        server: "notes",
        uri: "note://days/{day}",
        name: "a day",
        description: "One day",
        template: true,
      },
    ],
    prompts: [{ command: "/notes:greet", server: "notes", name: "greet", description: "Greets", arguments: [] }],
  };

  it("are offered after an @ and after a slash, and a template is left open", () => {
    const [today, day] = offeredReferences(list, "see @notes now", 10);
    expect(today).toMatchObject({ label: "@notes:note://today", hint: "today", text: "see @notes:note://today  now" });
    expect(day).toMatchObject({ text: "see @notes:note://days/ now", caret: "see @notes:note://days/".length });
    expect(offeredReferences(list, "/gre", 4).map(({ text }) => text)).toEqual(["/notes:greet "]);
    expect(offeredReferences(list, "/gre x", 6)).toEqual([]);
  });
});
