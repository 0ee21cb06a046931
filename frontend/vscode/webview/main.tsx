// The same panel as in the browser; requests and messages go through the extension.
import "../../src/panel/theme/tokens.css";
import "../../src/panel/theme/base.css";
import "./editor.css";

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { BrainService, WatchRegistry } from "../../src/client/index.ts";
import { App } from "../../src/panel/app/App.tsx";
import type { Embedder } from "../../src/panel/features/host/embedder.ts";
import { isHostMessage } from "../../src/panel/features/host/protocol.ts";
import { Boundary } from "../../src/panel/shared/boundary.tsx";
import { BrainProvider } from "../../src/panel/shared/brain.tsx";
import { followAddress, onSelect, selectedTask, selectTask } from "../../src/panel/stores/location.ts";
import { Transport, type VsCode } from "./transport.ts";

declare function acquireVsCodeApi(): VsCode;

const vscode = acquireVsCodeApi();
const transport = new Transport(vscode);
const embedder: Embedder = {
  post: (message) => vscode.postMessage(message),
  listen(receive) {
    const onMessage = ({ data }: MessageEvent<unknown>) => {
      if (isHostMessage(data)) receive(data);
    };
    window.addEventListener("message", onMessage);
    return () => window.removeEventListener("message", onMessage);
  },
};

// VS Code keeps this while the view is hidden or the window reloads; everything else comes from the journal.
followAddress();
const shown = vscode.getState()?.taskId;
if (shown !== undefined) selectTask(shown, "replace");
onSelect(() => vscode.setState({ taskId: selectedTask() }));

const credentials = { token: () => undefined, renew: async () => false };
const registry = new WatchRegistry(new BrainService({ credentials, fetch: transport.fetch }));

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <Boundary>
      <BrainProvider registry={registry}>
        <App embedder={embedder} />
      </BrainProvider>
    </Boundary>
  </StrictMode>,
);
