import * as vscode from "vscode";
import type { TaskFeed } from "../../src/client/index.ts";
import type { Task, WireEvent } from "../../src/wire/types.ts";

/** The status bar: how many tasks of this window run or wait. It asks for attention; it never takes the focus. */
export class StatusBar implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem("rainyBrain.status", vscode.StatusBarAlignment.Left, 10);
  #stop: (() => void)[] = [];

  constructor(private readonly panelVisible: () => boolean) {
    this.#item.name = "Rainy Brain";
    this.#item.command = "rainyBrain.open";
    this.#show("$(sparkle) Brain", "Rainy Brain: open the panel");
    this.#item.show();
  }

  follow(feed: TaskFeed): void {
    if (this.#stop.length > 0) return;
    const update = () => {
      const { tasks, connection } = feed.snapshot();
      this.#update(
        tasks.filter(({ workspace }) => isOurs(workspace)),
        connection.state === "lost",
      );
    };
    this.#stop = [feed.subscribe(update), feed.onEvents((events) => this.#notice(events, feed.snapshot().tasks))];
  }

  dispose(): void {
    for (const stop of this.#stop) stop();
    this.#item.dispose();
  }

  #update(tasks: readonly Task[], lost: boolean): void {
    const waiting = tasks.filter(({ status }) => status === "waiting" || status === "escalated").length;
    const running = tasks.filter(
      ({ status }) => status === "running" || status === "queued" || status === "cancelling",
    ).length;
    if (lost) this.#show("$(debug-disconnect) Brain", "Rainy Brain: the sidecar doesn't answer; reconnecting");
    else if (waiting > 0) this.#show(`$(bell-dot) Brain: ${waiting} waiting`, "Rainy Brain: a task needs you", true);
    else if (running > 0) this.#show(`$(sync~spin) Brain: ${running} running`, "Rainy Brain: tasks are running");
    else this.#show("$(sparkle) Brain", "Rainy Brain: open the panel");
  }

  #show(text: string, tooltip: string, warning = false): void {
    this.#item.text = text;
    this.#item.tooltip = tooltip;
    this.#item.backgroundColor = warning ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
  }

  /** Says that a task waits, if the panel isn't there to say it. Approving needs the panel, where the call is shown. */
  #notice(events: readonly WireEvent[], tasks: readonly Task[]): void {
    if (this.panelVisible()) return;
    for (const event of events) {
      if (event.type !== "status" || event.status !== "waiting") continue;
      const task = tasks.find(({ id }) => id === event.taskId);
      if (task === undefined || !isOurs(task.workspace)) continue;
      void vscode.window
        .showInformationMessage(`Rainy Brain needs you: ${task.task.slice(0, 80)}`, "Show")
        .then((chosen) => {
          if (chosen === "Show") void vscode.commands.executeCommand("rainyBrain.showTask", event.taskId);
        });
    }
  }
}

const isOurs = (workspace: string): boolean =>
  (vscode.workspace.workspaceFolders ?? []).some(({ uri }) => uri.fsPath === workspace);
