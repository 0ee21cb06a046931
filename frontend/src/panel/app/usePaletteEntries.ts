import { useEffect, useMemo, useState } from "react";
import type { BrainService } from "../../client/index.ts";
import type { Task } from "../../wire/types.ts";
import type { Entry } from "../features/palette/fuzzy.ts";
import { findFiles } from "../shared/search.ts";
import { useAgents, useModels } from "../stores/catalog.ts";
import { type Command, useAllCommands } from "../stores/commands.ts";
import { appendToComposer, focusComposer, replaceComposer } from "../stores/composer.ts";
import { selectTask } from "../stores/location.ts";
import { setPreferences } from "../stores/preferences.ts";

const MOST_FILES = 20_000;

/** The entries of the palette: commands, then tasks, models, agents and files. */
export function usePaletteEntries(
  service: BrainService,
  workspace: string | undefined,
  open: boolean,
  tasks: readonly Task[],
): readonly Entry[] {
  const commands = useAllCommands();
  const files = useFiles(service, workspace, open);
  const models = useModels();
  const agents = useAgents();
  return useMemo(() => {
    if (!open) return [];
    return [
      ...[...commands.values()].filter(({ id }) => id !== "app.palette").map(entryOf),
      ...tasks.map((task) => ({
        id: `task.${task.id}`,
        title: task.title.slice(0, 120),
        group: "Tasks",
        hint: task.status,
        run: () => {
          selectTask(task.id);
          focusComposer();
        },
      })),
      ...(models?.models ?? [])
        .filter((model) => model.available)
        .map((model) => ({
          id: `model.${model.name}`,
          title: `Use ${model.name}`,
          group: "Models",
          hint: model.why,
          run: () => setPreferences({ model: model.name }),
        })),
      ...agents.map((agent) => ({
        id: `agent.${agent.name}`,
        title: `Ask the ${agent.name}`,
        group: "Agents",
        hint: agent.description,
        run: () => replaceComposer(`/${agent.name} `),
      })),
      ...files.map((path) => ({
        id: `file.${path}`,
        title: path,
        group: "Files",
        run: () => appendToComposer(`@${path} `),
      })),
    ];
  }, [open, commands, tasks, models, agents, files]);
}

const entryOf = ({ id, title, group, keys, hint, slash, run }: Command): Entry => ({
  id,
  title,
  group,
  hint: hint ?? (slash ? `/${slash}` : undefined),
  keys,
  run: () => run(""),
});

function useFiles(service: BrainService, workspace: string | undefined, open: boolean): readonly string[] {
  const [files, setFiles] = useState<readonly string[]>([]);
  useEffect(() => {
    if (!open) return;
    const stop = new AbortController();
    findFiles({ service, workspace }, "*", stop.signal).then(
      (found) => setFiles(found.slice(0, MOST_FILES)),
      () => {},
    );
    return () => stop.abort();
  }, [service, workspace, open]);
  return files;
}
