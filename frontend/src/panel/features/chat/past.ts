const KEY = "rainy-brain.asked";
const MOST = 100;

/** What was asked before, newest last; the arrow keys walk through it. */
export function asked(): string[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

export function remember(text: string): void {
  const kept = asked().filter((one) => one !== text);
  try {
    localStorage.setItem(KEY, JSON.stringify([...kept, text].slice(-MOST)));
  } catch {
    // Nothing depends on it.
  }
}

const DRAFT = "rainy-brain.draft";
export const savedDraft = (): string => sessionStorage.getItem(DRAFT) ?? "";
export const saveDraft = (text: string): void => {
  try {
    sessionStorage.setItem(DRAFT, text);
  } catch {
    // See above.
  }
};
