// The workspace and the tasks of the pictures.
import { demo, files as shop } from "./demo.mjs";

const imports = { money: [], tax: ["money"], prices: ["money", "tax"], cart: ["prices"], orders: ["cart", "prices"], mail: ["orders"], reports: ["orders", "tax"] };
const modules = Object.entries(imports).map(([name, others]) => [
  `shop/${name}.py`,
  `${others.map((each) => `from shop.${each} import ${each}\n`).join("")}\n\ndef ${name}():\n    return ${others.map((each) => `${each}()`).join(" + ") || 1}\n`,
]);

export const files = { ...shop, ...Object.fromEntries(modules), "shop/__init__.py": "" };

const answer = `The total of an order comes from \`shop/orders.py:4\`, see also [the tests](test_calc.py). Three things happen:

1. The cart adds its prices.
2. ~~Every price is rounded.~~ Only the sum is rounded.
3. Tax is added last.[^1]

- [x] read the modules
- [ ] ask what to do about discounts

| module | called by | lines | covered | owner |
| --- | --- | ---: | ---: | --- |
| \`shop/prices.py\` | cart, orders | 6 | 92 % | payments |
| \`shop/orders.py\` | mail, reports | 6 | 71 % | orders |

The tax of a price $p$ is $t = \\frac{19}{100} p$, so the sum is

$$
\\sum_{i=1}^{n} p_i \\left(1 + \\frac{19}{100}\\right)
$$

\`\`\`mermaid
graph LR
  C[Cart] --> P[Prices] --> T[Tax]
  C --> O[Orders]
  P --> O
\`\`\`

\`\`\`diff
-    return round(price) + tax
+    return round(price + tax)
\`\`\`

> Rounding once is what the old invoices did, too.

مرحبا: المجموع في ملف الطلبات.

[^1]: As the law has it since 2007.
`;

const write = (body) => ({ calls: [{ tool: "write_file", args: { path: "calc.py", content: `def add(a, b):\n    return ${body}\n\n\ndef scale(values, factor):\n    return [value * factor for value in values]\n` } }] });
const passed = Array(6).fill({ text: '{"passed": true}' });
const edits = { intent: "edit_code", approvals: "auto" };
const asksForDiff = [
  { text: "I'll write the script that CI calls.", calls: [{ tool: "create_file", args: { path: ".github/workflows/test.yml", content: "name: test\non: [push]\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: pip install pytest\n      - run: pytest -q\n" } }] },
  { text: "Done." },
];

/** Starts the tasks, waits for those that end, and returns their ids by name. */
export async function startTasks(sidecar) {
  const run = async (name, task, replies, options = {}) => sidecar.execute(task, { models: await sidecar.script(name, replies), ...options });
  const until = async (id, statuses) => {
    for (let tries = 0; !statuses.includes((await sidecar.task(id)).status); tries += 1) {
      if (tries > 1_200) throw new Error(`${id} is never ${statuses.join(" or ")}: ${JSON.stringify(await sidecar.task(id))}`);
      await new Promise((soon) => setTimeout(soon, 100));
    }
    return id;
  };
  const ended = (id) => until(id, ["completed", "failed", "escalated"]);
  const approval = await until(
    await run("asks", "clean up the build directory", [{ text: "I'll remove what the last build left behind.", calls: [{ tool: "run_command", args: { command: ["rm", "-rf", "build/cache", "it's old"] } }] }, { text: "Done." }], { intent: "run_command" }),
    ["waiting"],
  );
  const diffs = await until(await run("diffs", "Run the tests on every push", asksForDiff, { intent: "edit_code", agentType: "coder" }), ["waiting"]);
  const question = await until(await sidecar.execute("rename scale to multiply", { plan: true }), ["waiting"]);
  const once = await until(await run("allowed", "make the notes", [{ calls: [{ tool: "run_command", args: { command: "touch notes.md" } }] }, { text: "ok" }, { text: "ok" }], { intent: "run_command" }), ["waiting"]);
  const { events } = await sidecar.call("GET", `/api/brain/tasks/${once}/events`);
  const { approvalId } = events.findLast((event) => event.type === "approval");
  await sidecar.call("POST", `/api/brain/tasks/${once}/approvals/${approvalId}`, { decision: "allow", scope: "workspace" });
  await ended(once);
  await sidecar.trust();
  const done = await ended(await run("demo", "Give add() type hints and a docstring, and prove that it still works", demo, { intent: "edit_code", approvals: "ask" }));
  const reads = ["shop/orders.py", "shop/prices.py", "shop/cart.py", "shop/tax.py"].map((path) => ({ tool: "read_file", args: { path } }));
  const rich = await ended(
    await run("rich", "How is the total of an order computed?", [{ thinking: "The orders call the **cart**, so I read both.", text: "I'll read the modules that compute prices.", calls: [...reads, { tool: "search_code", args: { query: "orders(" } }] }, { text: answer, usage: { inputTokens: 5_200, outputTokens: 640, cachedTokens: 1_000, costUsd: 0.021 } }], { intent: "explain_code" }),
  );
  const failed = await ended(await run("failed", "Explain the prices", [{ failure: { code: "bad_key", message: "Anthropic rejected the key.", recoverable: true } }], { intent: "explain_code" }));
  const retried = await ended(await run("retried", "Let add() take any number of values", { coder: [{ text: "I'll make it take more values.", ...write("a * b") }, { text: "It adds now." }, { text: "The test expects 3 for 1 and 2, and got 2. I mixed the signs up.", ...write("a + b") }, { text: "`add()` adds again." }], reviewer: passed }, edits));
  const stuck = await ended(await run("stuck", "Make add() faster", { coder: Array(3).fill([write("a * b"), { text: "It is faster." }]).flat(), reviewer: passed }, edits));
  const running = await run("running", "Look at the prices and tell me what is slow", [{ text: "First I'll look at what there is.", calls: [{ tool: "read_file", args: { path: "calc.py" } }, { tool: "search_code", args: { query: "scale(" } }] }, { calls: [{ tool: "run_command", args: { command: "for i in $(seq 1 40000); do echo \"measuring $i of 40000\"; sleep 0.2; done", timeoutMs: 3_600_000 } }] }, { text: "All is fast." }], { intent: "refactor_code", agentType: "coder", approvals: "auto" });
  const writing = await run("writing", "Write down how prices come about", [{ text: "A price is what the shop asks for a thing. ".repeat(200), deltaMs: 1_000 }, { text: "Done." }], { intent: "chat" });
  return { approval, diffs, question, done, rich, failed, retried, stuck, running, writing };
}
