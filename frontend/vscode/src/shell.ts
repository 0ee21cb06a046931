import { createHash } from "node:crypto";
import { join } from "node:path";
import * as vscode from "vscode";
import { WebSocket } from "ws";
import { BridgeClient, type SocketConstructor, ToolFailure, type ToolHandler } from "../../src/bridge/index.ts";
import type { Diagnostic, JsonValue, ResultBody, ShellToolSpec } from "../../src/wire/types.ts";
import { pathIn } from "./context.ts";
import { numberedLines } from "./lines.ts";
import type { Sidecar } from "./sidecar.ts";

const SEVERITIES = ["error", "warning", "info", "hint"] as const;
const MOST_DIAGNOSTICS = 200;
const PATH = { type: "string", description: "Relative to the workspace." };

const OWN: ShellToolSpec[] = [
  {
    name: "open_in_editor",
    description: "Show a file to the user in the editor, at a line if given. The cursor stays where it is.",
    parameters: {
      type: "object",
      properties: { path: PATH, line: { type: "integer", minimum: 1 } },
      required: ["path"],
      additionalProperties: false,
    },
    readOnly: true,
  },
  {
    name: "insert_at_cursor",
    description: "Insert text at the user's cursor in the active editor, unsaved. To change files, use the file tools.",
    parameters: {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
      additionalProperties: false,
    },
  },
];

/** VS Code's end of the bridge for one folder: unsaved buffers, diagnostics, open and insert. Commands never run here. */
export class FolderShell implements vscode.Disposable {
  readonly #bridge: BridgeClient;
  readonly #listeners: vscode.Disposable[];
  #reported = "";

