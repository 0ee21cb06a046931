import { host, openInEditor } from "./host.ts";
import { merge, Store, useStore } from "./store.ts";

export interface PreviewedFile {
  readonly path: string;
  readonly line: number | undefined;
}

interface Preview {
  readonly file: PreviewedFile | undefined;
}

const store = new Store<Preview, Partial<Preview>>({ file: undefined }, merge);

export const usePreview = (): PreviewedFile | undefined => useStore(store).file;
export const closePreview = (): void => store.dispatch({ file: undefined });

/** Opens a file of the task's workspace: in the editor around the panel if it can, else as a preview. */
export function openFile(path: string, line?: number): void {
  if (host.get().offers.has("openFile")) openInEditor(path, line);
  else store.dispatch({ file: { path, line } });
}
