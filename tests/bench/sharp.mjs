// The peer of the imaging benchmark: sharp (libvips), as its documentation has it used, one thread, warm. Reads one order
// a line on standard input, {"master", "format", "side", "lossless", "out"}, writes the picture into the file "out" and
// answers with one line, {"ms", "bytes"}. usage: node sharp.mjs SHARP_FOLDER MARK_FILE
//
// Settings are sharp's own defaults: PNG zlib level 6, WebP quality 80 at effort 4, JPEG quality 80 with 4:2:0 chroma and
// optimised Huffman tables, AVIF quality 50 at effort 4 with 4:4:4 chroma, Lanczos with three lobes. What is asked for beyond
// them is what our pictures have: white under a JPEG, and the XMP mark.
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [folder, markFile] = process.argv.slice(2);
const sharp = createRequire(folder + "/")("sharp");
sharp.concurrency(1);
// Else a repeated order would be answered from memory.
sharp.cache(false);
const mark = readFileSync(markFile, "utf8");
const masters = new Map();

function ordered({ master, format, side, lossless }) {
  let picture = sharp(masters.get(master)).resize(side, side);
  if (format === "jpg") picture = picture.flatten({ background: "#fff" });
  if (lossless) return picture.png();
  picture = picture.withXmp(mark);
  if (format === "png") return picture.png();
  if (format === "webp") return picture.webp();
  if (format === "avif") return picture.avif();
  return picture.jpeg();
}

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  if (!masters.has(order.master)) masters.set(order.master, readFileSync(order.master));
  const began = process.hrtime.bigint();
  const bytes = await ordered(order).toBuffer();
  const ms = Number(process.hrtime.bigint() - began) / 1e6;
  writeFileSync(order.out, bytes);
  console.log(JSON.stringify({ ms, bytes: bytes.length }));
}
