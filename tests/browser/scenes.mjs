// What the pictures show: the task that is open, if any, and what happens before the picture is taken.
import { panel } from "./browser.mjs";

const settings = (name, shown) => ({
  show: async (page) => {
    await page.keyboard.press("Control+,");
    await page.getByRole("tab", { name }).click();
    await shown(page).waitFor();
  },
});

const typed = (text, dialog, shown) => ({
  show: async (page) => {
    await panel(page).task.fill(text);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: dialog }).waitFor();
    await shown(page).waitFor();
  },
});

const latest = async (page) => {
  await page.getByRole("article").first().waitFor();
  await page.getByRole("log").evaluate((log) => log.scrollTo(0, log.scrollHeight));
};

/** Lets a page lose its sidecar, which the other scenes need. */
function loseable() {
  const real = window.fetch;
  const lost = new AbortController();
  window.lose = () => lost.abort();
  window.fetch = async (input, init) => {
    if (lost.signal.aborted) throw new TypeError("Failed to fetch");
    const signals = [lost.signal, ...(init?.signal ? [init.signal] : [])];
    return real(input, { ...init, signal: AbortSignal.any(signals) });
  };
}

export const scenes = {
  welcome: {
    show: async (page) => {
      await page.getByRole("button", { name: "New task" }).first().click();
      await page.getByRole("list", { name: "Examples" }).getByRole("button").first().waitFor();
    },
  },
  running: { task: "running", show: (page) => page.getByText(/measuring \d+ of/).first().waitFor() },
  queue: {
    task: "writing",
    show: async (page) => {
      await page.locator("[data-message=growing]").waitFor();
      for (const text of ["Skip the tests.", "When you are done, write what is slow into prices.md, and nothing else."]) {
        await panel(page).task.fill(text);
        await page.keyboard.press("Enter");
      }
      await page.getByRole("list", { name: "Queued messages" }).waitFor();
    },
  },
  task: {
    task: "done",
    show: async (page) => {
      await page.getByRole("button", { name: "Accept", exact: true }).first().waitFor({ state: "attached" });
      await page.locator("[data-token=keyword]").first().waitFor({ state: "attached" });
    },
  },
  transcript: {
    task: "rich",
    show: async (page) => {
      await page.locator("math").nth(1).waitFor({ state: "attached" });
      await page.getByRole("log").evaluate((log) => log.scrollTo(0, 0));
    },
  },
  diagram: {
    task: "rich",
    show: async (page) => {
      const diagram = page.getByRole("img", { name: /^Diagram/ });
      await diagram.scrollIntoViewIfNeeded();
      await page.waitForFunction(() => document.querySelector("img[alt^=Diagram]")?.naturalWidth > 50);
      await diagram.scrollIntoViewIfNeeded();
    },
  },
  preview: {
    task: "rich",
    show: async (page) => {
      await page.getByRole("button", { name: "shop/orders.py:4" }).click();
      await page.getByRole("dialog").getByText("def orders").waitFor();
    },
  },
  retried: { task: "retried", show: latest },
  escalated: { task: "stuck", show: (page) => page.getByRole("form", { name: "What to do next" }).waitFor() },
  failed: { task: "failed", show: (page) => page.getByRole("button", { name: "Change key" }).first().waitFor() },
  review: { task: "done", show: (page) => page.getByRole("button", { name: "Accept", exact: true }).first().scrollIntoViewIfNeeded() },
  back: {
    task: "done",
    show: async (page) => {
      await page.getByRole("button", { name: "Rewind", exact: true }).first().click();
      await page.getByRole("list", { name: "What would change" }).waitFor();
    },
  },
  approval: { task: "approval", show: (page) => panel(page).allow.waitFor() },
  approvalOfAFile: { task: "diffs", show: (page) => panel(page).allow.waitFor() },
  question: { task: "question", show: (page) => page.getByRole("region", { name: "Question" }).waitFor() },
  slash: {
    task: "rich",
    show: async (page) => {
      await panel(page).task.fill("/re");
      await page.getByRole("option").first().waitFor();
    },
  },
  mention: {
    task: "rich",
    show: async (page) => {
      await panel(page).task.pressSequentially("compare @pri");
      await page.getByRole("option").first().waitFor();
    },
  },
  picker: {
    show: async (page) => {
      await page.getByRole("button", { name: "New task" }).first().click();
      await page.getByRole("button", { name: /^Model:/ }).click();
      await page.getByRole("menu").waitFor();
    },
  },
  modes: {
    show: async (page) => {
      await page.getByRole("button", { name: "New task" }).first().click();
      await page.getByRole("button", { name: /^Approvals:/ }).click();
      await page.getByRole("menu").waitFor();
    },
  },
  palette: {
    task: "done",
    show: async (page) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").fill("th");
      await page.getByRole("option").first().waitFor();
    },
  },
  dashboard: {
    show: async (page) => {
      await page.getByRole("button", { name: "Dashboard" }).click();
      await page.getByRole("dialog", { name: "Dashboard" }).getByText(/slots in use/).waitFor();
    },
  },
  find: typed("/find scale the values", "Find in code", (page) => page.getByRole("button", { name: /^scale/ })),
  graph: typed("/graph shop/money.py", "Imports and impact", (page) => page.getByText(/may break if it changes/)),
  history: {
    task: "done",
    show: async (page) => {
      const drawer = page.getByRole("button", { name: "Tasks", exact: true });
      if (await drawer.isVisible()) await drawer.click();
      await page.getByRole("navigation", { name: "Tasks" }).getByText("Give add() type hints").first().waitFor();
    },
  },
  search: {
    task: "done",
    show: async (page) => {
      const drawer = page.getByRole("button", { name: "Tasks", exact: true });
      if (await drawer.isVisible()) await drawer.click();
      await page.getByRole("searchbox", { name: "Search tasks" }).fill("add");
      await page.getByRole("navigation", { name: "Tasks" }).getByText("clean up").waitFor({ state: "detached" });
    },
  },
  general: settings("General", (page) => page.getByText("Appearance")),
  models: settings("Models and keys", (page) => page.getByText("openai/tiny-coder")),
  allowed: settings("Approvals", (page) => page.getByRole("button", { name: /^Revoke/ }).first()),
  servers: settings("MCP servers", (page) => page.getByRole("tabpanel")),
  doctor: settings("Health", (page) => page.getByRole("list", { name: "OK" })),
  about: settings("About", (page) => page.getByText("Journal", { exact: true })),
  lost: {
    task: "running",
    show: async (page) => {
      await page.addInitScript(loseable);
      await page.reload();
      await page.getByText(/measuring \d+ of/).first().waitFor();
      await page.evaluate(() => window.lose());
      await page.getByRole("alert").getByText(/does not answer/).waitFor();
    },
  },
};
