import { Store } from "./store.ts";

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: "info" | "error";
  readonly action?: { readonly label: string; readonly run: () => void };
}

type Action = { readonly show: Toast } | { readonly dismiss: number };

const MOST_SHOWN = 3;

export const toasts = new Store<readonly Toast[], Action>([], (shown, action) =>
  "show" in action
    ? [...shown.slice(1 - MOST_SHOWN), action.show]
    : shown.filter((toast) => toast.id !== action.dismiss),
);

let lastId = 0;

export function showToast(text: string, options: Partial<Pick<Toast, "tone" | "action">> = {}): void {
  lastId += 1;
  const toast: Toast = { id: lastId, text, tone: "info", ...options };
  toasts.dispatch({ show: toast });
  setTimeout(() => toasts.dispatch({ dismiss: toast.id }), toast.action ? 15_000 : 6_000);
}

export const showError = (error: unknown): void =>
  showToast(error instanceof Error ? error.message : String(error), { tone: "error" });
