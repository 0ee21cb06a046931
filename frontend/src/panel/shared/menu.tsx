import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Icon } from "./icons.tsx";
import styles from "./menu.module.css";

export interface Choice<T> {
  readonly value: T;
  readonly label: string;
  readonly hint?: string;
  readonly disabled?: boolean;
}

interface Props<T> {
  readonly label: string;
  readonly value: T;
  readonly choices: readonly Choice<T>[];
  readonly onChoose: (value: T) => void;
}

/** A button with the current choice, and a menu above it. */
export function Menu<T extends string | null>({ label, value, choices, onChoose }: Props<T>) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const chosen = choices.find((choice) => choice.value === value);
  const items = () => [...(root.current?.querySelectorAll<HTMLElement>("[role=menuitemradio]:not(:disabled)") ?? [])];
  useEffect(() => {
    if (!open) return;
    const current = root.current?.querySelector<HTMLElement>("[aria-checked=true]:not(:disabled)");
    (current ?? root.current?.querySelector<HTMLElement>("[role=menuitemradio]:not(:disabled)"))?.focus();
    const outside = (event: PointerEvent) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    window.addEventListener("pointerdown", outside);
    return () => window.removeEventListener("pointerdown", outside);
  }, [open]);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!open) return;
    const all = items();
    const place = all.indexOf(document.activeElement as HTMLElement);
    const next = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: -1 }[event.key];
    if (next !== undefined) all.at(next % all.length)?.focus();
    else if (event.key === "Escape" || event.key === "Tab") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are for the menu inside
    <div className={styles.menu} ref={root} onKeyDown={onKeyDown}>
      <button
        ref={button}
        type="button"
        className={styles.button}
        aria-label={`${label}: ${chosen?.label ?? value ?? ""}`}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <span>{chosen?.label ?? value}</span>
        <Icon name="chevron" />
      </button>
      {open && (
        <div className={styles.list} role="menu" aria-label={label}>
          {choices.map((choice) => (
            <button
              key={choice.value}
              type="button"
              role="menuitemradio"
              aria-checked={choice.value === value}
              disabled={choice.disabled}
              onClick={() => {
                onChoose(choice.value);
                close();
              }}
            >
              <span>{choice.label}</span>
              {choice.hint && <small>{choice.hint}</small>}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
