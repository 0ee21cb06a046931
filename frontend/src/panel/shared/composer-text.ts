import { Store } from "./store.ts";

/** What somebody else wants to have in the composer: an example, a message to be sent again, a host's selection. */
export const composerText = new Store<{ readonly text: string; readonly append: boolean } | undefined>(undefined);
