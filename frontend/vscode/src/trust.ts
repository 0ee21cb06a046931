import * as vscode from "vscode";
import type { BrainService } from "../../src/client/index.ts";

/**
 * Ties the sidecar's trust to VS Code's. In Restricted Mode a folder isn't trusted; a folder that you trust in VS Code is.
 * Where VS Code's workspace trust is switched off you never decided, so nothing is passed on.
 */
export async function passTrustOn(service: BrainService): Promise<void> {
  if (vscode.workspace.getConfiguration("security.workspace.trust").get<boolean>("enabled") === false) return;
  if (!vscode.workspace.getConfiguration("rainyBrain").get<boolean>("followWorkspaceTrust", true)) return;
  const folders = vscode.workspace.workspaceFolders ?? [];
  const known = new Set((await service.trust()).workspaces.map(({ workspace }) => workspace));
  for (const { uri } of folders.filter((folder) => folder.uri.scheme === "file")) {
    const trusted = vscode.workspace.isTrusted;
    if (known.has(uri.fsPath) !== trusted) await service.setTrust({ workspace: uri.fsPath, trusted });
  }
}
