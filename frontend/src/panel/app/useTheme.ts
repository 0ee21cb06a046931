import { useEffect } from "react";
import { usePreferences } from "../stores/preferences.ts";

/** Sets the theme as an attribute of the page, which theme/tokens.css reads. */
export function useTheme(): void {
  const { theme } = usePreferences();
  useEffect(() => {
    if (theme === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
  }, [theme]);
}
