"""Path-traced ground truth (Blender Cycles) for the render node's export: same meshes, rig, camera
and optics.

Reads `<data>/<vehicle>/` (mesh, one JSON per view; see dataset.py) and writes
`<data>/<vehicle>/<view>.truth.npz`:

    layers    float16 [10, side, side]: diffuse rgb, gloss rgb, rest rgb (linear, premultiplied), shadow
    paint     float16 [side, side]: ratio of the pixel that shows paint
    rest      float16 [side, side]: ratio of the pixel that shows anything else

Paint and everything else are rendered in two view layers, each a hold-out of the other. So both are
exactly premultiplied and no pixel mixes them, while light still bounces between them. The shadow is
a third render: the floor seen from above with the vehicle hidden from the camera, divided by the
empty floor, and looked up where each pixel's ray meets the floor. Light passes are denoised one by
one.

A view that exists already is skipped, so the program can be stopped and started; `--shard 0/2`
splits the work. The seed is derived from the names, so a view comes out the same whichever process
renders it.
"""

import argparse
import hashlib
import json
import math
import tempfile
import time
import tomllib
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Vector

FLOOR_HALF_M = 40.0
# The shadow is soft, so a map of the floor around the vehicle with 8 cm cells is enough.
GROUND_HALF_M = 5.0
GROUND_SIDE = 128
GROUND_SAMPLES = 20
# Reach of the shadow beyond the vehicle's ends and sides.
SHADOW_FADE_M = (0.45, 0.5)
# Positions at which the shadow begins to fade towards the image's border, across and along.
SHADOW_BORDER = (0.76, 0.86)
# Darkness of the shadow where the floor has lost all its light.
SHADOW_DARKEST = 0.9
# Range of a direction to the front and back in which the front wall becomes the back wall.
WALL_TURN = 0.7
# Heights of a direction between which the floor curves up into the wall.
FLOOR_CURVES = -0.10
WALL_STANDS = 0.02
# Albedo of the inside of a shell, which is unpainted.
INSIDE_ALBEDO = 0.012
# Radiance that is seen through two panes where nothing is behind them.
BACKDROP = (0.033, 0.036, 0.036)
# About how much of the light the farther pane lets pass: panes are clear or tinted.
FAR_PANE = 0.45
# Index of refraction of window panes.
PANE_INDEX = 1.5
# Ratio of the light in the plane of incidence that the camera's filter leaves in a pane's mirror
# image.
POLARISED = 0.92
# Ratio that a pane mirrors of the cards beside the vehicle, which are flagged off from the windows.
FLAGGED = 0.05
# Heights of a mirrored direction between which it passes from below the flag's cloth into it.
FLAG_FOOT = (0.0, 0.12)
# Heights of a mirrored direction between which it passes from the cloth to the lights overhead.
FLAG_HEAD = (0.72, 1.04)
# Times the roughness: how much of the edge of the Fresnel curve the lobe averages away.
ROUGH_FRESNEL = 1.5
MARGIN_PX = 4


# ---------------------------------------------------------------- shaders

class Nodes:
    """A node tree under construction: `node(type, inputs, **settings)` returns the node's first
    output."""

    def __init__(self, tree):
        self.tree = tree
        tree.nodes.clear()

    def node(self, kind, inputs=None, output=0, **settings):
        node = self.tree.nodes.new(kind)
        for name, value in settings.items():
            setattr(node, name, value)
        for key, value in (inputs or {}).items():
            socket = node.inputs[key]
            if isinstance(value, bpy.types.NodeSocket):
                self.tree.links.new(value, socket)
            elif isinstance(value, (tuple, list)) and len(value) == 3 and socket.type == "RGBA":
                socket.default_value = (*value, 1.0)
            else:
                socket.default_value = value
        return node.outputs[output] if node.outputs else None

    def math(self, operation, a, b=0.0):
        return self.node("ShaderNodeMath", {0: a, 1: b}, operation=operation)

    def smoothstep(self, x, low, high):
        return self.node("ShaderNodeMapRange", {"Value": x, "From Min": low, "From Max": high},
                         interpolation_type="SMOOTHSTEP")

    def blend(self, factor, a, b):
        """Returns a where factor is 0, and b where it is 1 (colours)."""
        node = self.tree.nodes.new("ShaderNodeMix")
        node.data_type = "RGBA"
        for socket, value in ((node.inputs[0], factor), (node.inputs[6], a), (node.inputs[7], b)):
            if isinstance(value, bpy.types.NodeSocket):
                self.tree.links.new(value, socket)
            else:
                socket.default_value = (*value, 1.0) if isinstance(value, (tuple, list)) else value
        return node.outputs[2]

    def mix_shader(self, factor, a, b):
        return self.node("ShaderNodeMixShader", {0: factor, 1: a, 2: b})

    def add_shader(self, a, b):
        return self.node("ShaderNodeAddShader", {0: a, 1: b})


