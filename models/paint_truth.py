"""Measures how close an image in any colour is to the path tracer's with that paint on the vehicle:
thirty hexes in four finishes.

`trace` renders each paint itself, with bounces between painted parts, and stores the light of the
pure paint: `<data>/<vehicle>/<view>.<what>.paint.npz` with the paint's combined light, its diffuse
light and its mirrored light (linear), and the ratio of each pixel that is paint. `<what>` is
`neutral` (the layers: a base coat of 0.5) or a kind and a hex:

    lacquer   a pigment under smooth lacquer (solid)
    flakes    a broad metal lobe of the paint's colour under smooth lacquer; metallic and pearl are mixtures of it and a pigment
    matt      a rough dielectric (Principled BSDF: microfacet Fresnel, light that is lost in the coat included)

A file that exists is not made again, so the program can be stopped and started. `judge` compares
images: CIEDE2000 in pixels that are paint alone, the median over an image's pixels, then the median
and the worst over the thirty hexes. Our images are composed as the finish pass does (`finish.py`,
`soft` here) from three kinds of light: the path tracer's own neutral layers, which tests the
paint's model alone; the base shading; and the shipped model's layers. Metallic and pearl have two
truths: `law` has the finish pass's own flakes over the path tracer's light in that paint, and
`flakes` the metal lobe, which is a separate paint and not a law of ours.
"""

import argparse
import json
import tempfile
import time
import tomllib
from pathlib import Path

import numpy as np
from scipy.ndimage import uniform_filter1d

from dataset import base_layers, conditioning_of, index
from finish import EXPOSURE, FLAKE_PIVOT, LUMINANCE, toned
from light_space import srgb

SIDE_PX = 256
KINDS = ("lacquer", "matt", "flakes")
NEUTRAL = 0.5
# GGX alphas. A flake lobe is broad; matt clear coats have a gloss of 10 to 25 units at 60 degrees.
FLAKE_ALPHA = 0.30
MATT_ALPHA = 0.30
# Ratio of flakes in the base coat, for the truth named `flakes`.
FLAKES = {"metallic": 0.6, "pearl": 0.25}
PAINT_MIN = 0.99
# As in `render-node/src/finish/soft.rs`.
REACH, BLURS = 0.016, 3


# ---------------------------------------------------------------- path tracing

def materials_of(studio, optics):
    """Returns a material for each kind; the colour is set at the nodes that are returned."""
    from ground_truth import INSIDE_ALBEDO, cycles_roughness, index_of_refraction, new_material

    made = {}
    for kind in KINDS:
        material, n = new_material(f"paint-{kind}")
        refraction = index_of_refraction(optics["f0"])
        if kind == "matt":
            surface = n.node("ShaderNodeBsdfPrincipled", {"Base Color": (NEUTRAL,) * 3, "Roughness": MATT_ALPHA**0.5, "IOR": refraction})
            colour = surface.node
        else:
            mirror = n.node("ShaderNodeBsdfAnisotropic", {"Color": (1, 1, 1), "Roughness": cycles_roughness(optics["roughness"])},
                            distribution="GGX")
            if kind == "flakes":
                base = n.node("ShaderNodeBsdfAnisotropic", {"Color": (NEUTRAL,) * 3, "Roughness": FLAKE_ALPHA**0.5}, distribution="GGX")
            else:
                base = n.node("ShaderNodeBsdfDiffuse", {"Color": (NEUTRAL,) * 3})
            colour = base.node
            surface = n.mix_shader(n.node("ShaderNodeFresnel", {"IOR": refraction}), base, mirror)
        back = n.node("ShaderNodeNewGeometry", output=6)
        surface = n.mix_shader(back, surface, n.node("ShaderNodeBsdfDiffuse", {"Color": (INSIDE_ALBEDO,) * 3}))
        n.node("ShaderNodeOutputMaterial", {"Surface": surface})
        made[kind] = (material, colour.inputs["Base Color" if kind == "matt" else "Color"])
    return made


def jobs_of(data: Path, views: list[str]):
    """Returns (view, what, kind, albedo) in an order that leaves a fair mix when the work is
    stopped."""
    paints = json.loads((data / "custom-paints.json").read_text())
    hexes = [name[1:7] for name in paints if name.endswith("-solid")]
    neutral = [(view, f"neutral-{kind}", kind, [NEUTRAL] * 3) for view in views for kind in KINDS]
    # The albedo of a smooth pigment; the material adds the effect of the finish.
    return neutral + [(view, f"{kind}-{colour}", kind, paints[f"#{colour}-solid"]["albedo"])
                      for view in views for kind in KINDS for colour in hexes]


