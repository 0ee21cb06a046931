import { useCallback, useEffect, useRef, useState } from "react";
import { type BrainService, isActive, isUnauthenticated, Unreachable } from "../../client/index.ts";
import { useTasks } from "../../client/react.ts";
import { Composer } from "../features/chat/Composer.tsx";
import { History } from "../features/history/History.tsx";
import { useHost } from "../features/host/useHost.ts";
import { useNotifications } from "../features/notify/useNotifications.ts";
import { isPage, type Page } from "../features/settings/pages.ts";
import { Welcome } from "../features/welcome/Welcome.tsx";
import { useCommandKeys } from "../shared/commands.ts";
import { Dialog } from "../shared/dialog.tsx";
import { useMedia } from "../shared/media.ts";
import { usePreferences } from "../shared/preferences.ts";
import { complain, Toasts } from "../shared/toasts.tsx";
import { useLoaded } from "../shared/useLoaded.ts";
import { NoWayIn } from "./Gate.tsx";
import { Header } from "./Header.tsx";
import { hasChosen, openWindow, selectTask, useSelectedTask } from "./location.ts";
import { TaskPane } from "./TaskPane.tsx";
import { useAppCommands } from "./useAppCommands.ts";
import { useFacts } from "./useFacts.ts";
import { usePaletteEntries } from "./usePaletteEntries.ts";
import { useSend } from "./useSend.ts";
import { useTheme } from "./useTheme.ts";

// Not needed to begin with; asked for as soon as there is nothing better to do.
const loadPalette = () => import("../features/palette/Palette.tsx");
const loadSettings = () => import("../features/settings/Settings.tsx");

/** What stands over the panel; of the settings, the page. */
export type Window = "palette" | "history" | Page;

export function App({ service }: { service: BrainService }) {
  const list = useTasks(service);
  const selected = useSelectedTask();
  const current = list.tasks.find((task) => task.id === selected);
  const [open, setOpen] = useState<Window | undefined>();
  const again = useRef(() => {});
  const lost = list.failure instanceof Unreachable;
  const status = useFacts(service, !lost);
  const send = useSend({ service, current, selected, again, look: list.look });
  const { sidebar } = usePreferences();
  const wide = useMedia("(min-width: 900px)");
  const close = useCallback(() => setOpen(undefined), []);
  const show = useCallback((taskId: string | undefined) => {
    selectTask(taskId);
    setOpen(undefined);
    document.querySelector<HTMLElement>("[data-composer]")?.focus();
  }, []);

  const another = (taskId: string | undefined) => void openWindow(service, taskId).catch(complain);

  useTheme();
  useHost();
  useCommandKeys();
  useNotifications(list.tasks, show);
  useAppCommands({ wide, onOpen: setOpen, onNew: () => show(undefined), onWindow: () => another(selected) });
  const unloaded = (error: unknown) => {
    complain(error);
    close();
  };
  const Palette = useLoaded(open === "palette", loadPalette, unloaded);
  const page = open !== undefined && isPage(open) ? open : undefined;
  const Settings = useLoaded(page !== undefined, loadSettings, unloaded);
  const entries = usePaletteEntries(service, current?.workspace, open === "palette", list.tasks);
  useOpenWhatIsGoingOn(list.loaded, list.tasks.find((task) => isActive(task.status))?.id, selected);
  useEffect(() => {
    const timer = setTimeout(() => void loadPalette().catch(() => {}), 1_500);
    return () => clearTimeout(timer);
  }, []);

  if (isUnauthenticated(list.failure)) return <NoWayIn reason={list.failure} />;
  const docked = wide && sidebar;
  const history = (
    <History list={list} here={status?.workspace} selected={selected} onSelect={show} onWindow={another} />
  );
  return (
    <div className={`app ${docked ? "app-docked" : ""}`}>
      <Header
        status={status}
        task={current}
        onHistory={docked ? undefined : () => setOpen("history")}
        onNew={() => show(undefined)}
        onPalette={() => setOpen("palette")}
        onSettings={setOpen}
      />
      {docked && <aside className="sidebar">{history}</aside>}
      <main className="main">
        {lost && (
          <p className="banner" role="alert">
            The sidecar does not answer. It is asked again every few seconds; start it with <code>brain</code> if it has
            ended.
          </p>
        )}
        {selected === undefined ? (
          <div className="pane pane-start">
            <Welcome
              status={status}
              onExample={(text) =>
                void send({ text, intent: undefined, agent: undefined, attachments: [], mentioned: [] })
              }
              onModels={() => setOpen("models")}
            />
          </div>
        ) : (
          <TaskPane key={selected} taskId={selected} listed={current} again={again} look={list.look} />
        )}
        <div className="dock">
          <div className="column">
            <Composer
              placeholder={placeholder(selected, current?.status)}
              workspace={current?.workspace}
              onSend={send}
            />
          </div>
        </div>
      </main>
      {open === "palette" && Palette && <Palette entries={entries} onClose={close} />}
      {page !== undefined && Settings && <Settings key={page} first={page} onClose={close} />}
      {open === "history" && (
        <Dialog label="Tasks" className="drawer" onClose={close} titled>
          {history}
        </Dialog>
      )}
      <Toasts />
    </div>
  );
}

/** Whoever opens the panel while something is going on wants to see that. Once: afterwards they choose. */
function useOpenWhatIsGoingOn(loaded: boolean, active: string | undefined, selected: string | undefined): void {
  const done = useRef(false);
  useEffect(() => {
    if (done.current || !loaded) return;
    done.current = true;
    if (!hasChosen() && selected === undefined && active !== undefined) selectTask(active, "replace");
  }, [loaded, active, selected]);
}

function placeholder(selected: string | undefined, status: Parameters<typeof isActive>[0] | undefined): string {
  if (selected === undefined) return "What should be done?";
  return status !== undefined && isActive(status) ? "Steer it while it works…" : "Continue, or ask for something else…";
}
