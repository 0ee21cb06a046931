import { createCssVariablesTheme, createHighlighterCore, type HighlighterCore } from "shiki/core";
import { createJavaScriptRegexEngine } from "shiki/engine/javascript";

/** A run of characters of one kind; the kind becomes `data-token`, which the theme colours. */
export interface Piece {
  readonly text: string;
  readonly kind: string | undefined;
}
export type Line = readonly Piece[];

// Each language loads on first use. The JavaScript engine needs no WebAssembly, which the policy forbids.
const LANGUAGES: Record<string, () => Promise<{ default: unknown }>> = {
  bash: () => import("shiki/langs/bash.mjs"),
  c: () => import("shiki/langs/c.mjs"),
  css: () => import("shiki/langs/css.mjs"),
  diff: () => import("shiki/langs/diff.mjs"),
  go: () => import("shiki/langs/go.mjs"),
  html: () => import("shiki/langs/html.mjs"),
  java: () => import("shiki/langs/java.mjs"),
  javascript: () => import("shiki/langs/javascript.mjs"),
  json: () => import("shiki/langs/json.mjs"),
  python: () => import("shiki/langs/python.mjs"),
  rust: () => import("shiki/langs/rust.mjs"),
  sql: () => import("shiki/langs/sql.mjs"),
  toml: () => import("shiki/langs/toml.mjs"),
  tsx: () => import("shiki/langs/tsx.mjs"),
  typescript: () => import("shiki/langs/typescript.mjs"),
  yaml: () => import("shiki/langs/yaml.mjs"),
};
const ALIASES: Record<string, string> = {
  cpp: "c",
  cc: "c",
  h: "c",
  htm: "html",
  js: "javascript",
  jsx: "tsx",
  jsonc: "json",
  mjs: "javascript",
  patch: "diff",
  py: "python",
  rs: "rust",
  sh: "bash",
  shell: "bash",
  ts: "typescript",
  yml: "yaml",
  zsh: "bash",
};

const theme = createCssVariablesTheme({ name: "panel", variablePrefix: "--code-", fontStyle: false });
let creating: Promise<HighlighterCore> | undefined;
const highlighter = () =>
  (creating ??= createHighlighterCore({
    themes: [theme],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  }));

export const languageOf = (name: string): string | undefined => {
  const short = name.toLowerCase().trim().split(/\s/)[0]!;
  const known = ALIASES[short] ?? short;
  return known in LANGUAGES ? known : undefined;
};

export async function highlight(text: string, name: string): Promise<readonly Line[] | undefined> {
  const language = languageOf(name);
  if (language === undefined) return undefined;
  const shiki = await highlighter();
  if (!shiki.getLoadedLanguages().includes(language)) {
    const module = await LANGUAGES[language]!();
    await shiki.loadLanguage(module.default as never);
  }
  await idle();
  const { tokens } = shiki.codeToTokens(text, { lang: language, theme: "panel" });
  return tokens.map((line) => line.map((token) => ({ text: token.content, kind: kindOf(token.color) })));
}

/** `var(--code-token-string)` is the kind `string`. */
function kindOf(colour: string | undefined): string | undefined {
  const name = /--code-token-([\w-]+)/.exec(colour ?? "")?.[1];
  return name;
}

const idle = (): Promise<void> =>
  new Promise((resolve) => {
    if (typeof requestIdleCallback === "function") requestIdleCallback(() => resolve(), { timeout: 500 });
    else setTimeout(resolve, 0);
  });