def trace(options) -> None:
    from ground_truth import Studio, in_whole, seed_of, window_of

    begin = time.time()
    optics = json.loads((options.data / "materials.json").read_text())
    with tempfile.TemporaryDirectory() as scratch:
        studio = Studio(tomllib.loads(options.rig.read_text()), optics, Path(scratch), options.threads)
        studio.scene.cycles.max_bounces = 6
        paint = next(row for row in optics if row["name"] == "paint")
        materials, placed = materials_of(studio, paint), None
        for view, what, kind, albedo in jobs_of(options.data, options.views):
            path = options.data / f"{view}.{what}.paint.npz"
            if path.exists() or time.time() - begin > options.minutes * 60:
                continue
            start = time.time()
            if placed != view:
                camera = json.loads((options.data / f"{view}.json").read_text())
                if placed is None or placed.split("/")[0] != view.split("/")[0]:
                    studio.place_vehicle((options.data / view).parent)
                studio.place_camera(camera)
                matrix = np.array(camera["studio_from_vehicle"], float).reshape(4, 4).T
                studio.turn_vehicle(matrix)
                window, placed = window_of(studio, camera, matrix, SIDE_PX), view
            material, colour = materials[kind]
            colour.default_value = (*albedo, 1.0)
            for part in studio.groups["paint"].objects:
                part.data.materials[0] = material
            studio.render("paint", SIDE_PX, options.samples, seed_of(view, what), window)
            read = lambda name: in_whole(studio.read(name), window, SIDE_PX)
            light = {
                "combined": read("paint")[..., :3], "gloss": read("gloss")[..., :3],
                "diffuse": read("diffuse_light")[..., :3] * read("diffuse_colour")[..., :3], "share": read("share")[..., 3],
            }
            half_done = path.with_suffix(".part.npz")
            np.savez_compressed(half_done, **{name: plane.astype(np.float16) for name, plane in light.items()})
            half_done.rename(path)
            print(f"{view} {what}: {time.time() - start:.1f} s", flush=True)


# ---------------------------------------------------------------- pictures

def halved(planes: np.ndarray) -> np.ndarray:
    """Reduces [..., 512, 512] to [..., 256, 256] by means."""
    return planes.reshape(*planes.shape[:-2], SIDE_PX, 2, SIDE_PX, 2).mean((-3, -1))


def soft(gloss: np.ndarray, share: np.ndarray, reach=REACH) -> np.ndarray:
    """Returns the mirrored light of a rough lacquer, as `render-node/src/finish/soft.rs` computes
    it. [3, H, W]."""
    size = 2 * max(int(SIDE_PX * reach), 1) + 1
    planes = np.concatenate([gloss, share[None]])
    for axis in (1, 2):
        for _ in range(BLURS):
            planes = uniform_filter1d(planes, size, axis=axis, mode="constant")
    return planes[:3] * np.where(share > 0, share / np.maximum(planes[3], 1e-4), 0)


def light_in(paint: dict, finish: str, diffuse, gloss, share) -> np.ndarray:
    """Returns the linear light of a paint from layers: diffuse light of a white card and mirrored
    light, [3, H, W]."""
    column = lambda name: np.array(paint[name])[:, None, None]
    if finish == "matt":
        gloss = soft(gloss, share)
    turned = np.clip(np.tensordot(LUMINANCE, diffuse, 1) / np.maximum(share, 1e-4) / FLAKE_PIVOT, 0.2, 1.7)
    shaped = 1 + (turned - 1) * paint["flake"] * 0.9
    return diffuse * column("albedo") * shaped + gloss * (paint["gloss"] + column("flake_tint") * paint["flake"] * 0.8)


