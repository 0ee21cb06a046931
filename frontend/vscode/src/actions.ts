import * as vscode from "vscode";
import type { BrainService } from "../../src/client/index.ts";
import type { Context, Options } from "../../src/wire/types.ts";
import { pathIn, workspaceFolder } from "./context.ts";

export type Action = "explain" | "fix" | "test";

interface Target {
  readonly uri: vscode.Uri;
  readonly range: vscode.Range;
  /** The symbol's name, if it is one. */
  readonly name?: string;
  readonly problems?: readonly string[];
}

const TITLES: Record<Action, string> = { explain: "Explain", fix: "Fix", test: "Test this" };
const SYMBOLS = new Set([vscode.SymbolKind.Function, vscode.SymbolKind.Method, vscode.SymbolKind.Class]);
const MOST_LENSES = 200;
const MOST_SELECTED = 100_000;

/** “Explain”, “Fix” and “Test this” above functions, in the light bulb and as commands. */
export class Actions implements vscode.CodeLensProvider, vscode.CodeActionProvider, vscode.Disposable {
  readonly #registered: vscode.Disposable[];

  constructor(
    private readonly service: BrainService,
    private readonly started: (taskId: string) => Promise<void>,
  ) {
    this.#registered = [
      vscode.languages.registerCodeLensProvider({ scheme: "file" }, this),
      vscode.languages.registerCodeActionsProvider({ scheme: "file" }, this),
      ...(["explain", "fix", "test"] as const).map((action) =>
        vscode.commands.registerCommand(`rainyBrain.${action}`, (target?: Target) => this.#run(action, target)),
      ),
    ];
  }

  dispose(): void {
    for (const each of this.#registered) each.dispose();
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    if (!vscode.workspace.getConfiguration("rainyBrain", document).get<boolean>("codeLens", true)) return [];
    const found = await vscode.commands.executeCommand<vscode.DocumentSymbol[] | undefined>(
      "vscode.executeDocumentSymbolProvider",
      document.uri,
    );
    return flatten(found ?? [])
      .slice(0, MOST_LENSES)
      .flatMap(({ name, range, selectionRange }) => {
        const target: Target = { uri: document.uri, range, name: plainName(name) };
        return (["explain", "test"] as const).map(
          (action) => new vscode.CodeLens(selectionRange, command(action, target)),
        );
      });
  }

  provideCodeActions(
    document: vscode.TextDocument,
    range: vscode.Range,
    context: vscode.CodeActionContext,
  ): vscode.CodeAction[] {
    const actions: vscode.CodeAction[] = [];
    if (context.diagnostics.length > 0) {
      const fix = new vscode.CodeAction("Fix with Rainy Brain", vscode.CodeActionKind.QuickFix);
      const problems = context.diagnostics
        .slice(0, 10)
        .map(({ message, range: at }) => `line ${at.start.line + 1}: ${message}`);
      fix.command = command("fix", { uri: document.uri, range: context.diagnostics[0]!.range, problems });
      fix.diagnostics = [...context.diagnostics];
      actions.push(fix);
    }
    if (!range.isEmpty)
      for (const action of ["explain", "test"] as const) {
        const one = new vscode.CodeAction(`${TITLES[action]} with Rainy Brain`, vscode.CodeActionKind.Refactor);
        one.command = command(action, { uri: document.uri, range });
        actions.push(one);
      }
    return actions;
  }

  async #run(action: Action, given: Target | undefined): Promise<void> {
    const target = given?.uri === undefined ? activeTarget() : given;
    const folder = target && workspaceFolder(target.uri);
    const path = folder && target ? pathIn(folder, target.uri) : undefined;
    if (target === undefined || folder === undefined || path === undefined)
      return void vscode.window.showInformationMessage("Open a file of a folder first, then select some code.");
    const document = await vscode.workspace.openTextDocument(target.uri);
    const selected = document.getText(target.range).slice(0, MOST_SELECTED);
    const context: Context = {
      workspace: folder.uri.fsPath,
      currentFile: path,
      selectedCode: selected,
      openFiles: [path],
    };
    const { task, intent } = describeTask(action, path, target);
    const handle = await this.service.submit({ task, context, options: { intent } });
    await this.started(handle.id);
  }
}

function describeTask(
  action: Action,
  path: string,
  { name, range, problems }: Target,
): { task: string; intent: NonNullable<Options["intent"]> } {
  const where = `lines ${range.start.line + 1}-${range.end.line + 1} of ${path}`;
  switch (action) {
    case "explain":
      return { task: name === undefined ? `explain ${where}` : `explain ${name} in ${path}`, intent: "explain_code" };
    case "fix":
      return {
        task: `fix ${problems === undefined ? where : `these problems in ${path}:\n${problems.join("\n")}`}`,
        intent: "edit_code",
      };
    case "test":
      return { task: `write tests for ${name === undefined ? where : `${name} in ${path}`}`, intent: "edit_code" };
  }
}

function activeTarget(): Target | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return undefined;
  const { document, selection } = editor;
  const problems = vscode.languages
    .getDiagnostics(document.uri)
    .filter(({ range }) => selection.isEmpty || range.intersection(selection) !== undefined)
    .slice(0, 10)
    .map(({ message, range }) => `line ${range.start.line + 1}: ${message}`);
  const whole = new vscode.Range(0, 0, Math.max(document.lineCount - 1, 0), 0);
  return {
    uri: document.uri,
    range: selection.isEmpty ? whole : selection,
    ...(problems.length > 0 ? { problems } : {}),
  };
}

const command = (action: Action, target: Target): vscode.Command => ({
  title: TITLES[action],
  command: `rainyBrain.${action}`,
  arguments: [target],
});

/** Language servers add parameters to names: `greet(name)`. */
const plainName = (name: string): string => /^[\w$.]+/.exec(name)?.[0] ?? name;

const flatten = (symbols: readonly vscode.DocumentSymbol[]): vscode.DocumentSymbol[] =>
  symbols.flatMap((symbol) => [...(SYMBOLS.has(symbol.kind) ? [symbol] : []), ...flatten(symbol.children ?? [])]);
