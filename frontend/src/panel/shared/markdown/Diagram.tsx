import { memo, type ReactNode, useEffect, useState } from "react";
import styles from "./Markdown.module.css";

/** A Mermaid diagram, drawn as a picture: a picture can't load or run anything. `fallback` is its source. */
export const Diagram = memo(function Diagram({ text, fallback }: { text: string; fallback: ReactNode }) {
  const [picture, setPicture] = useState<string>();
  useEffect(() => {
    let address: string | undefined;
    let mounted = true;
    void import("beautiful-mermaid")
      .then(({ renderMermaidSVG }) => {
        const colours = getComputedStyle(document.body);
        const mixed = (share: number) => `color-mix(in srgb, ${colours.color} ${share}%, ${colours.backgroundColor})`;
        const svg = renderMermaidSVG(text, {
          bg: colours.backgroundColor,
          fg: colours.color,
          surface: mixed(6),
          border: mixed(55),
          line: mixed(55),
          font: "system-ui",
          padding: 12,
          transparent: true,
        });
        if (!mounted) return;
        // The library names a web font; a picture never loads one.
        address = URL.createObjectURL(new Blob([svg.replace(/@import url\([^)]*\);/, "")], { type: "image/svg+xml" }));
        setPicture(address);
      })
      .catch(() => {});
    return () => {
      mounted = false;
      if (address !== undefined) URL.revokeObjectURL(address);
    };
  }, [text]);
  if (picture === undefined) return fallback;
  return (
    <details className={styles.diagram}>
      <summary aria-label="Source of the diagram">
        <img src={picture} alt={`Diagram: ${text.split("\n", 1)[0]}`} />
      </summary>
      {fallback}
    </details>
  );
});
