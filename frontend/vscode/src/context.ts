import { isAbsolute, relative, sep } from "node:path";
import * as vscode from "vscode";
import type { Context } from "../../src/wire/types.ts";

const MOST_SELECTED = 100_000;
const MOST_OPEN = 100;

/** The folder that a task of this window works in: that of the active file, else the first. */
export function workspaceFolder(uri?: vscode.Uri): vscode.WorkspaceFolder | undefined {
  const active = uri ?? vscode.window.activeTextEditor?.document.uri;
  const own = active === undefined ? undefined : vscode.workspace.getWorkspaceFolder(active);
  return own ?? vscode.workspace.workspaceFolders?.[0];
}

/** The file's path in the folder with `/`; undefined for files outside and for those that aren't on disk. */
export function pathIn(folder: vscode.WorkspaceFolder, uri: vscode.Uri): string | undefined {
  if (uri.scheme !== "file") return undefined;
  const path = relative(folder.uri.fsPath, uri.fsPath);
  return path === "" || path.startsWith("..") || isAbsolute(path) ? undefined : path.split(sep).join("/");
}

/** What goes with the next task: the folder, the file, the selection and the open files. */
export function editorContext(): Context {
  const folder = workspaceFolder();
  if (folder === undefined) return {};
  const editor = vscode.window.activeTextEditor;
  const current = editor && pathIn(folder, editor.document.uri);
  const selected =
    editor && current !== undefined ? editor.document.getText(editor.selection).slice(0, MOST_SELECTED) : "";
  const open = vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .map((tab) => (tab.input instanceof vscode.TabInputText ? pathIn(folder, tab.input.uri) : undefined))
    .filter((path) => path !== undefined);
  return {
    workspace: folder.uri.fsPath,
    ...(current === undefined ? {} : { currentFile: current }),
    ...(selected === "" ? {} : { selectedCode: selected }),
    openFiles: [...new Set(open)].slice(0, MOST_OPEN),
  };
}
