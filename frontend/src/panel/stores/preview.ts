import { host, openInEditor } from "./host.ts";
import { merge, Store, useStore } from "./store.ts";

export interface PreviewedFile {
  readonly path: string;
  readonly line: number | undefined;
}

interface Preview {
  readonly file: PreviewedFile | undefined;
  /** Opens the file in an editor on the bridge; false if there is none. */
  readonly openOnBridge: (file: PreviewedFile) => Promise<boolean>;
}

const store = new Store<Preview, Partial<Preview>>({ file: undefined, openOnBridge: async () => false }, merge);

export const usePreview = (): PreviewedFile | undefined => useStore(store).file;
export const closePreview = (): void => store.dispatch({ file: undefined });
export const setBridgeOpener = (openOnBridge: Preview["openOnBridge"]): void => store.dispatch({ openOnBridge });

/** Opens a file of the task's workspace: in the editor around the panel, else one on the bridge, else as a preview. */
export async function openFile(path: string, line?: number): Promise<void> {
  if (host.get().offers.has("openFile")) return openInEditor(path, line);
  const file = { path, line };
  if (!(await store.get().openOnBridge(file))) store.dispatch({ file });
}
