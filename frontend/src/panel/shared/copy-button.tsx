import { useState } from "react";
import { Icon } from "./icons.tsx";
import { complain } from "./toasts.tsx";

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 1_500);
    } catch (error) {
      complain(error);
    }
  };
  return (
    <button type="button" className="icon-button" aria-label={copied ? "Copied" : label} title={label} onClick={copy}>
      <Icon name={copied ? "check" : "copy"} />
    </button>
  );
}
