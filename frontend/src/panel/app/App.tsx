import { useCallback, useEffect, useRef, useState } from "react";
import { isActive, isUnauthenticated } from "../../client/index.ts";
import { usePauseWhileHidden, useTasks } from "../../client/react.ts";
import type { Status } from "../../wire/types.ts";
import { Composer } from "../features/chat/Composer.tsx";
import { History } from "../features/history/History.tsx";
import type { Embedder } from "../features/host/embedder.ts";
import { useHost } from "../features/host/useHost.ts";
import { useNotifications } from "../features/notify/useNotifications.ts";
import { isPage, type Page } from "../features/settings/pages.ts";
import { Welcome } from "../features/welcome/Welcome.tsx";
import { useRegistry } from "../shared/brain.tsx";
import { Dialog } from "../shared/dialog.tsx";
import { useMedia } from "../shared/media.ts";
import { Toasts } from "../shared/toasts.tsx";
import ui from "../shared/ui.module.css";
import { useLazy } from "../shared/useLazy.ts";
import { closeCode, useCodeView } from "../stores/code.ts";
import { useCommandKeys } from "../stores/commands.ts";
import { focusComposer } from "../stores/composer.ts";
import { useHostWorkspace } from "../stores/host.ts";
import { hasChosenTask, openWindow, selectTask, useSelectedTask } from "../stores/location.ts";
import { usePreferences } from "../stores/preferences.ts";
import { closePreview, usePreview } from "../stores/preview.ts";
import { showError } from "../stores/toasts.ts";
import styles from "./App.module.css";
import { SignInHelp } from "./Gate.tsx";
import { Header } from "./Header.tsx";
import { TaskPane } from "./TaskPane.tsx";
import { useAppCommands } from "./useAppCommands.ts";
import { useBridgeOpener } from "./useBridgeOpener.ts";
import { useFocusKeeper } from "./useFocusKeeper.ts";
import { usePaletteEntries } from "./usePaletteEntries.ts";
import { useSend } from "./useSend.ts";
import { useStatus } from "./useStatus.ts";
import { useTheme } from "./useTheme.ts";

const loadPalette = () => import("../features/palette/Palette.tsx");
const loadDashboard = () => import("../features/dashboard/Dashboard.tsx");
const loadCode = () => import("../features/code/CodeDialog.tsx");
const loadPreview = () => import("../features/preview/Preview.tsx");
const loadSettings = () => import("../features/settings/Settings.tsx");

/** What is open over the panel; for the settings, the page. */
export type Overlay = "palette" | "history" | "dashboard" | Page;