def new_material(name):
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    return material, Nodes(material.node_tree)


def index_of_refraction(f0):
    return (1 + math.sqrt(f0)) / (1 - math.sqrt(f0))


def cycles_roughness(tangent):
    """Converts the optics table's roughness for Cycles. The table has the tangent of the mirror
    lobe's half angle, about twice GGX's alpha; Cycles wants sqrt(alpha)."""
    return math.sqrt(tangent / 2)


def pane_reflectance(n):
    """Fresnel's formulas through a polarising filter, as in the base shading."""
    # The facing output is 1 - cosine at a blend of 0.5.
    facing = n.node("ShaderNodeLayerWeight", {"Blend": 0.5}, output=1)
    cosine = n.math("SUBTRACT", 1.0, facing)
    outside = n.math("SUBTRACT", 1.0, n.math("MULTIPLY", cosine, cosine))
    within = n.math("SQRT", n.math("SUBTRACT", 1.0, n.math("DIVIDE", outside, PANE_INDEX**2)))

    def squared_ratio(a, b):
        ratio = n.math("DIVIDE", n.math("SUBTRACT", a, b), n.math("ADD", a, b))
        return n.math("MULTIPLY", ratio, ratio)

    across = squared_ratio(cosine, n.math("MULTIPLY", within, PANE_INDEX))
    along = squared_ratio(n.math("MULTIPLY", cosine, PANE_INDEX), within)
    through_filter = n.math("ADD", n.math("MULTIPLY", across, 1 - POLARISED), n.math("MULTIPLY", along, POLARISED))
    return n.math("MULTIPLY", through_filter, unflagged(n))


def unflagged(n):
    """Returns the ratio of the mirrored light that no flag takes away, by the height of the
    mirrored direction, as in the base shading."""
    place = n.tree.nodes.new("ShaderNodeNewGeometry")
    normal, incoming = place.outputs["Normal"], place.outputs["Incoming"]
    facing = n.node("ShaderNodeVectorMath", {0: normal, 1: incoming}, output=1, operation="DOT_PRODUCT")
    heights = []
    for vector in (normal, incoming):
        split = n.tree.nodes.new("ShaderNodeSeparateXYZ")
        n.tree.links.new(vector, split.inputs[0])
        heights.append(split.outputs[2])
    up = n.math("SUBTRACT", n.math("MULTIPLY", n.math("MULTIPLY", facing, 2.0), heights[0]), heights[1])
    past = n.math("SUBTRACT", 1.0, n.smoothstep(up, *FLAG_HEAD))
    within = n.math("MULTIPLY", n.smoothstep(up, *FLAG_FOOT), past)
    return n.math("SUBTRACT", 1.0, n.math("MULTIPLY", within, 1 - FLAGGED))


def vehicle_material(optics):
    """Makes a material from one row of the studio's optics table: Lambert under a Fresnel mirror, a
    metal, or a clear sheet."""
    material, n = new_material(optics["name"])
    roughness = cycles_roughness(optics["roughness"])
    mirror = n.node("ShaderNodeBsdfAnisotropic", {"Color": (1, 1, 1), "Roughness": roughness}, distribution="GGX")
    matt = n.node("ShaderNodeBsdfDiffuse", {"Color": tuple(optics["albedo"])})
    matt.node["is_base_coat"] = True  # found again where another paint is wanted
    if optics["metal"]:
        # Schlick: (1 - cosine)^5 towards white, from the layer weight node's facing output (1 -
        # cosine at blend 0.5).
        facing = n.node("ShaderNodeLayerWeight", {"Blend": 0.5}, output=1)
        edge = n.math("POWER", facing, 5.0)
        surface = n.node("ShaderNodeBsdfAnisotropic",
                         {"Color": n.blend(edge, tuple(optics["albedo"]), (1, 1, 1)), "Roughness": roughness}, distribution="GGX")
    elif optics["f0"] > 0:
        if optics["name"] == "pane-border":
            fresnel = pane_reflectance(n)
        else:
            fresnel = n.node("ShaderNodeFresnel", {"IOR": index_of_refraction(optics["f0"])})
        # As in the base shading: a rough lobe averages the edge of the Fresnel curve away.
        flat = min(1.0, optics["roughness"] * ROUGH_FRESNEL)
        fresnel = n.math("ADD", n.math("MULTIPLY", fresnel, 1 - flat), optics["f0"] * flat)
        surface = n.mix_shader(fresnel, matt, mirror)
    else:
        surface = matt
    if optics["transmission"] > 0:
        # For the camera and for mirrors, a pane is a refraction of index 1, which hold-outs and
        # passes treat as a real surface. For light it is a transparent filter; otherwise nothing
        # behind it would be lit without caustics.
        tint = tuple(optics["transmission"] * share for share in optics["tint"])
        if optics["name"] in ("glass", "clear-glass"):
            fresnel = pane_reflectance(n)
        else:
            fresnel = n.node("ShaderNodeFresnel", {"IOR": index_of_refraction(optics["f0"])})
        seen = n.mix_shader(fresnel, n.node("ShaderNodeBsdfRefraction", {"Color": tint, "Roughness": 0.0, "IOR": 1.0}), mirror)
        path = n.tree.nodes.new("ShaderNodeLightPath")
        passing = n.math("MAXIMUM", path.outputs["Is Shadow Ray"], path.outputs["Is Diffuse Ray"])
        surface = n.mix_shader(passing, seen, n.node("ShaderNodeBsdfTransparent", {"Color": tint}))
    else:
        # The inside of a shell is unpainted and dark, as in the raster pass.
        back = n.node("ShaderNodeNewGeometry", output=6)
        surface = n.mix_shader(back, surface, n.node("ShaderNodeBsdfDiffuse", {"Color": (INSIDE_ALBEDO,) * 3}))
    if max(optics["emission"]) > 0:
        glow = n.node("ShaderNodeEmission", {"Color": tuple(optics["emission"]), "Strength": 1.0})
        surface = n.add_shader(surface, glow)
        material.cycles.emission_sampling = "NONE"  # small and weak: not worth aiming rays at
    n.node("ShaderNodeOutputMaterial", {"Surface": surface})
    return material


