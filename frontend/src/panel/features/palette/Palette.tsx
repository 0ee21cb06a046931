import { CommandEmpty, CommandGroup, CommandInput, CommandItem, CommandList, Command as CommandRoot } from "cmdk";
import { useMemo, useState } from "react";
import { keySigns } from "../../shared/commands.ts";
import { Dialog } from "../../shared/dialog.tsx";
import { type Entry, Finder } from "./fuzzy.ts";
import { recentIds, used } from "./recent.ts";

const SHOWN = 40;

interface Props {
  readonly entries: readonly Entry[];
  readonly onClose: () => void;
}

/** Everything that can be done or gone to. The entries are searched here; only the best are drawn. */
export default function Palette({ entries, onClose }: Props) {
  const [typed, setTyped] = useState("");
  const finder = useMemo(() => new Finder(entries, recentIds()), [entries]);
  const found = useMemo(() => finder.find(typed, SHOWN), [finder, typed]);
  const groups = useMemo(() => grouped(found), [found]);
  // What the arrows have chosen, as long as it is still there; else the best.
  const [chosen, setChosen] = useState("");
  const value = found.some((entry) => entry.id === chosen) ? chosen : (groups[0]?.[1][0]?.id ?? "");
  const choose = (entry: Entry) => {
    used(entry.id);
    onClose();
    // After the dialog has given the focus back, so that whatever runs may take it.
    setTimeout(() => entry.run(), 0);
  };
  return (
    <Dialog label="Command palette" className="palette" onClose={onClose}>
      <CommandRoot shouldFilter={false} loop label="Command palette" value={value} onValueChange={setChosen}>
        <CommandInput
          data-first=""
          placeholder="Search commands, tasks, files…"
          value={typed}
          onValueChange={(text) => {
            setTyped(text);
            setChosen("");
          }}
          aria-label="Search"
        />
        <CommandList label="Results">
          <CommandEmpty>Nothing has a name like that.</CommandEmpty>
          {groups.map(([group, members]) => (
            <CommandGroup key={group} heading={group}>
              {members.map((entry) => (
                <CommandItem key={entry.id} value={entry.id} onSelect={() => choose(entry)}>
                  <span className="palette-title">{entry.title}</span>
                  {entry.hint && <span className="palette-hint">{entry.hint}</span>}
                  {entry.keys && (
                    <span className="palette-keys">
                      {keySigns(entry.keys).map((sign) => (
                        <kbd key={sign}>{sign}</kbd>
                      ))}
                    </span>
                  )}
                </CommandItem>
              ))}
            </CommandGroup>
          ))}
        </CommandList>
      </CommandRoot>
    </Dialog>
  );
}

function grouped(entries: readonly Entry[]): [string, Entry[]][] {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) groups.set(entry.group, [...(groups.get(entry.group) ?? []), entry]);
  return [...groups];
}
