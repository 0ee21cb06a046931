// The theme comes first: it declares the order of the layers.
import "./theme/tokens.css";
import "./theme/base.css";

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { BrainService, CodeSession, WatchRegistry } from "../client/index.ts";
import { App } from "./app/App.tsx";
import { Gate } from "./app/Gate.tsx";
import { embeddingWindow } from "./features/host/embedder.ts";
import { Boundary } from "./shared/boundary.tsx";
import { BrainProvider } from "./shared/brain.tsx";
import { followAddress, takeCode } from "./stores/location.ts";

const code = takeCode();
followAddress();
const session = new CodeSession(sessionStorage);
const embedder = embeddingWindow();
const registry = new WatchRegistry(new BrainService({ credentials: session }));

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <Boundary>
      <BrainProvider registry={registry}>
        <Gate session={session} code={code}>
          <App embedder={embedder} />
        </Gate>
      </BrainProvider>
    </Boundary>
  </StrictMode>,
);
