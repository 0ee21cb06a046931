import { type ReactNode, useEffect, useRef } from "react";
import { Icon } from "./icons.tsx";

interface Props {
  readonly label: string;
  readonly className?: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** With a title bar that has a close button. */
  readonly titled?: boolean;
}

/** The browser's own modal dialog: it keeps the focus inside, closes with Esc, and gives the focus back. */
export function Dialog({ label, className = "", onClose, children, titled = false }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current!;
    const before = document.activeElement;
    dialog.showModal();
    dialog.querySelector<HTMLElement>("[data-first]")?.focus();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc does what a click beside the dialog does
    <dialog
      ref={element}
      className={`dialog ${className}`}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === element.current) onClose();
      }}
    >
      <div className="dialog-body">
        {titled && (
          <header className="dialog-head">
            <h2>{label}</h2>
            <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
              <Icon name="close" />
            </button>
          </header>
        )}
        {children}
      </div>
    </dialog>
  );
}