# ---------------------------------------------------------------- rig

def add_object(name, vertices, faces, material, collection, uvs=None):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    if uvs is not None:
        layer = mesh.uv_layers.new()
        for loop, vertex in zip(layer.data, mesh.loops):
            loop.uv = uvs[vertex.vertex_index]
    mesh.materials.append(material)
    thing = bpy.data.objects.new(name, mesh)
    collection.objects.link(thing)
    return thing


def add_light(light, collection):
    """Adds a one-sided rectangle that adds its radiance to whatever lies behind it, with the soft
    border and the falloff of the rig."""
    centre, u, v = (Vector(light[key]) for key in ("centre", "half_u", "half_v"))
    half_u, half_v, edge = u.length, v.length, light["edge_m"]
    grow_u, grow_v = 1 + edge / 2 / half_u, 1 + edge / 2 / half_v
    corners = [centre + u * (su * grow_u) + v * (sv * grow_v) for su, sv in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    uvs = [(su * grow_u * half_u, sv * grow_v * half_v) for su, sv in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    material, n = new_material(light["name"])
    # Metres from the centre along both axes.
    place = n.node("ShaderNodeUVMap")
    split = n.tree.nodes.new("ShaderNodeSeparateXYZ")
    n.tree.links.new(place, split.inputs[0])
    inside = 1.0
    for axis, half in ((0, half_u), (1, half_v)):
        distance = n.math("SUBTRACT", half, n.math("ABSOLUTE", split.outputs[axis]))
        inside = n.math("MULTIPLY", n.smoothstep(distance, -edge / 2, edge / 2), inside)
    along = n.node("ShaderNodeMapRange", {"Value": split.outputs[1], "From Min": -half_v, "From Max": half_v,
                                          "To Min": 1.0, "To Max": light["falloff"]})
    strength = n.math("MULTIPLY", inside, along)
    back = n.node("ShaderNodeNewGeometry", output=6)
    strength = n.math("MULTIPLY", strength, n.math("SUBTRACT", 1.0, back))
    shine = n.node("ShaderNodeEmission", {"Color": tuple(light["radiance"]), "Strength": strength})
    n.node("ShaderNodeOutputMaterial", {"Surface": n.add_shader(shine, n.node("ShaderNodeBsdfTransparent", {"Color": (1, 1, 1)}))})
    material.cycles.emission_sampling = "FRONT"
    thing = add_object(light["name"], corners, [(0, 1, 2, 3)], material, collection, uvs)
    thing.visible_camera = False
    return thing


def add_world(surroundings):
    """Adds walls and ceiling: the wall is brightest at the horizon, differs in front and behind,
    and fades to the ceiling."""
    world = bpy.data.worlds.new("walls")
    world.use_nodes = True
    n = Nodes(world.node_tree)
    split = n.tree.nodes.new("ShaderNodeSeparateXYZ")
    n.tree.links.new(n.node("ShaderNodeTexCoord", output=0), split.inputs[0])
    turn = n.smoothstep(split.outputs[1], -WALL_TURN, WALL_TURN)
    wall = n.blend(turn, tuple(surroundings["horizon_front"]), tuple(surroundings["horizon_back"]))
    rise = n.smoothstep(split.outputs[2], 0.0, surroundings["horizon_height"])
    colour = n.blend(rise, wall, tuple(surroundings["zenith"]))
    # Through the windows a brighter wall is visible, as in the base shading, so that the cabin
    # stands out against it.
    path = n.tree.nodes.new("ShaderNodeLightPath")
    colour = n.blend(path.outputs["Is Transmission Ray"], colour, tuple(c / FAR_PANE for c in BACKDROP))
    n.node("ShaderNodeOutputWorld", {"Surface": n.node("ShaderNodeBackground", {"Color": colour, "Strength": 1.0})})
    bpy.context.scene.world = world


def rectangle_irradiance(point, light):
    """Returns irradiance / pi that a rectangle sends to a floor point with its normal up (Lambert's
    edge formula; all above the floor)."""
    centre, u, v = (np.array(light[key], float) for key in ("centre", "half_u", "half_v"))
    corners = np.stack([centre - u - v, centre + u - v, centre + u + v, centre - u + v])[:, None] - point[None]
    corners /= np.linalg.norm(corners, axis=-1, keepdims=True)
    total = np.zeros(point.shape[0])
    for a, b in zip(corners, np.roll(corners, -1, axis=0)):
        angle = np.arccos(np.clip((a * b).sum(-1), -1, 1))
        side = np.cross(a, b)
        total += angle * side[:, 2] / np.maximum(np.linalg.norm(side, axis=-1), 1e-9)
    towards = ((point - centre) * np.cross(u, v)).sum(-1) > 0
    return np.abs(total) / (2 * math.pi) * towards * np.mean(light["radiance"]) * 0.5 * (1 + light["falloff"])


def add_floor(rig, collection):
    """Adds a diffuse floor whose radiance, with nothing on it, is the one that the base shading
    assumes: its albedo is that radiance over the light it gets, and where the lights are too far
    away for that, it emits the rest. Seen at a grazing angle it dissolves into the wall, as the
    curve of a real cyclorama does."""
    surroundings = rig["surroundings"]
    # Light by distance from the centre: the rig is nearly even around it, and the texture lookup
    # stays one-dimensional.
    radii = np.linspace(0.0, 16.0, 33)
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    points = np.stack([np.outer(radii, np.cos(angles)), np.outer(radii, np.sin(angles)), np.zeros((33, 24))], -1)
    light = sum(rectangle_irradiance(points.reshape(-1, 3), each) for each in rig["lights"]).reshape(33, 24).mean(1)
    walls = 0.5 * (np.mean(surroundings["horizon_back"]) + np.mean(surroundings["horizon_front"])) * 0.55 + np.mean(surroundings["zenith"]) * 0.45
    light = light + walls
    near, far = np.mean(surroundings["floor_near"]), np.mean(surroundings["floor_far"])
    wanted = far + (near - far) * np.exp(-radii / surroundings["floor_reach_m"])
    albedo = np.minimum(wanted / light, 0.8)
    glow = np.maximum(wanted - albedo * light, 0.0)

    material, n = new_material("floor")
    geometry = n.tree.nodes.new("ShaderNodeNewGeometry")
    distance = n.node("ShaderNodeVectorMath", {0: geometry.outputs["Position"]}, output=1, operation="LENGTH")
    place = n.math("DIVIDE", distance, radii[-1])

    def ramp(values):
        node = n.tree.nodes.new("ShaderNodeFloatCurve")
        curve = node.mapping.curves[0]
        chosen = list(range(0, 33, 2))
        curve.points[0].location, curve.points[1].location = (0.0, values[0]), (1.0, values[-1])
        for i in chosen[1:-1]:
            curve.points.new(i / 32, values[i])
        for point in curve.points:
            point.handle_type = "AUTO_CLAMPED"
        node.mapping.update()
        n.tree.links.new(place, node.inputs["Value"])
        return node.outputs[0]

    def grey(value):
        node = n.tree.nodes.new("ShaderNodeCombineColor")
        for socket in node.inputs[:3]:
            n.tree.links.new(value, socket)
        return node.outputs[0]

    matt = n.node("ShaderNodeBsdfDiffuse", {"Color": grey(ramp(albedo))})
    shine = n.node("ShaderNodeEmission", {"Color": (1, 1, 1), "Strength": ramp(glow)})
    split = n.tree.nodes.new("ShaderNodeSeparateXYZ")
    n.tree.links.new(geometry.outputs["Incoming"], split.inputs[0])
    # Incoming points back to the viewer: its height is minus the ray's.
    grazing = n.smoothstep(n.math("MULTIPLY", split.outputs[2], -1.0), FLOOR_CURVES, WALL_STANDS)
    surface = n.mix_shader(grazing, n.add_shader(matt, shine), n.node("ShaderNodeBsdfTransparent", {"Color": (1, 1, 1)}))
    n.node("ShaderNodeOutputMaterial", {"Surface": surface})
    material.cycles.emission_sampling = "NONE"
    h = FLOOR_HALF_M
    return add_object("floor", [(-h, -h, 0), (h, -h, 0), (h, h, 0), (-h, h, 0)], [(0, 1, 2, 3)], material, collection)


# ---------------------------------------------------------------- scene

# The view layers that each kind of render makes, by its compositor.
SEEN_IN = {"vehicle": ("paint", "rest"), "picture": ("paint", "rest"), "paint": ("paint",), "floor": ("shadow",)}


class Studio:
    """The part of the scene that stays: rig, floor, world, view layers, compositor. Vehicles and
    cameras change."""

    def __init__(self, rig, optics, scratch: Path, threads: int):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self.scene, self.scratch = bpy.context.scene, scratch
        scene = self.scene
        self.groups = {}
        for name in ("studio", "floor", "paint", "rest"):
            self.groups[name] = bpy.data.collections.new(name)
            scene.collection.children.link(self.groups[name])
        for light in rig["lights"]:
            add_light(light, self.groups["studio"])
        add_world(rig["surroundings"])
        add_floor(rig, self.groups["floor"])
        self.materials = {row["name"]: vehicle_material(row) for row in optics}

        scene.render.engine = "CYCLES"
        scene.render.film_transparent = True
        scene.render.threads_mode, scene.render.threads = "FIXED", threads
        scene.render.use_persistent_data = True
        scene.render.resolution_percentage = 100
        scene.display_settings.display_device = "sRGB"
        scene.view_settings.view_transform = "Standard"
        cycles = scene.cycles
        cycles.device = "CPU"
        # A pixel of the raster pass is a plain mean over its square.
        cycles.pixel_filter_type, cycles.filter_width = "BOX", 1.0
        cycles.use_denoising = False
        cycles.use_adaptive_sampling = True
        cycles.adaptive_threshold = 0.02
        cycles.max_bounces, cycles.diffuse_bounces, cycles.glossy_bounces = 8, 3, 4
        cycles.transmission_bounces, cycles.transparent_max_bounces = 8, 16
        cycles.caustics_reflective = cycles.caustics_refractive = False
        cycles.blur_glossy = 0.3
        cycles.sample_clamp_indirect = 4.0

        camera = bpy.data.cameras.new("camera")
        camera.sensor_fit, camera.sensor_width, camera.sensor_height = "HORIZONTAL", 36.0, 36.0
        self.camera = bpy.data.objects.new("camera", camera)
        above = bpy.data.cameras.new("above")
        above.type, above.ortho_scale = "ORTHO", 2 * GROUND_HALF_M
        self.above = bpy.data.objects.new("above", above)
        self.above.location = (0, 0, 8.0)  # looks down -z, picture up is +y
        for each in (self.camera, self.above):
            self.groups["studio"].objects.link(each)

        scene.view_layers[0].name = "paint"
        for name in ("rest", "shadow"):
            scene.view_layers.new(name)
        for layer in scene.view_layers:
            children = layer.layer_collection.children
            if layer.name == "shadow":
                children["paint"].indirect_only = children["rest"].indirect_only = True
            else:
                children["floor"].indirect_only = True
                children["rest" if layer.name == "paint" else "paint"].holdout = True
            layer.cycles.denoising_store_passes = True
        paint = scene.view_layers["paint"]
        paint.use_pass_diffuse_direct = paint.use_pass_diffuse_indirect = paint.use_pass_diffuse_color = True
        paint.use_pass_glossy_direct = paint.use_pass_glossy_indirect = paint.use_pass_glossy_color = True
        self.compositors = {"vehicle": self.vehicle_compositor(), "picture": self.picture_compositor(), "paint": self.paint_compositor(),
                            "floor": self.floor_compositor()}
        scene.render.use_compositing = True

    # Each compositor denoises the passes of its render and writes plain EXR files.

    def writer(self, n, items):
        output = n.tree.nodes.new("CompositorNodeOutputFile")
        output.directory, output.file_name = str(self.scratch) + "/", ""
        output.format.media_type = "IMAGE"
        output.format.file_format, output.format.color_depth, output.format.exr_codec = "OPEN_EXR", "32", "NONE"
        output.format.color_mode = "RGBA"
        for name, socket in items.items():
            output.file_output_items.new("RGBA", name)
            n.tree.links.new(socket, output.inputs[name])

    def denoise(self, n, layer, image):
        # "Fast" filters image and guides together: a third of the time, and the guides have little
        # noise here.
        return n.node("CompositorNodeDenoise", {"Image": image, "Albedo": layer.outputs["Denoising Albedo"],
                                                "Normal": layer.outputs["Denoising Normal"], "Prefilter": "Fast"})

    def combine(self, n, operation, a, b):
        node = n.tree.nodes.new("ShaderNodeMix")
        node.data_type, node.blend_type = "RGBA", operation
        node.clamp_result = node.clamp_factor = False
        node.inputs[0].default_value = 1.0
        n.tree.links.new(a, node.inputs[6])
        n.tree.links.new(b, node.inputs[7])
        return node.outputs[2]

    def layer_node(self, n, name):
        node = n.tree.nodes.new("CompositorNodeRLayers")
        node.scene, node.layer = self.scene, name
        return node

    def light_of_paint(self, n, paint):
        o = paint.outputs
        diffuse = self.denoise(n, paint, self.combine(n, "ADD", o["Diffuse Direct"], o["Diffuse Indirect"]))
        gloss = self.combine(n, "MULTIPLY", self.combine(n, "ADD", o["Glossy Direct"], o["Glossy Indirect"]), o["Glossy Color"])
        return {"diffuse_light": diffuse, "diffuse_colour": o["Diffuse Color"], "gloss": self.denoise(n, paint, gloss)}

    def vehicle_compositor(self):
        n = Nodes(bpy.data.node_groups.new("vehicle", "CompositorNodeTree"))
        paint, rest = self.layer_node(n, "paint"), self.layer_node(n, "rest")
        self.writer(n, {
            **self.light_of_paint(n, paint), "paint": paint.outputs["Image"],
            "rest": self.denoise(n, rest, rest.outputs["Image"]), "rest_raw": rest.outputs["Image"],
        })
        return n.tree

    def picture_compositor(self):
        """Collects all light of the vehicle, in one: for images in a paint, not for layers."""
        n = Nodes(bpy.data.node_groups.new("picture", "CompositorNodeTree"))
        paint, rest = self.layer_node(n, "paint"), self.layer_node(n, "rest")
        self.writer(n, {each.layer: self.denoise(n, each, each.outputs["Image"]) for each in (paint, rest)})
        return n.tree

    def paint_compositor(self):
        """Collects the light of the paint alone: all of it in one, and by its kind."""
        n = Nodes(bpy.data.node_groups.new("paint", "CompositorNodeTree"))
        paint = self.layer_node(n, "paint")
        image = paint.outputs["Image"]
        self.writer(n, {**self.light_of_paint(n, paint), "paint": self.denoise(n, paint, image), "share": image})
        return n.tree

    def floor_compositor(self):
        n = Nodes(bpy.data.node_groups.new("floor", "CompositorNodeTree"))
        layer = self.layer_node(n, "shadow")
        self.writer(n, {"floor": self.denoise(n, layer, layer.outputs["Image"])})
        return n.tree

    def render(self, which, side, samples, seed, window=None):
        """Renders with a compositor. `window` is (left, top, right, bottom) in pixels; only this
        part is rendered and read back."""
        scene = self.scene
        scene.compositing_node_group = self.compositors[which]
        scene.camera = self.above if which == "floor" else self.camera
        for layer in scene.view_layers:
            layer.use = layer.name in SEEN_IN[which]
        scene.render.resolution_x = scene.render.resolution_y = side
        scene.render.use_border = scene.render.use_crop_to_border = window is not None
        if window is not None:
            # The border is shifted by a hundredth of a pixel, because it is cut to whole pixels and
            # rounding must not lose one.
            left, top, right, bottom = window
            scene.render.border_min_x, scene.render.border_max_x = (left + 0.01) / side, (right + 0.01) / side
            scene.render.border_min_y, scene.render.border_max_y = (side - bottom + 0.01) / side, (side - top + 0.01) / side
        scene.cycles.samples, scene.cycles.seed = samples, seed
        for stale in self.scratch.glob("*.exr"):
            stale.unlink()
        bpy.ops.render.render()

    def read(self, name):
        image = bpy.data.images.load(str(self.scratch / f"{name}.exr"))
        width, height = image.size
        values = np.empty(height * width * 4, np.float32)
        image.pixels.foreach_get(values)
        bpy.data.images.remove(image)
        # Blender counts rows from the bottom.
        return np.nan_to_num(values.reshape(height, width, 4)[::-1])

    def ground_light(self, samples, seed):
        self.render("floor", GROUND_SIDE, samples, seed)
        return self.read("floor")[..., :3].mean(-1)

    def place_camera(self, camera):
        forward, up, eye = (Vector(camera[key]) for key in ("forward", "up", "eye"))
        right = forward.cross(up)
        self.camera.matrix_world = Matrix((
            (right.x, up.x, -forward.x, eye.x), (right.y, up.y, -forward.y, eye.y), (right.z, up.z, -forward.z, eye.z), (0, 0, 0, 1)))
        # Half the sensor over the focal length is the tangent at the picture's border, 1 / zoom.
        self.camera.data.lens = 18.0 * camera["zoom"]
        self.camera.data.shift_x, self.camera.data.shift_y = (camera["zoom"] * shift / 2 for shift in camera["shift"])

    def place_vehicle(self, folder: Path):
        self.clear_vehicle()
        blob = (folder / "mesh.bin").read_bytes()
        self.parts = []
        for part in json.loads((folder / "mesh.json").read_text())["surfaces"]:
            def array(key, kind):
                place = part[key]
                return np.frombuffer(blob, kind, place["count"] * 3, place["offset"]).reshape(-1, 3)
            positions, normals, triangles = array("positions", "<f4"), array("normals", "<f4"), array("indices", "<u4")
            mesh = bpy.data.meshes.new(part["material"])
            mesh.vertices.add(len(positions))
            mesh.vertices.foreach_set("co", positions.ravel())
            mesh.loops.add(triangles.size)
            mesh.loops.foreach_set("vertex_index", triangles.astype(np.int32).ravel())
            mesh.polygons.add(len(triangles))
            mesh.polygons.foreach_set("loop_start", np.arange(0, triangles.size, 3, dtype=np.int32))
            mesh.update()
            mesh.normals_split_custom_set_from_vertices(normals)
            mesh.materials.append(self.materials[part["material"]])
            thing = bpy.data.objects.new(part["material"], mesh)
            self.groups["paint" if part["material"] == "paint" else "rest"].objects.link(thing)
            self.parts.append(thing)

    def turn_vehicle(self, studio_from_vehicle):
        for part in self.parts:
            part.matrix_world = Matrix(studio_from_vehicle)

    def clear_vehicle(self):
        for part in getattr(self, "parts", []):
            mesh = part.data
            bpy.data.objects.remove(part)
            bpy.data.meshes.remove(mesh)
        self.parts = []


def seed_of(*names):
    return int.from_bytes(hashlib.sha256("/".join(names).encode()).digest()[:4], "little") & 0x7FFFFFFF


def window_of(studio, camera, matrix, side):
    """Returns the part of the image that the vehicle covers, in pixels, with a margin."""
    forward, up, eye = (np.array(camera[key]) for key in ("forward", "up", "eye"))
    right = np.cross(forward, up)
    low, high = np.full(2, np.inf), np.full(2, -np.inf)
    for part in studio.parts:
        points = np.empty(len(part.data.vertices) * 3, np.float32)
        part.data.vertices.foreach_get("co", points)
        seen = points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3] - eye
        pixels = (np.stack([seen @ right, -(seen @ up)], 1) / (seen @ forward)[:, None]
                  - np.array([1, -1]) * camera["shift"]) * camera["zoom"] * side / 2 + side / 2
        low, high = np.minimum(low, pixels.min(0)), np.maximum(high, pixels.max(0))
    left, top = np.clip(np.floor(low) - MARGIN_PX, 0, side).astype(int)
    right, bottom = np.clip(np.ceil(high) + MARGIN_PX, 0, side).astype(int)
    return int(left), int(top), int(right), int(bottom)


def in_whole(part, window, side):
    """Places a rendered window in an image of the whole side."""
    left, top, right, bottom = window
    assert part.shape[:2] == (bottom - top, right - left), (part.shape, window)
    whole = np.zeros((side, side, part.shape[2]), np.float32)
    whole[top:bottom, left:right] = part
    return whole


def shaped_shadow(lost, camera, low, high, side):
    """Returns the ratio of light that the floor loses, as the image shows it: with the curve, the
    fade away from the footprint (`low` to `high`, vehicle axes) and the border of the base shading
    (shaders/studio/background.wgsl), so that only the light differs between the two."""
    ndc = (np.arange(side) + 0.5) / side * 2 - 1
    x, y = np.meshgrid(ndc, -ndc)
    forward, up, eye = (np.array(camera[key]) for key in ("forward", "up", "eye"))
    right = np.cross(forward, up)
    ray = (forward + (x / camera["zoom"] + camera["shift"][0])[..., None] * right
           + (y / camera["zoom"] + camera["shift"][1])[..., None] * up)
    down = ray[..., 2] < -1e-3
    place = eye[:2] + ray[..., :2] * (-eye[2] / np.where(down, ray[..., 2], -1))[..., None]
    down &= np.abs(place).max(-1) < GROUND_HALF_M
    column = np.clip((place[..., 0] / GROUND_HALF_M * 0.5 + 0.5) * GROUND_SIDE - 0.5, 0, GROUND_SIDE - 1.001)
    row = np.clip((0.5 - place[..., 1] / GROUND_HALF_M * 0.5) * GROUND_SIDE - 0.5, 0, GROUND_SIDE - 1.001)
    c, r = column.astype(int), row.astype(int)
    a, b = column - c, row - r
    found = (lost[r, c] * (1 - a) + lost[r, c + 1] * a) * (1 - b) + (lost[r + 1, c] * (1 - a) + lost[r + 1, c + 1] * a) * b
    smooth = lambda v, low, high: (lambda t: t * t * (3 - 2 * t))(np.clip((v - low) / (high - low), 0, 1))
    border = smooth(-np.abs(x), -1.0, -SHADOW_BORDER[0]) * smooth(-np.abs(y), -1.0, -SHADOW_BORDER[1])
    # Back to vehicle axes: a turn and a uniform scale.
    matrix = np.array(camera["studio_from_vehicle"], float).reshape(4, 4).T
    scale = np.linalg.norm(matrix[:3, 0])
    own = (place - matrix[:2, 3]) @ matrix[:2, :2] / scale**2
    outside = np.maximum(np.abs(own - (low + high) / 2) - (high - low) / 2, 0) * scale
    fade = np.exp(-2 * np.square(outside / SHADOW_FADE_M).sum(-1))
    return np.clip(np.square(found) * SHADOW_DARKEST, 0, 1) * fade * border * down


def truth_of_view(studio, camera, side, samples, seed, empty):
    studio.place_camera(camera)
    matrix = np.array(camera["studio_from_vehicle"], float).reshape(4, 4).T
    studio.turn_vehicle(matrix)
    window = window_of(studio, camera, matrix, side)
    studio.render("vehicle", side, samples, seed, window)

    def read(name):
        return in_whole(studio.read(name), window, side)

    colour = read("diffuse_colour")[..., :3]
    # Colour carries the ratio of the pixel that is paint; the light beside it is not premultiplied.
    diffuse = read("diffuse_light")[..., :3] * colour / 0.5
    gloss, paint = read("gloss")[..., :3], read("paint")[..., 3]
    rest, rest_share = read("rest")[..., :3], read("rest_raw")[..., 3]
    lost = 1 - studio.ground_light(GROUND_SAMPLES, seed) / np.maximum(empty, 1e-3)
    low, high = np.min([part.bound_box[0][:2] for part in studio.parts], 0), np.max([part.bound_box[6][:2] for part in studio.parts], 0)
    shadow = shaped_shadow(np.clip(lost, 0, 1), camera, low, high, side)
    layers = np.concatenate([diffuse, gloss, rest, shadow[..., None]], -1).transpose(2, 0, 1)
    return dict(layers=np.clip(layers, 0, 60000).astype(np.float16), paint=paint.astype(np.float16), rest=rest_share.astype(np.float16))


def next_view(data: Path, shard: int, shards: int):
    """Returns a view without ground truth, in a random but fixed order, so that stopping early
    leaves a fair mix."""
    waiting = [p for p in data.glob("*/*.bin") if p.stem != "mesh" and not p.with_name(f"{p.stem}.truth.npz").exists()
               and seed_of(p.parent.name, p.stem) % shards == shard]
    return min(waiting, key=lambda p: seed_of(p.parent.name, p.stem), default=None)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("data", type=Path, help="folder that the render node exported to")
    arguments.add_argument("--rig", type=Path, default=Path(__file__).parent.parent / "render-node/src/studio/rig.toml")
    arguments.add_argument("--side", type=int, default=512)
    arguments.add_argument("--samples", type=int, default=16)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--shard", default="0/1", help="which part of the views, of how many")
    arguments.add_argument("--minutes", type=float, default=1e9, help="stop after the view that passes this")
    options = arguments.parse_args()
    begin = time.time()
    shard, shards = map(int, options.shard.split("/"))
    rig = tomllib.loads(options.rig.read_text())
    optics = json.loads((options.data / "materials.json").read_text())
    with tempfile.TemporaryDirectory() as scratch:
        studio = Studio(rig, optics, Path(scratch), options.threads)
        empty = studio.ground_light(64, 1)
        # The list is read again after each view, so that an export may still be running.
        while (job := next_view(options.data, shard, shards)) and time.time() - begin < options.minutes * 60:
            done = job.with_name(f"{job.stem}.truth.npz")
            start = time.time()
            studio.place_vehicle(job.parent)
            truth = truth_of_view(studio, json.loads(job.with_suffix('.json').read_text()), options.side, options.samples, seed_of(job.parent.name, job.stem), empty)
            half_done = done.with_name(done.name + ".part.npz")
            np.savez_compressed(half_done, **truth)
            half_done.rename(done)
            print(f"{job.parent.name} {job.stem}: {time.time() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
