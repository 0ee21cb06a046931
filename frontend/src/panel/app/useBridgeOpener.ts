import { useEffect } from "react";
import type { BrainService } from "../../client/index.ts";
import { runTool } from "../shared/search.ts";
import { setBridgeOpener } from "../stores/preview.ts";
import { showToast } from "../stores/toasts.ts";

/** The tool by which an editor on the bridge shows a file. */
const TOOL = "open_in_editor";

/** Lets file references open in the editor that is connected to the sidecar, if one is. */
export function useBridgeOpener(service: BrainService, workspace: string | undefined): void {
  useEffect(() => {
    setBridgeOpener(async ({ path, line }) => {
      const args = { path, ...(line === undefined ? {} : { line }) };
      const answer = await runTool({ service, workspace }, TOOL, args).catch(() => undefined);
      if (answer?.status !== "success") return false;
      showToast(`Opened ${path} in your editor.`);
      return true;
    });
    return () => setBridgeOpener(async () => false);
  }, [service, workspace]);
}
