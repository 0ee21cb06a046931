import { CommandGroup, CommandInput, CommandItem, CommandList, Command as CommandRoot } from "cmdk";
import { useMemo, useState } from "react";
import { Dialog } from "../../shared/dialog.tsx";
import { showCode } from "../../stores/code.ts";
import { keyLabels } from "../../stores/commands.ts";
import { type Entry, Finder } from "./fuzzy.ts";
import styles from "./Palette.module.css";
import { recentIds, rememberUsed } from "./recent.ts";

const SHOWN = 40;

interface Props {
  readonly entries: readonly Entry[];
  readonly onClose: () => void;
}

/** Searches all entries and renders the best matches. */
export default function Palette({ entries, onClose }: Props) {
  const [typed, setTyped] = useState("");
  const finder = useMemo(() => new Finder(entries, recentIds()), [entries]);
  const found = useMemo(() => [...finder.find(typed, SHOWN), ...findInCode(typed.trim())], [finder, typed]);
  const groups = useMemo(() => grouped(found), [found]);
  // What the arrow keys chose, as long as it still matches; else the best match.
  const [chosen, setChosen] = useState("");
  const value = found.some((entry) => entry.id === chosen) ? chosen : (groups[0]?.[1][0]?.id ?? "");
  const choose = (entry: Entry) => {
    rememberUsed(entry.id);
    onClose();
    // After the dialog has returned the focus, so that the command may move it.
    setTimeout(() => entry.run(), 0);
  };
  return (
    <Dialog label="Command palette" className={styles.palette} onClose={onClose}>
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
          {groups.map(([group, members]) => (
            <CommandGroup key={group} heading={group}>
              {members.map((entry) => (
                <CommandItem key={entry.id} value={entry.id} onSelect={() => choose(entry)}>
                  <span className={styles.title}>{entry.title}</span>
                  {entry.hint && <span className={styles.hint}>{entry.hint}</span>}
                  {entry.keys && (
                    <span className={styles.keys}>
                      {keyLabels(entry.keys).map((sign) => (
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

/** Whatever you type can also be looked for in the code. */
const findInCode = (words: string): Entry[] =>
  words === ""
    ? []
    : [{ id: "find", title: `Find “${words}” in code`, group: "Code", run: () => showCode("find", words) }];

function grouped(entries: readonly Entry[]): [string, Entry[]][] {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) groups.set(entry.group, [...(groups.get(entry.group) ?? []), entry]);
  return [...groups];
}
