import { useEffect, useRef } from "react";
import { BrainError } from "../../client/index.ts";
import { Icon } from "./icons.tsx";
import { Store, useStore } from "./store.ts";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: "info" | "error";
  readonly action?: { readonly label: string; readonly run: () => void };
}

const toasts = new Store<readonly Toast[]>([]);
let last = 0;

export function say(text: string, more: Partial<Pick<Toast, "tone" | "action">> = {}): void {
  last += 1;
  const toast: Toast = { id: last, text, tone: "info", ...more };
  toasts.update((before) => [...before.slice(-2), toast]);
  setTimeout(() => dismiss(toast.id), toast.action ? 15_000 : 6_000);
}

/** Says what went wrong in the sidecar's own words. */
export function complain(error: unknown): void {
  const text = error instanceof BrainError ? error.message : error instanceof Error ? error.message : String(error);
  say(text, { tone: "error" });
}

const dismiss = (id: number) => toasts.update((before) => before.filter((toast) => toast.id !== id));

export function Toasts() {
  const shown = useStore(toasts);
  const box = useRef<HTMLDivElement>(null);
  // Shown anew each time, so that it stands above a dialog that was opened since.
  useEffect(() => {
    box.current?.hidePopover?.();
    if (shown.length > 0) box.current?.showPopover?.();
  }, [shown]);
  return (
    <div ref={box} popover="manual" className="toasts" role="region" aria-label="Messages" aria-live="polite">
      {shown.map((toast) => (
        <div key={toast.id} className={`toast toast-${toast.tone}`}>
          <span>{toast.text}</span>
          {toast.action && (
            <button
              type="button"
              className="button"
              onClick={() => {
                toast.action?.run();
                dismiss(toast.id);
              }}
            >
              {toast.action.label}
            </button>
          )}
          <button type="button" className="icon-button" aria-label="Dismiss" onClick={() => dismiss(toast.id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
