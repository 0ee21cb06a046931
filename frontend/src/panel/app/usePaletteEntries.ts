import { useEffect, useMemo, useState } from "react";
import type { BrainService } from "../../client/index.ts";
import type { Task } from "../../wire/types.ts";
import type { Entry } from "../features/palette/fuzzy.ts";
import { useAgents } from "../shared/agents.ts";
import { type Command, useAllCommands } from "../shared/commands.ts";
import { composerText } from "../shared/composer-text.ts";
import { findFiles } from "../shared/found.ts";
import { useModels } from "../shared/models.ts";
import { prefer } from "../shared/preferences.ts";
import { selectTask } from "./location.ts";

const MOST_FILES = 20_000;

/** Everything that the palette offers: what can be done, then what can be gone to. */
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
      ...[...commands.values()].map(entryOf),
      ...tasks.map((task) => ({
        id: `task.${task.id}`,
        title: task.task.split("\n", 1)[0]!.slice(0, 120),
        group: "Tasks",
        hint: task.status,
        run: () => selectTask(task.id),
      })),
      ...(models?.models ?? [])
        .filter((model) => model.available)
        .map((model) => ({
          id: `model.${model.name}`,
          title: `Use ${model.name}`,
          group: "Models",
          hint: model.why,
          run: () => prefer({ model: model.name }),
        })),
      ...agents.map((agent) => ({
        id: `agent.${agent.name}`,
        title: `Ask the ${agent.name}`,
        group: "Agents",
        hint: agent.description,
        run: () => composerText.set({ text: `/${agent.name} `, append: false }),
      })),
      ...files.map((path) => ({
        id: `file.${path}`,
        title: path,
        group: "Files",
        run: () => composerText.set({ text: `@${path} `, append: true }),
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
