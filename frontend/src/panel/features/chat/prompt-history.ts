const KEY = "rainy-brain.asked";
const MOST = 100;

/** Earlier prompts, newest last. */
export function promptHistory(): string[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

export function rememberPrompt(text: string): void {
  const others = promptHistory().filter((one) => one !== text);
  try {
    localStorage.setItem(KEY, JSON.stringify([...others, text].slice(-MOST)));
  } catch {
    // Without storage there is no history.
  }
}

/** The slash commands that were used; the latest has the highest number. */
export function slashUses(): Readonly<Record<string, number>> {
  const uses: Record<string, number> = {};
  for (const [place, prompt] of promptHistory().entries()) {
    const word = /^\/\S+/.exec(prompt)?.[0];
    if (word) uses[word] = place + 1;
  }
  return uses;
}
