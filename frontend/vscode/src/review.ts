import * as vscode from "vscode";
import type { BrainService } from "../../src/client/index.ts";
import type { FileDiff } from "../../src/wire/types.ts";
import { pathIn } from "./context.ts";
import { pendingHunks, placeHunks, textBefore } from "./hunks.ts";

const BEFORE = "rainy-brain-before";

interface Review {
  readonly taskId: string;
  readonly folder: vscode.WorkspaceFolder;
  readonly files: ReadonlyMap<string, FileDiff>;
}

/** A task's changes in VS Code's own diff editor, with Accept and Reject above each hunk. */
export class Reviewer implements vscode.TextDocumentContentProvider, vscode.CodeLensProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #lenses = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly onDidChangeCodeLenses = this.#lenses.event;
  readonly #registered: vscode.Disposable[];
  #review: Review | undefined;

  constructor(private readonly service: BrainService) {
    this.#registered = [
      vscode.workspace.registerTextDocumentContentProvider(BEFORE, this),
      vscode.languages.registerCodeLensProvider({ scheme: "file" }, this),
      vscode.commands.registerCommand("rainyBrain.acceptHunk", (id?: string) => this.#decide("accept", id)),
      vscode.commands.registerCommand("rainyBrain.rejectHunk", (id?: string) => this.#decide("reject", id)),
      vscode.workspace.onDidSaveTextDocument(() => this.#refresh()),
    ];
  }

  dispose(): void {
    for (const each of [...this.#registered, this.#changed, this.#lenses]) each.dispose();
  }

  /** Opens the changes of a task. */
  async open(taskId: string): Promise<void> {
    const { workspace } = await this.service.task(taskId);
    const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.fsPath === workspace);
    if (folder === undefined)
      throw new Error(`This task changed files in ${workspace}, which isn't open in this window.`);
    await this.#load(taskId, folder);
    const files = [...this.#review!.files.values()];
    if (files.length === 0)
      return void vscode.window.showInformationMessage("This task has no changes left to review.");
    const rows = files.map((file): [vscode.Uri, vscode.Uri, vscode.Uri] => {
      const uri = vscode.Uri.joinPath(folder.uri, file.path);
      return [uri, beforeUri(uri, taskId), file.change === "deleted" ? beforeUri(uri, "") : uri];
    });
    const [first] = rows;
    if (rows.length === 1) {
      await vscode.commands.executeCommand("vscode.diff", first![1], first![2], `${files[0]!.path} (Rainy Brain)`, {
        preview: false,
      });
    } else await vscode.commands.executeCommand("vscode.changes", "Rainy Brain: changes", rows);
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const file = uri.query === "" ? undefined : this.#file(uri.with({ scheme: "file", query: "" }));
    if (file === undefined || file.change === "created") return "";
    const now = file.change === "deleted" ? "" : await readText(uri.with({ scheme: "file", query: "" }));
    return textBefore(
      now,
      file.hunks.filter(({ state }) => state !== "rejected"),
    );
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const file = this.#file(document.uri);
    if (file === undefined) return [];
    return placeHunks(document.getText(), pendingHunks(file)).flatMap(({ hunk, changed }) => {
      const range = new vscode.Range(changed, 0, changed, 0);
      return [
        new vscode.CodeLens(range, {
          title: "$(check) Accept",
          command: "rainyBrain.acceptHunk",
          arguments: [hunk.id],
        }),
        new vscode.CodeLens(range, {
          title: "$(discard) Reject",
          command: "rainyBrain.rejectHunk",
          arguments: [hunk.id],
        }),
      ];
    });
  }

  #file(uri: vscode.Uri): FileDiff | undefined {
    const path = this.#review && pathIn(this.#review.folder, uri);
    return path === undefined ? undefined : this.#review?.files.get(path);
  }

  /** Decides about a hunk, or the one at the cursor. */
  async #decide(decision: "accept" | "reject", id: string | undefined): Promise<void> {
    const review = this.#review;
    const hunk = typeof id === "string" ? id : this.#atCursor();
    if (review === undefined || hunk === undefined)
      return void vscode.window.showInformationMessage(
        "No change of a task is here. Run “Rainy Brain: Review Changes” first.",
      );
    if (decision === "reject") await this.#saveFileOf(hunk);
    const answer = await this.service.hunks(
      review.taskId,
      decision === "accept" ? { accept: [hunk] } : { reject: [hunk] },
    );
    this.#show(review, answer.files);
    const [conflict] = answer.conflicts ?? [];
    if (conflict !== undefined) void vscode.window.showWarningMessage(`${conflict.path}: ${conflict.why}`);
  }

  /** A rejected hunk is undone on disk; unsaved edits beside it must be there. */
  async #saveFileOf(hunk: string): Promise<void> {
    const { files, folder } = this.#review!;
    const file = [...files.values()].find(({ hunks }) => hunks.some(({ id }) => id === hunk));
    const document = vscode.workspace.textDocuments.find(
      ({ uri }) => pathIn(folder, uri) === file?.path && uri.scheme === "file",
    );
    if (document?.isDirty && !(await document.save()))
      throw new Error(`${file?.path} has unsaved changes and can't be saved.`);
  }

  #atCursor(): string | undefined {
    const editor = vscode.window.activeTextEditor;
    const file = editor && this.#file(editor.document.uri);
    if (editor === undefined || file === undefined) return undefined;
    const line = editor.selection.active.line;
    const placed = placeHunks(editor.document.getText(), pendingHunks(file));
    return placed.find(({ hunk, line: first }) => line >= first && line < first + Math.max(hunk.lines.length, 1))?.hunk
      .id;
  }

  async #load(taskId: string, folder: vscode.WorkspaceFolder): Promise<void> {
    const { files } = await this.service.diff(taskId);
    this.#show({ taskId, folder, files: new Map() }, files);
  }

  #show({ taskId, folder }: Review, files: readonly FileDiff[]): void {
    const before = this.#review?.files.keys() ?? [];
    this.#review = { taskId, folder, files: new Map(files.map((file) => [file.path, file])) };
    void vscode.commands.executeCommand(
      "setContext",
      "rainyBrain.reviewing",
      files.some((file) => pendingHunks(file).length > 0),
    );
    for (const path of new Set([...before, ...this.#review.files.keys()]))
      this.#changed.fire(beforeUri(vscode.Uri.joinPath(folder.uri, path), taskId));
    this.#lenses.fire();
  }

  #refresh(): void {
    if (this.#review !== undefined) this.#show(this.#review, [...this.#review.files.values()]);
  }
}

const beforeUri = (uri: vscode.Uri, taskId: string): vscode.Uri => uri.with({ scheme: BEFORE, query: taskId });

async function readText(uri: vscode.Uri): Promise<string> {
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
  return open?.getText() ?? new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
}
