import { useEffect, useRef } from "react";
import { useStore } from "../stores/store.ts";
import { toasts } from "../stores/toasts.ts";
import { Icon } from "./icons.tsx";
import styles from "./toasts.module.css";
import ui from "./ui.module.css";

export function Toasts() {
  const shown = useStore(toasts);
  const box = useRef<HTMLDivElement>(null);
  // In the page they take room of their own and cover nothing. Over a dialog they have to be a popover.
  const over = document.querySelector("dialog[open]") !== null;
  useEffect(() => {
    if (!over) return;
    box.current?.hidePopover?.();
    if (shown.length > 0) box.current?.showPopover?.();
  }, [shown, over]);
  return (
    <div
      ref={box}
      popover={over ? "manual" : undefined}
      className={styles.toasts}
      role="region"
      aria-label="Messages"
      aria-live="polite"
    >
      {shown.map(({ id, text, tone, action }) => {
        const dismiss = () => toasts.dispatch({ dismiss: id });
        return (
          <div key={id} className={styles.toast} data-tone={tone}>
            <span>{text}</span>
            {action && (
              <button
                type="button"
                className={ui.button}
                onClick={() => {
                  action.run();
                  dismiss();
                }}
              >
                {action.label}
              </button>
            )}
            <button type="button" className={ui.iconButton} aria-label="Dismiss" onClick={dismiss}>
              <Icon name="close" />
            </button>
          </div>
        );
      })}
    </div>
  );
}
