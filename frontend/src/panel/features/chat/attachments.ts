import type { Attachment } from "../../../wire/types.ts";

/** The sidecar takes bodies of 8 MiB, and base64 needs a third more than the file. */
const MOST_BYTES = 5 * 1024 * 1024;

export async function attachmentsOf(files: Iterable<File>): Promise<Attachment[]> {
  const found: Attachment[] = [];
  for (const file of files) {
    if (file.size > MOST_BYTES)
      throw new Error(`${file.name} is larger than 5 MB, which is the most that can be sent.`);
    found.push({ name: file.name, mediaType: file.type || "application/octet-stream", data: await base64(file) });
  }
  return found;
}

const base64 = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(reader.error);
    reader.onload = () => resolve(String(reader.result).replace(/^data:[^,]*,/, ""));
    reader.readAsDataURL(file);
  });
