import { useEffect, useRef } from "react";
import { useStore } from "../stores/store.ts";
import { toasts } from "../stores/toasts.ts";
import { Icon } from "./icons.tsx";
import styles from "./toasts.module.css";
import ui from "./ui.module.css";

export function Toasts() {
  const shown = useStore(toasts);
  const box = useRef<HTMLDivElement>(null);
  // Reopened for each toast, so that it is above a dialog that opened in between.
  useEffect(() => {
    box.current?.hidePopover?.();
    if (shown.length > 0) box.current?.showPopover?.();
  }, [shown]);
  return (
    <div ref={box} popover="manual" className={styles.toasts} role="region" aria-label="Messages" aria-live="polite">
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
