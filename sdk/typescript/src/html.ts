/**
 * HTML of an image in a page: attributes of an `<img>` (or `<car-image>`) element from signed URLs
 * of one image in several widths.
 */

import type { DeliveryUrl, VehicleParams, View } from "./types.js";

const SOURCE_SIDE_PX = 1024;
const VIEW_WORDS: Readonly<Record<View, string>> = {
  "front": "front view",
  "front-3-4": "front three-quarter view",
  "side": "side view",
  "side-right": "right side view",
  "rear": "rear view",
  "rear-3-4": "rear three-quarter view",
};

export interface ImageAttributes {
  readonly src: string;
  readonly srcset: string;
  readonly sizes: string;
  readonly alt: string;
  /** The page keeps this space free before the image is loaded. */
  readonly width: string;
  /**
   * Absent for an image that is trimmed and fitted into a box: its shape is not known, and a wrong
   * height would distort it.
   */
  readonly height?: string;
}

/**
 * Returns a text alternative for people who cannot see the image. Names are made from the slugs if
 * not given; a color in hex digits is left out.
 */
export function altText(vehicle: VehicleParams, names: { readonly make_name?: string; readonly model_name?: string } = {}): string {
  const make = names.make_name ?? words(vehicle.make);
  const model = names.model_name ?? words(vehicle.model);
  const color = /^[0-9a-f]{6}$/.test(vehicle.color) ? "" : `${capitalized(vehicle.color)} `;
  return `${color}${vehicle.year} ${make} ${model}, ${VIEW_WORDS[vehicle.view]}`;
}

/**
 * Returns the attributes of an `<img>` element. `urls` are one image in different widths, as
 * `createImageUrls` returns them.
 */
export function carImageAttributes(
  urls: readonly DeliveryUrl[],
  options: { readonly sizes?: string; readonly alt?: string } = {},
): ImageAttributes {
  const byWidth = urls.map(({ url, vehicle }) => ({ url, ...sizePx(vehicle) })).sort((a, b) => a.width - b.width);
  const [first, widest] = [urls[0], byWidth.at(-1)];
  if (!first || !widest) throw new TypeError("`urls` is empty");
  return {
    src: widest.url,
    srcset: byWidth.map(({ url, width }) => `${url} ${width}w`).join(", "),
    sizes: options.sizes ?? "100vw",
    alt: options.alt ?? altText(first.vehicle),
    width: String(widest.width),
    ...(widest.height === undefined ? {} : { height: String(widest.height) }),
  };
}

/** Returns the `<img>` element. See `carImageAttributes`. */
export function carImageHtml(urls: readonly DeliveryUrl[], options: { readonly sizes?: string; readonly alt?: string } = {}): string {
  const attributes = Object.entries(carImageAttributes(urls, options));
  const written = attributes.map(([name, value]) => `${name}="${escaped(value)}"`).join(" ");
  return `<img ${written} loading="lazy" decoding="async">`;
}

/** Images are square unless their framing says otherwise, and are never enlarged. */
function sizePx(vehicle: VehicleParams): { readonly width: number; readonly height?: number } {
  const [width, height] = [vehicle.width ?? SOURCE_SIDE_PX, vehicle.height ?? SOURCE_SIDE_PX];
  if (vehicle.fit === "contain" || vehicle.fit === "cover") return { width, height };
  if (vehicle.trim) return { width };
  const side = Math.min(width, height);
  return { width: side, height: side };
}

function words(slug: string): string {
  return slug.split("-").map(capitalized).join(" ");
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;").replace(/'/g, "&#x27;");
}