  constructor(
    private readonly folder: vscode.WorkspaceFolder,
    sidecar: Sidecar,
    version: string,
  ) {
    this.#bridge = new BridgeClient({
      endpoint: () => sidecar.endpoint(),
      workspace: folder.uri.fsPath,
      shell: { name: vscode.env.appName, version },
      tools: this.#tools(),
      own: OWN,
      WebSocket: WebSocket as unknown as SocketConstructor,
      onState: (state) => {
        if (state === "waiting") sidecar.doubt();
      },
      onWelcome: () => this.#reportAll(),
    });
    this.#listeners = [
      vscode.workspace.onDidChangeTextDocument(() => this.#reportUnsaved()),
      vscode.workspace.onDidCloseTextDocument(() => this.#reportUnsaved()),
      vscode.workspace.onDidSaveTextDocument((document) => this.#saved(document)),
      vscode.languages.onDidChangeDiagnostics(({ uris }) => this.#reportDiagnostics(uris)),
      vscode.window.onDidChangeActiveTextEditor((editor) => this.#focused(editor)),
    ];
    this.#bridge.start();
  }

  dispose(): void {
    for (const listener of this.#listeners) listener.dispose();
    void this.#bridge.close();
  }

  #tools(): { [name: string]: ToolHandler } {
    return {
      read_file: (args) => this.#read(args),
      save_file: (args) => this.#save(args),
      open_in_editor: async (args) => {
        await showFile(this.folder, text(args, "path"), typeof args["line"] === "number" ? args["line"] : undefined);
        return "Shown.";
      },
      insert_at_cursor: async (args) => {
        if (!(await insertAtCursor(text(args, "text"))))
          throw new ToolFailure("no_editor", "No text editor is active.");
        return "Inserted; the file isn't saved.";
      },
    };
  }

  #read(args: { [key: string]: JsonValue }): ResultBody {
    const path = text(args, "path");
    const content = this.#document(path).getText();
    const shown = numberedLines(
      content,
      args["startLine"] as number | undefined,
      args["endLine"] as number | undefined,
    );
    if (shown === undefined) throw new ToolFailure("invalid_arguments", `${path} has fewer lines.`);
    const { first, last, total } = shown;
    const hash = createHash("sha256").update(content).digest("hex");
    return {
      content: `${shown.text || "(empty)"}\n(${path} has changes that aren't saved yet; this is the text in the editor.)`,
      details: { path, hash, startLine: first, endLine: last, totalLines: total, unsaved: true },
      summary: `${path} lines ${first}–${last} of ${total}, not saved yet`,
    };
  }

  async #save(args: { [key: string]: JsonValue }): Promise<string> {
    const document = this.#find(text(args, "path"));
    if (document?.isDirty && !(await document.save())) throw new ToolFailure("not_saved", "VS Code didn't save it.");
    return "Saved.";
  }

  /** Open documents only: everything else is read and protected by the sidecar. */
  #document(path: string): vscode.TextDocument {
    const document = this.#find(path);
    if (document === undefined)
      throw new ToolFailure("not_open", `${path} is no longer open in the editor. Repeat the call.`);
    return document;
  }

  #find(path: string): vscode.TextDocument | undefined {
    const absolute = path.startsWith("/") ? path : join(this.folder.uri.fsPath, path);
    return vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === "file" && uri.fsPath === absolute);
  }

  #reportAll(): void {
    this.#reported = "";
    this.#reportUnsaved(true);
    this.#reportDiagnostics(vscode.languages.getDiagnostics().map(([uri]) => uri));
    this.#focused(vscode.window.activeTextEditor);
  }

  #reportUnsaved(always = false): void {
    const dirty = vscode.workspace.textDocuments.filter((document) => document.isDirty);
    const paths = dirty.map(({ uri }) => pathIn(this.folder, uri)).filter((path) => path !== undefined);
    const reported = JSON.stringify(paths);
    if (!always && reported === this.#reported) return;
    this.#reported = reported;
    this.#bridge.notify({ event: "unsaved", paths });
  }

  #saved(document: vscode.TextDocument): void {
    const path = pathIn(this.folder, document.uri);
    if (path !== undefined) this.#bridge.notify({ event: "file_changed", paths: [path] });
    this.#reportUnsaved();
  }

  #reportDiagnostics(uris: readonly vscode.Uri[]): void {
    for (const uri of uris) {
      const path = pathIn(this.folder, uri);
      if (path === undefined) continue;
      const diagnostics = vscode.languages.getDiagnostics(uri).slice(0, MOST_DIAGNOSTICS).map(describe);
      this.#bridge.notify({ event: "diagnostics", path, diagnostics });
    }
  }

  #focused(editor: vscode.TextEditor | undefined): void {
    const path = editor && pathIn(this.folder, editor.document.uri);
    if (path !== undefined) this.#bridge.notify({ event: "focus", path });
  }
}

/** Shows a file without taking the focus. Only files of the folder: a model or the panel names the path. */
export async function showFile(folder: vscode.WorkspaceFolder, path: string, line?: number): Promise<void> {
  const uri = path.startsWith("/") ? vscode.Uri.file(path) : vscode.Uri.joinPath(folder.uri, path);
  if (pathIn(folder, uri) === undefined)
    throw new ToolFailure("outside_workspace", `${path} is outside the workspace.`);
  const at = new vscode.Position(Math.max((line ?? 1) - 1, 0), 0);
  const options: vscode.TextDocumentShowOptions = { preserveFocus: true, preview: true };
  if (line !== undefined) options.selection = new vscode.Range(at, at);
  await vscode.window.showTextDocument(uri, options);
}

/** Into the active editor, as one step of its undo. */
export async function insertAtCursor(inserted: string): Promise<boolean> {
  const editor = vscode.window.activeTextEditor;
  return editor !== undefined && (await editor.edit((edit) => edit.replace(editor.selection, inserted)));
}

function describe(diagnostic: vscode.Diagnostic): Diagnostic {
  const { range, severity, message, source = "" } = diagnostic;
  return {
    line: range.start.line + 1,
    column: range.start.character + 1,
    severity: SEVERITIES[severity] ?? "error",
    message: message.slice(0, 2_000),
    source: source.slice(0, 200),
  };
}

function text(args: { [key: string]: JsonValue }, name: string): string {
  const value = args[name];
  if (typeof value !== "string") throw new ToolFailure("invalid_arguments", `${name} must be a text.`);
  return value;
}
