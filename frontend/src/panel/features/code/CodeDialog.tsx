import { useState } from "react";
import { Dialog } from "../../shared/dialog.tsx";
import type { CodeView } from "../../stores/code.ts";
import styles from "./code.module.css";
import { FindPage } from "./FindPage.tsx";
import { GraphPage } from "./GraphPage.tsx";

interface Props {
  readonly first: CodeView;
  readonly workspace: string | undefined;
  readonly onClose: () => void;
}

/** Searches the workspace's code by meaning, and draws what a file imports and what depends on it. */
export default function CodeDialog({ first, workspace, onClose }: Props) {
  const [{ view, text }, setShown] = useState(first);
  const find = (words: string) => setShown({ view: "find", text: words });
  const graph = (name: string) => setShown({ view: "graph", text: name });
  return (
    <Dialog
      label={view === "find" ? "Find in code" : "Imports and impact"}
      className={styles.code}
      onClose={onClose}
      titled
    >
      {view === "find" ? (
        <FindPage first={text} workspace={workspace} onGraph={graph} onClose={onClose} />
      ) : (
        <GraphPage key={text} first={text} workspace={workspace} onGraph={graph} onFind={find} onClose={onClose} />
      )}
    </Dialog>
  );
}
