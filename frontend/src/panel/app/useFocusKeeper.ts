import { useEffect } from "react";
import { focusComposer } from "../stores/composer.ts";

/** When the focused element disappears or is disabled, the focus goes to the composer and never falls to the page. */
export function useFocusKeeper(): void {
  useEffect(() => {
    let last: Element | null = document.activeElement;
    const remember = (event: FocusEvent) => {
      last = event.target as Element;
    };
    const check = () => {
      if (document.activeElement !== document.body && document.activeElement !== null) return;
      if (last === null || last === document.body || document.querySelector("dialog[open]")) return;
      const gone = !last.isConnected || (last instanceof HTMLButtonElement && last.disabled);
      if (gone) focusComposer();
    };
    const observer = new MutationObserver(() => requestAnimationFrame(check));
    observer.observe(document.body, { subtree: true, childList: true, attributeFilter: ["disabled"] });
    document.addEventListener("focusin", remember);
    return () => {
      observer.disconnect();
      document.removeEventListener("focusin", remember);
    };
  }, []);
}
