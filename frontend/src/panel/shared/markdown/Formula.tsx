import { createElement, memo, type ReactNode, useEffect, useState } from "react";
import styles from "./Markdown.module.css";

interface Props {
  readonly text: string;
  readonly display: boolean;
}

/** A formula as MathML; its source until the library is loaded, and if it has an error. */
export const Formula = memo(function Formula({ text, display }: Props) {
  const [shown, setShown] = useState<ReactNode>();
  useEffect(() => {
    let mounted = true;
    void import("katex").then(
      ({ default: katex }) => {
        const html = katex.renderToString(text, {
          displayMode: display,
          output: "mathml",
          throwOnError: false,
          maxExpand: 200,
          maxSize: 20,
        });
        const math = new DOMParser().parseFromString(html, "text/html").querySelector("math");
        if (mounted && math) setShown(elementOf(math));
      },
      () => {},
    );
    return () => {
      mounted = false;
    };
  }, [text, display]);
  return <span className={display ? styles.formula : undefined}>{shown ?? <code>{text}</code>}</span>;
});

const TAGS =
  /^(math|semantics|m(row|i|n|o|text|space|frac|sqrt|root|sup|sub|subsup|over|under|underover|table|tr|td|padded|phantom|enclose|error|style|multiscripts|prescripts))$/;
const ATTRIBUTES = new Set(
  "display mathvariant stretchy fence separator lspace rspace width height depth accent accentunder columnalign rowspacing columnspacing scriptlevel displaystyle linethickness minsize maxsize movablelimits notation".split(
    " ",
  ),
);

/** The element, with MathML tags and attributes only: nothing that loads, links or runs. */
function elementOf(element: Element): ReactNode {
  if (!TAGS.test(element.localName)) return null;
  const attributes = [...element.attributes].filter(({ name }) => ATTRIBUTES.has(name));
  const children = [...element.childNodes].map((child) =>
    child instanceof Element ? elementOf(child) : child.textContent,
  );
  return createElement(
    element.localName,
    Object.fromEntries(attributes.map(({ name, value }) => [name, value])),
    ...children,
  );
}