export function App({ embedder }: { embedder?: Embedder | undefined }) {
  const registry = useRegistry();
  const { service, feed } = registry;
  const list = useTasks(registry);
  const selected = useSelectedTask();
  const current = list.tasks.find((task) => task.id === selected);
  const editorWorkspace = useHostWorkspace();
  const [open, setOpen] = useState<Overlay | undefined>();
  const lost = list.connection.state === "lost";
  const status = useStatus(service, !lost);
  const send = useSend(registry, selected);
  const { sidebar, notifications } = usePreferences();
  const wide = useMedia("(min-width: 900px)");
  const close = useCallback(() => setOpen(undefined), []);
  const show = useCallback((taskId: string | undefined) => {
    selectTask(taskId);
    setOpen(undefined);
    focusComposer();
  }, []);
  const showInWindow = (taskId: string | undefined) => void openWindow(service, taskId).catch(showError);

  useTheme();
  useFocusKeeper();
  useHost(embedder);
  useBridgeOpener(service, current?.workspace);
  useCommandKeys();
  usePauseWhileHidden(registry, notifications);
  useNotifications(list, show);
  useAppCommands({ wide, onOpen: setOpen, onNew: () => show(undefined), onWindow: () => showInWindow(selected) });
  const loadFailed = (error: unknown) => {
    showError(error);
    close();
  };
  const Palette = useLazy(open === "palette", loadPalette, loadFailed);
  const page = open !== undefined && isPage(open) ? open : undefined;
  const Dashboard = useLazy(open === "dashboard", loadDashboard, loadFailed);
  const previewed = usePreview();
  const Preview = useLazy(previewed !== undefined, loadPreview, loadFailed);
  const code = useCodeView();
  const CodeDialog = useLazy(code !== undefined, loadCode, loadFailed);
  const Settings = useLazy(page !== undefined, loadSettings, loadFailed);
  const entries = usePaletteEntries(service, current?.workspace, open === "palette", list.tasks);
  useOpenActiveTask(list.loaded, list.tasks.find((task) => isActive(task.status))?.id, selected);
  useEffect(() => {
    const timer = setTimeout(() => void loadPalette().catch(() => {}), 1_500);
    return () => clearTimeout(timer);
  }, []);

  if (isUnauthenticated(list.failure)) return <SignInHelp reason={list.failure} />;
  const docked = wide && sidebar;
  const history = (
    <History
      list={list}
      workspace={editorWorkspace ?? status?.workspace}
      selected={selected}
      onSelect={show}
      onWindow={showInWindow}
      onMore={() => void feed.more().catch(showError)}
    />
  );
  return (
    <div className={styles.app} data-docked={docked || undefined}>
      <Header
        status={status}
        task={current}
        onHistory={docked ? undefined : () => setOpen("history")}
        onNew={() => show(undefined)}
        onPalette={() => setOpen("palette")}
        onDashboard={() => setOpen("dashboard")}
        onSettings={setOpen}
      />
      {docked && <div className={styles.sidebar}>{history}</div>}
      <main className={styles.main}>
        {lost && (
          <p className={styles.banner} role="alert">
            The sidecar does not answer. Nothing is lost: what it had done is on its disk, and the panel goes on when it
            is back. If it has stopped, start it with <code>brain</code>.
          </p>
        )}
        {!lost && status?.notice && (
          <p className={styles.banner} role="status" aria-label="Settings notice">
            {status.notice}
          </p>
        )}
        {selected === undefined ? (
          <div className={styles.pane} data-start="">
            <Welcome
              status={status}
              onExample={(text) =>
                void send({ text, typed: text, intent: undefined, agent: undefined, attachments: [], mentioned: [] })
              }
              onModels={() => setOpen("models")}
            />
          </div>
        ) : (
          <TaskPane key={selected} taskId={selected} listed={current} />
        )}
        <Toasts />
        <div className={styles.dock}>
          <div className={ui.column}>
            <Composer
              placeholder={placeholder(selected, current?.status)}
              continues={selected !== undefined}
              workspace={current?.workspace ?? editorWorkspace}
              onSend={send}
            />
          </div>
        </div>
      </main>
      {open === "palette" && Palette && <Palette entries={entries} onClose={close} />}
      {page !== undefined && Settings && <Settings key={page} first={page} onClose={close} />}
      {open === "dashboard" && Dashboard && <Dashboard list={list} status={status} onSelect={show} onClose={close} />}
      {code && CodeDialog && <CodeDialog first={code} workspace={current?.workspace} onClose={closeCode} />}
      {previewed && Preview && <Preview file={previewed} workspace={current?.workspace} onClose={closePreview} />}
      {open === "history" && (
        <Dialog label="Tasks" className={styles.drawer} onClose={close} titled>
          {history}
        </Dialog>
      )}
    </div>
  );
}

/** Shows the active task when the panel opens, once, unless you have already chosen something. */
function useOpenActiveTask(loaded: boolean, active: string | undefined, selected: string | undefined): void {
  const done = useRef(false);
  useEffect(() => {
    if (done.current || !loaded) return;
    done.current = true;
    if (!hasChosenTask() && selected === undefined && active !== undefined) selectTask(active, "replace");
  }, [loaded, active, selected]);
}

function placeholder(selected: string | undefined, status: Status | undefined): string {
  if (selected === undefined) return "Describe a task…";
  return status !== undefined && isActive(status) ? "Steer the task while it runs…" : "Ask a follow-up…";
}
