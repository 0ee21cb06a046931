import { useEffect } from "react";
import { usePreferences } from "../shared/preferences.ts";

/** The theme is an attribute of the page; the style sheets do the rest. */
export function useTheme(): void {
  const { theme } = usePreferences();
  useEffect(() => {
    if (theme === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
  }, [theme]);
}
