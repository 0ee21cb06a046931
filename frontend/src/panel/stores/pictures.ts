import type { Attachment } from "../../wire/types.ts";
import { Store, useStore } from "./store.ts";

/** A file that went with a message: a small picture of an image, else only its name. */
export interface SentFile {
  readonly name: string;
  readonly picture: string | undefined;
}

type Sent = ReadonlyMap<string, readonly SentFile[]>;

const KEY = "rainy-brain.sent-files";
const MOST = 60;
const EDGE = 160;

function load(): Sent {
  try {
    return new Map(JSON.parse(localStorage.getItem(KEY) ?? "[]") as [string, SentFile[]][]);
  } catch {
    return new Map();
  }
}

const store = new Store<Sent, readonly [string, readonly SentFile[]]>(
  typeof localStorage === "undefined" ? new Map() : load(),
  (sent, [key, files]) => new Map([...[...sent].slice(1 - MOST), [key, files]]),
);

const keyOf = (taskId: string, text: string): string => `${taskId} ${text.slice(0, 200)}`;

export const useSentFiles = (taskId: string, text: string): readonly SentFile[] =>
  useStore(store).get(keyOf(taskId, text)) ?? [];

/** Remembers in this browser what went with a message, since the task's events hold its text only. */
export async function rememberSent(taskId: string, text: string, attachments: readonly Attachment[]): Promise<void> {
  if (attachments.length === 0) return;
  const files = await Promise.all(
    attachments.map(async (one) => ({ name: one.name, picture: await thumbnail(one).catch(() => undefined) })),
  );
  store.dispatch([keyOf(taskId, text), files]);
  try {
    localStorage.setItem(KEY, JSON.stringify([...store.get()]));
  } catch {
    // Without room they are shown until the page is closed.
  }
}

export const isPicture = ({ mediaType }: Attachment): boolean => /^image\/(png|jpeg|gif|webp)$/.test(mediaType ?? "");
export const dataUrl = ({ mediaType, data }: Attachment): string => `data:${mediaType};base64,${data}`;

async function thumbnail(one: Attachment): Promise<string | undefined> {
  if (!isPicture(one)) return undefined;
  const image = new Image();
  image.src = dataUrl(one);
  await image.decode();
  const scale = Math.min(1, EDGE / Math.max(image.naturalWidth, image.naturalHeight));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(image.naturalWidth * scale));
  canvas.height = Math.max(1, Math.round(image.naturalHeight * scale));
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/webp", 0.8);
}
