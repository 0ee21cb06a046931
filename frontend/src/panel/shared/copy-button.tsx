import { useState } from "react";
import { showError } from "../stores/toasts.ts";
import { Icon } from "./icons.tsx";
import ui from "./ui.module.css";

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 1_500);
    } catch (error) {
      showError(error);
    }
  };
  return (
    <button type="button" className={ui.iconButton} aria-label={copied ? "Copied" : label} title={label} onClick={copy}>
      <Icon name={copied ? "check" : "copy"} />
    </button>
  );
}
