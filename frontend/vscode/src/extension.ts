import * as vscode from "vscode";
import { BrainService, WatchRegistry } from "../../src/client/index.ts";
import { Actions } from "./actions.ts";
import { editorContext, workspaceFolder } from "./context.ts";
import { PanelView, VIEW } from "./panel.ts";
import { Reviewer } from "./review.ts";
import { FolderShell, insertAtCursor, showFile } from "./shell.ts";
import { defaultDataDir, Sidecar } from "./sidecar.ts";
import { StatusBar } from "./status.ts";
import { passTrustOn } from "./trust.ts";

/** The composition root. The sidecar starts with the first use; a running one is found at once. */
export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const sidecar = new Sidecar(() => {
    const settings = vscode.workspace.getConfiguration("rainyBrain");
    return {
      command: settings.get<string>("command", ""),
      dataDir: settings.get<string>("dataDirectory", "") || defaultDataDir(),
      workspace: workspaceFolder()?.uri.fsPath,
    };
  });
  const service = new BrainService({
    credentials: { token: () => undefined, renew: async () => false },
    fetch: sidecar.fetch,
  });
  const registry = new WatchRegistry(service);
  const version = String(context.extension.packageJSON["version"]);
  let lastTask: string | undefined;

  const panel = new PanelView(vscode.Uri.joinPath(context.extensionUri, "dist", "panel"), sidecar, (message) => {
    const folder = workspaceFolder();
    if (message.type === "rainy.insert") void attempt(insertAtCursor(String(message["text"])));
    else if (message.type === "rainy.openFile" && folder !== undefined)
      void attempt(
        showFile(folder, String(message["path"]), typeof message["line"] === "number" ? message["line"] : undefined),
      );
    else if (message.type === "rainy.command" && message["id"] === "review") void attempt(review());
    else if (message.type === "rainy.status") lastTask = String(message["taskId"]);
  });
  const status = new StatusBar(() => panel.visible);
  const reviewer = new Reviewer(service);
  const shells = new Shells(sidecar, version);

  const showTask = async (taskId: string) => {
    lastTask = taskId;
    panel.post({ type: "rainy.openTask", taskId });
    await panel.show();
  };
  const review = async (taskId = lastTask) => {
    const newest = taskId ?? (await service.tasks({ limit: 1 })).tasks[0]?.id;
    if (newest === undefined) return void vscode.window.showInformationMessage("No task has changed anything yet.");
    await reviewer.open(newest);
  };
  const compose = async () => {
    await panel.show();
    await vscode.commands.executeCommand(`${VIEW}.focus`);
  };
  /** Everything that needs the sidecar. Called when one is found or wanted. */
  const connect = async () => {
    await sidecar.endpoint();
    shells.start();
    status.follow(registry.feed);
    await passTrustOn(service);
  };
  const wanted = async () => {
    sidecar.want();
    await connect();
  };
  const command = (name: string, run: (...args: never[]) => Promise<unknown>) =>
    vscode.commands.registerCommand(name, (...args: never[]) => attempt(wanted().then(() => run(...args))));

  const sendContext = debounce(() => panel.sendContext());
  context.subscriptions.push(
    status,
    reviewer,
    shells,
    new Actions(service, showTask),
    vscode.window.registerWebviewViewProvider(VIEW, {
      resolveWebviewView: async (view) => {
        await panel.resolveWebviewView(view);
        void attempt(wanted());
      },
    }),
    command("rainyBrain.open", compose),
    command("rainyBrain.showTask", showTask),
    command("rainyBrain.review", review),
    command("rainyBrain.newTask", async () => {
      const task = await vscode.window.showInputBox({ prompt: "What should Rainy Brain do?", ignoreFocusOut: true });
      if (task?.trim()) await showTask((await service.submit({ task, context: editorContext() })).id);
    }),
    command("rainyBrain.cancel", async () => {
      const { tasks } = await service.tasks({ status: ["running", "waiting", "queued"], limit: 1 });
      if (tasks[0] !== undefined) await service.cancel(tasks[0].id);
    }),
    vscode.window.onDidChangeTextEditorSelection(sendContext),
    vscode.window.onDidChangeActiveTextEditor(sendContext),
    vscode.window.tabGroups.onDidChangeTabs(sendContext),
    vscode.window.onDidChangeActiveColorTheme(() => panel.sendTheme()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void passTrustOn(service).catch(() => {})),
    vscode.workspace.onDidChangeWorkspaceFolders(() => shells.update()),
    { dispose: () => registry.pause() },
  );
  await connect().catch(() => {}); // none runs: the first use starts one
}

/** One bridge for each folder of the window. */
class Shells implements vscode.Disposable {
  readonly #open = new Map<string, FolderShell>();
  #started = false;

  constructor(
    private readonly sidecar: Sidecar,
    private readonly version: string,
  ) {}

  start(): void {
    this.#started = true;
    this.update();
  }

  update(): void {
    if (!this.#started) return;
    const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
    for (const [path, shell] of this.#open)
      if (!folders.some(({ uri }) => uri.fsPath === path)) {
        shell.dispose();
        this.#open.delete(path);
      }
    for (const folder of folders)
      if (!this.#open.has(folder.uri.fsPath))
        this.#open.set(folder.uri.fsPath, new FolderShell(folder, this.sidecar, this.version));
  }

  dispose(): void {
    for (const shell of this.#open.values()) shell.dispose();
  }
}

/** Shows why something failed, instead of failing silently. */
async function attempt(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const chosen = await vscode.window.showErrorMessage(`Rainy Brain: ${message}`, "Get started");
    if (chosen === "Get started")
      await vscode.commands.executeCommand("workbench.action.openWalkthrough", "rainy-brain.rainy-brain#start");
  }
}

const SOON_MS = 100;

function debounce(run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(run, SOON_MS);
  };
}
