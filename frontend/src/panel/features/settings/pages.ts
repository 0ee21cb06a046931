/** The settings pages in order; each is a command of the palette too. */
export const PAGES = {
  general: "General",
  models: "Models and keys",
  approvals: "Approvals",
  servers: "MCP servers",
  health: "Health",
  about: "About",
} as const;

export type Page = keyof typeof PAGES;
export const isPage = (name: string): name is Page => Object.hasOwn(PAGES, name);
