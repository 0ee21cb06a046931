import { Component, type ReactNode } from "react";

/** A fault in drawing ends in words and a way out, not in a white page. Nothing of a task is lost by it. */
export class Boundary extends Component<{ readonly children: ReactNode }, { readonly error: unknown }> {
  override state = { error: undefined as unknown };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === undefined) return this.props.children;
    return (
      <main className="gate" role="alert">
        <h1>The panel stumbled</h1>
        <p>Your tasks are not affected; they go on in the sidecar. {String(this.state.error)}</p>
        <p>
          <button type="button" className="button" onClick={() => window.location.reload()}>
            Load the panel again
          </button>
        </p>
      </main>
    );
  }
}
