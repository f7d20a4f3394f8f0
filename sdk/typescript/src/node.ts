/** Functions that need files, which web pages do not have. */

import { open, rename, unlink } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import type { CarImage } from "./client.js";
import { connectionFailed } from "./errors.js";

/**
 * Saves an image to a file. It is streamed, and the file appears complete or not at all. Returns
 * false for an image that is not modified. The format does not depend on the file's name.
 */
export async function saveImage(image: CarImage, path: string): Promise<boolean> {
  if (!image.modified) return false;
  // Beside the target, because a rename does not cross file systems.
  const partial = `${path}.${randomUUID()}.part`;
  const file = await open(partial, "wx");
  try {
    try {
      for await (const chunk of received(image.body)) await file.writeFile(chunk);
    } finally {
      await file.close();
    }
    await rename(partial, path);
  } catch (error) {
    await unlink(partial);
    throw error;
  }
  return true;
}

async function* received(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const chunks = body[Symbol.asyncIterator]();
  for (;;) {
    const next = await chunks.next().catch((cause: unknown) => {
      throw connectionFailed(cause);
    });
    if (next.done) return;
    yield next.value;
  }
}
