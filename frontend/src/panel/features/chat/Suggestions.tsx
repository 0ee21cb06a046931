import { useEffect } from "react";
import styles from "./Composer.module.css";
import type { Suggestion } from "./slash.ts";

export const SUGGESTIONS_ID = "composer-suggestions";

interface Props {
  readonly suggestions: readonly Suggestion[];
  readonly chosen: number;
  readonly onPick: (suggestion: Suggestion) => void;
}

export function Suggestions({ suggestions, chosen, onPick }: Props) {
  useEffect(() => {
    document.getElementById(`${SUGGESTIONS_ID}-${chosen}`)?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  return (
    <div className={styles.suggestions} id={SUGGESTIONS_ID} role="listbox" aria-label="Suggestions">
      {suggestions.map((suggestion, place) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the composer handles the keys
        // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the composer
        <div
          key={suggestion.id}
          id={`${SUGGESTIONS_ID}-${place}`}
          role="option"
          aria-selected={place === chosen}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onPick(suggestion)}
        >
          <span>{suggestion.label}</span>
          <small>{suggestion.hint}</small>
        </div>
      ))}
    </div>
  );
}
