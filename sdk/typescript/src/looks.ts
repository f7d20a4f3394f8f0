/** Parameters that all image requests share, besides the vehicle and the box. */

import type { AskedColor, AskedFinish, AskedFormat, AskedView, Background, Fit, Scale, Shadow, SizePreset } from "./types.js";

/**
 * Parameters of the look of an image. The request type decides whether the box is `w` and `h` or
 * `width` and `height`.
 */
export interface Looks {
  readonly view?: AskedView;
  readonly color?: AskedColor;
  readonly finish?: AskedFinish;
  readonly size?: SizePreset;
  readonly format?: AskedFormat;
  readonly fit?: Fit;
  readonly trim?: boolean;
  /** Percentage of the longer side of the area that `trim` cuts out. */
  readonly padding?: number;
  readonly background?: Background;
  readonly shadow?: Shadow;
  readonly scale?: Scale;
}
