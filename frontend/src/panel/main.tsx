import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { BrainService, CodeSession } from "../client/index.ts";
import { App } from "./app/App.tsx";
import { Gate } from "./app/Gate.tsx";
import { followAddress, takeCode } from "./app/location.ts";
import { Boundary } from "./shared/boundary.tsx";
import { BrainProvider } from "./shared/brain.tsx";
import "./styles/index.css";

const code = takeCode();
followAddress();
const session = new CodeSession(sessionStorage);
const service = new BrainService({ credentials: session });

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <Boundary>
      <BrainProvider service={service}>
        <Gate session={session} code={code}>
          <App service={service} />
        </Gate>
      </BrainProvider>
    </Boundary>
  </StrictMode>,
);
