import { readFile } from "node:fs/promises";
import * as vscode from "vscode";
import { editorContext } from "./context.ts";
import { isPanelRequest, PanelProxy } from "./proxy.ts";
import type { Sidecar } from "./sidecar.ts";

export const VIEW = "rainyBrain.panel";

type Message = { readonly type: string } & Record<string, unknown>;

/** The panel as a view. It keeps nothing while hidden: the sidecar's journal has all of it. */
export class PanelView implements vscode.WebviewViewProvider {
  #view: vscode.WebviewView | undefined;
  #ready = false;
  #waiting: Message[] = [];

  constructor(
    private readonly root: vscode.Uri,
    private readonly sidecar: Sidecar,
    private readonly onMessage: (message: Message) => void,
  ) {}

  get visible(): boolean {
    return this.#view?.visible ?? false;
  }

  async resolveWebviewView(view: vscode.WebviewView): Promise<void> {
    this.sidecar.want();
    this.#view = view;
    this.#ready = false;
    const { webview } = view;
    const proxy = new PanelProxy(this.sidecar, (answer) => void webview.postMessage(answer));
    webview.options = { enableScripts: true, localResourceRoots: [this.root] };
    const listening = webview.onDidReceiveMessage((data: unknown) => {
      if (isPanelRequest(data)) proxy.receive(data);
      else if (isMessage(data)) this.#receive(data);
    });
    view.onDidDispose(() => {
      listening.dispose();
      proxy.close();
      if (this.#view === view) this.#view = undefined;
    });
    webview.html = await this.#html(webview);
  }

  /** Shows the panel; the focus stays where it is. */
  async show(): Promise<void> {
    if (this.#view === undefined) await vscode.commands.executeCommand(`${VIEW}.open`, { preserveFocus: true });
    else this.#view.show(true);
  }

  /** Sends a message, when the panel is ready for it. */
  post(message: Message): void {
    if (this.#ready) void this.#view?.webview.postMessage(message);
    else this.#waiting = [...this.#waiting.slice(-9), message];
  }

  sendContext(): void {
    if (this.#ready) this.post({ type: "rainy.context", context: editorContext() });
  }

  sendTheme(): void {
    const { kind } = vscode.window.activeColorTheme;
    const names = { [vscode.ColorThemeKind.Light]: "light", [vscode.ColorThemeKind.Dark]: "dark" } as Record<
      number,
      string
    >;
    if (this.#ready) this.post({ type: "rainy.theme", theme: names[kind] ?? "contrast" });
  }

  #receive(message: Message): void {
    if (message.type === "rainy.ready") {
      this.#ready = true;
      this.post({ type: "rainy.hello", offers: ["insert", "openFile"] });
      this.post({ type: "rainy.commands", commands: [{ id: "review", title: "Review changes in the diff editor" }] });
      this.sendTheme();
      this.sendContext();
      for (const waiting of this.#waiting.splice(0)) this.post(waiting);
    } else this.onMessage(message);
  }

  async #html(webview: vscode.Webview): Promise<string> {
    const page = await readFile(vscode.Uri.joinPath(this.root, "index.html").fsPath, "utf8");
    const source = webview.cspSource;
    const policy = `default-src 'none'; script-src ${source}; style-src ${source} 'unsafe-inline'; img-src ${source} data: blob:; font-src ${source}`;
    return (
      page
        // Its hashes are for the sidecar's addresses; here the files are the extension's own.
        .replace(/<script type="importmap">[^<]*<\/script>/, "")
        .replaceAll('"./assets/', `"${webview.asWebviewUri(this.root)}/assets/`)
        .replace("<head>", `<head><meta http-equiv="Content-Security-Policy" content="${policy}">`)
    );
  }
}

const isMessage = (data: unknown): data is Message =>
  typeof data === "object" && data !== null && typeof (data as Message).type === "string";
