import { Component, type ReactNode } from "react";
import styles from "./gate.module.css";
import ui from "./ui.module.css";

/** Shows an error page if rendering fails. Tasks are not affected. */
export class Boundary extends Component<{ readonly children: ReactNode }, { readonly error: unknown }> {
  override state = { error: undefined as unknown };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === undefined) return this.props.children;
    return (
      <main className={styles.gate} role="alert">
        <h1>Something went wrong in the panel</h1>
        <p>Your tasks continue in the sidecar. {String(this.state.error)}</p>
        <p>
          <button type="button" className={ui.button} onClick={() => window.location.reload()}>
            Reload the panel
          </button>
        </p>
      </main>
    );
  }
}
