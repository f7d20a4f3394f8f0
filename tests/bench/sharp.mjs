// The peer of the imaging benchmark: sharp (libvips), used as its documentation shows, one thread,
// warm. It reads one order a line on standard input, {"master", "format", "frame", "width",
// "height", "lossless", "out"}, writes the image into the file "out" and answers with one line,
// {"ms", "bytes"}. usage: node sharp.mjs SHARP_FOLDER MARK_FILE
//
// Settings are sharp's own defaults: PNG zlib level 6, WebP quality 80 at effort 4, JPEG quality 80
// with 4:2:0 chroma and optimised Huffman tables, AVIF effort 4 with 4:4:4 chroma, Lanczos with
// three lobes. AVIF has quality 58 in place of 50, at which its SSIM equals ours. Beyond the
// defaults it does what our images have: white under a JPEG, and the XMP mark.
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [folder, markFile] = process.argv.slice(2);
const sharp = createRequire(folder + "/")("sharp");
sharp.concurrency(1);
// Otherwise a repeated order would be answered from memory.
sharp.cache(false);
const mark = readFileSync(markFile, "utf8");
const masters = new Map();

// A frame other than "square" is first cut to the visible part, where alpha is 8 of 255 or more,
// then fitted and never enlarged.
function framed({ master, format, frame, width, height }) {
  const picture = sharp(masters.get(master));
  if (frame === "square") return picture.resize(width, height);
  const clear = { r: 0, g: 0, b: 0, alpha: 0 };
  // Margins are added after a JPEG was laid on white.
  const background = format === "jpg" ? "#fff" : clear;
  return picture.trim({ background: clear, threshold: 7 }).resize(width, height, { fit: frame, background });
}

function ordered(order) {
  const { format, lossless } = order;
  let picture = framed(order);
  if (format === "jpg") picture = picture.flatten({ background: "#fff" });
  if (lossless) return picture.png();
  picture = picture.withXmp(mark);
  if (format === "png") return picture.png();
  if (format === "webp") return picture.webp();
  if (format === "avif") return picture.avif({ quality: 58 });
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