def lab_of(light: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Returns CIELAB of the pixels that are paint alone, as an image shows their light."""
    from skimage.color import rgb2lab

    picture = srgb(toned(light[:, where] * EXPOSURE)).T
    return rgb2lab((picture * 255 + 0.5).astype(np.uint8)[None])[0]


class View:
    """The traced files of a view, and the layers of which images are composed."""

    def __init__(self, data: Path, view: str, model=None):
        self.data, self.view = data, view
        conditioning = conditioning_of(data / f"{view}.bin").astype(np.float32)
        masks = halved(conditioning[[index("mask_paint")]])[0]
        neutral = self.traced("neutral-lacquer")
        self.share = neutral["share"]
        self.paint = (masks > PAINT_MIN) & (self.share > PAINT_MIN)
        self.sources = {"path tracer": (neutral["diffuse"] / NEUTRAL, neutral["gloss"], self.share)}
        made = {"base": base_layers(conditioning)}
        if model:
            made["model"] = model(dict(conditioning=conditioning, base=made["base"]))
        for name, layers in made.items():
            layers = halved(layers)
            self.sources[name] = (layers[:3], layers[3:6], masks)

    def traced(self, what: str):
        """Returns light [3, H, W] and ratio [H, W], float32; `None` if it was not traced."""
        path = self.data / f"{self.view}.{what}.paint.npz"
        if not path.exists():
            return None
        with np.load(path) as stored:
            return {name: plane.astype(np.float32).transpose(2, 0, 1) if plane.ndim == 3 else plane.astype(np.float32)
                    for name, plane in ((name, stored[name]) for name in stored)}

    def truths(self, colour: str, finish: str, paint: dict) -> dict[str, np.ndarray]:
        if finish == "matt":
            found = self.traced(f"matt-{colour}")
            return {"matt": found["combined"]} if found else {}
        lacquer = self.traced(f"lacquer-{colour}")
        if lacquer is None:
            return {}
        albedo = np.array(paint["albedo"])[:, None, None]
        if finish == "solid":
            return {"solid": lacquer["combined"]}
        # The light of a white card beside this paint. Black pigment reflects too little to divide
        # by.
        card = lacquer["diffuse"] / np.maximum(albedo, 1e-3)
        truths = {"law": light_in(paint, finish, card, lacquer["gloss"], lacquer["share"])}
        flakes = self.traced(f"flakes-{colour}")
        if flakes:
            truths["flakes"] = lacquer["combined"] + (flakes["combined"] - lacquer["combined"]) * FLAKES[finish]
        return truths


def judge(options) -> None:
    from skimage.color import deltaE_ciede2000

    paints = json.loads((options.data / "custom-paints.json").read_text())
    model = None
    if options.model:
        from evaluate import onnx_model
        model = onnx_model(options.model)
    found = {}
    for view in options.views:
        each = View(options.data, view, model)
        print(f"{view}: {each.paint.sum()} pixels of paint alone")
        for name, paint in paints.items():
            colour, _, finish = name[1:].partition("-")
            finish = finish or "metallic"
            for truth, light in each.truths(colour, finish, paint).items():
                known = lab_of(light, each.paint)
                for source, layers in each.sources.items():
                    ours = lab_of(light_in(paint, finish, *layers), each.paint)
                    difference = float(np.median(deltaE_ciede2000(ours, known)))
                    lightness = float(np.median(ours[:, 0] - known[:, 0]))
                    found.setdefault((finish, truth, source), {}).setdefault(colour, []).append((difference, lightness))
    for (finish, truth, source), colours in found.items():
        medians = {colour: float(np.mean([d for d, _ in several])) for colour, several in colours.items()}
        worst = max(medians, key=medians.get)
        lighter = np.median([l for several in colours.values() for _, l in several])
        print(f"{finish:9} {truth:7} {source:12} {len(medians):3} hexes  median {np.median(list(medians.values())):5.2f}  "
              f"worst {medians[worst]:5.2f} #{worst}  at most 3: {sum(d <= 3 for d in medians.values()):2}  lighter by {lighter:5.2f}")
        if options.each:
            print("   " + " ".join(f"{colour}:{difference:.1f}" for colour, difference in medians.items()))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("do", choices=("trace", "judge"))
    arguments.add_argument("data", type=Path, help="folder that the render node exported to, with `--colours models/colours.txt`")
    arguments.add_argument("--views", nargs="+", default=[f"volkswagen_golf_2015/{view}" for view in ("front-3-4", "side")])
    arguments.add_argument("--rig", type=Path, default=Path(__file__).parent.parent / "render-node/src/studio/rig.toml")
    arguments.add_argument("--samples", type=int, default=32)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--minutes", type=float, default=1e9, help="begin no render after this time")
    arguments.add_argument("--model", type=Path, help="folder of a model whose layers are judged as well")
    arguments.add_argument("--each", action="store_true", help="print each hex")
    options = arguments.parse_args()
    {"trace": trace, "judge": judge}[options.do](options)


if __name__ == "__main__":
    main()
