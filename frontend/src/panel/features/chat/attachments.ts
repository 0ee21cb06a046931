import type { Attachment } from "../../../wire/types.ts";

/** The sidecar accepts bodies of 8 MiB, and base64 adds a third. */
const MOST_BYTES = 5 * 1024 * 1024;

export async function readAttachments(files: Iterable<File>): Promise<Attachment[]> {
  const found: Attachment[] = [];
  // The list of a file field empties while the first file is read.
  for (const file of [...files]) {
    if (file.size > MOST_BYTES) throw new Error(`${file.name} is larger than 5 MB, the limit for attachments.`);
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
