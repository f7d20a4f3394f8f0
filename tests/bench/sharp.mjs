// The peer of the imaging benchmark: sharp (libvips) makes the same derivatives from the same master, one thread, and
// prints one JSON line a case: {"format", "side", "ms", "bytes"}. usage: node sharp.mjs MASTER.png REPEATS SHARP_FOLDER OUT_FOLDER
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";

const [master, repeats, folder, out] = process.argv.slice(2);
const sharp = createRequire(folder + "/")("sharp");
sharp.concurrency(1);
sharp.cache(false);
const input = readFileSync(master);

for (const format of ["png", "webp", "jpg"]) {
  for (const side of [256, 512, 768]) {
    const once = () => {
      const resized = sharp(input).resize(side, side, { kernel: "lanczos3" });
      if (format === "png") return resized.png({ compressionLevel: 6 }).toBuffer();
      if (format === "webp") return resized.webp({ quality: 80, alphaQuality: 100, effort: 4 }).toBuffer();
      return resized.flatten({ background: "#fff" }).jpeg({ quality: 85 }).toBuffer();
    };
    let bytes = await once();
    const times = [];
    for (let n = 0; n < Number(repeats); n++) {
      const began = process.hrtime.bigint();
      bytes = await once();
      times.push(Number(process.hrtime.bigint() - began) / 1e6);
    }
    times.sort((a, b) => a - b);
    writeFileSync(`${out}/sharp-${side}.${format}`, bytes);
    console.log(JSON.stringify({ format, side, ms: times[times.length >> 1], bytes: bytes.length }));
  }
}
