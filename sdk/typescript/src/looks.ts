/** What requests for a picture have in common beside the vehicle and the box. */

import type { AskedColor, AskedFinish, AskedFormat, AskedView, Background, Fit, Scale, Shadow, SizePreset } from "./types.js";

/** How a picture of a vehicle should look; whether its box is `w` and `h` or `width` and `height`, the request says. */
export interface Looks {
  readonly view?: AskedView;
  readonly color?: AskedColor;
  readonly finish?: AskedFinish;
  readonly size?: SizePreset;
  readonly format?: AskedFormat;
  readonly fit?: Fit;
  readonly trim?: boolean;
  /** Per cent of the longer side of what `trim` cuts out. */
  readonly padding?: number;
  readonly background?: Background;
  readonly shadow?: Shadow;
  readonly scale?: Scale;
}
