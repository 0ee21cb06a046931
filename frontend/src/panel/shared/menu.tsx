import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { Icon, type IconName } from "./icons.tsx";
import styles from "./menu.module.css";

export interface Choice<T> {
  readonly value: T;
  readonly label: string;
  readonly hint?: string;
  readonly disabled?: boolean;
}

interface Props<T> {
  readonly label: string;
  /** The current choice; undefined for a menu of actions. */
  readonly value: T | undefined;
  readonly choices: readonly Choice<T>[];
  readonly onChoose: (value: T) => void;
  /** Shown instead of the current choice. */
  readonly icon?: IconName;
  /** Opens below its button. */
  readonly below?: boolean;
  /** Offers a field that filters the choices. */
  readonly searchable?: boolean;
  /** Shown on the button behind the current choice. */
  readonly suffix?: string | undefined;
  /** More choices, with `data-choice`, below the others. */
  readonly children?: ReactNode;
}

/** A button with the current choice, and a menu above it; Esc or a click elsewhere closes it. */
export function Menu<T extends string | null>(props: Props<T>) {
  const { label, value, choices, onChoose, icon, below, searchable, suffix, children } = props;
  const [typed, setTyped] = useState("");
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const chosen = choices.find((choice) => choice.value === value);
  const items = () => [...(root.current?.querySelectorAll<HTMLElement>("[data-choice]:not(:disabled)") ?? [])];
  const wanted = typed.trim().toLowerCase();
  const shown = choices.filter((choice) => `${choice.label} ${choice.hint ?? ""}`.toLowerCase().includes(wanted));
  useEffect(() => {
    if (!open) return;
    setTyped("");
    const find = (selector: string) => root.current?.querySelector<HTMLElement>(selector);
    (find("input") ?? find("[aria-checked=true]:not(:disabled)") ?? find("[data-choice]:not(:disabled)"))?.focus();
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
    if (document.activeElement instanceof HTMLInputElement && (event.key === "Home" || event.key === "End")) return;
    if (next !== undefined) all.at(next % all.length)?.focus();
    else if (event.key === "Enter" && place < 0) all[0]?.click();
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
        aria-label={icon ? label : `${label}: ${chosen?.label ?? value ?? ""}${suffix ? `, ${suffix}` : ""}`}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {icon ? (
          <Icon name={icon} />
        ) : (
          <>
            <span>
              {chosen?.label ?? value}
              {suffix && ` · ${suffix}`}
            </span>
            <Icon name="chevron" />
          </>
        )}
      </button>
      {open && (
        <div className={styles.list} data-below={below || undefined}>
          {searchable && (
            <input
              type="search"
              aria-label={`Search: ${label}`}
              placeholder="Search"
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          )}
          <div role="menu" aria-label={label}>
            {shown.map((choice) => (
              <button
                key={choice.value}
                type="button"
                {...(value === undefined
                  ? { role: "menuitem" }
                  : { role: "menuitemradio", "aria-checked": choice.value === value })}
                data-choice=""
                disabled={choice.disabled}
                onClick={() => {
                  close();
                  onChoose(choice.value);
                }}
              >
                <span>{choice.label}</span>
                {choice.hint && <small>{choice.hint}</small>}
              </button>
            ))}
            {children}
          </div>
        </div>
      )}
    </div>
  );
}
