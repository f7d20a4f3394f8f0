"""Writes a model folder in the diffusers ONNX layout: the network, its settings, the scheduler and
the lock file.

Without --checkpoint it exports the network as it is initialised, which returns zeros: the base
shading unchanged.
"""

import argparse
import hashlib
import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper

from light_space import CONDITIONING, LAYERS
from network import SIDE_MULTIPLE, LightNetwork

OPSET = 18
SIDE_PX = 512  # the side at which the render node runs it
# Two steps would by default be x0 at t = 1 and again at 0.25. One step from zeros measured best, so
# one is served.
TIMESTEPS = [1.0]
RELATIVE_ERROR_MAX = 1e-3


def load(checkpoint: Path | None) -> tuple[LightNetwork, list[float], dict]:
    """Returns the network (averaged weights of the checkpoint), its residual scale and the facts of
    its training."""
    network = LightNetwork().eval()
    if checkpoint is None:
        torch.manual_seed(0)
        return LightNetwork().eval(), [0.1] * len(LAYERS), {"trained": False}
    state = torch.load(checkpoint, map_location="cpu", weights_only=True)
    network.load_state_dict(state["average"])
    return network, state["residual_scale"], state["facts"]


def write_onnx(network: LightNetwork, path: Path) -> None:
    side = 4 * SIDE_MULTIPLE
    inputs = (torch.zeros(2, len(LAYERS), side, side), torch.ones(2), torch.zeros(2, len(CONDITIONING), side, side))
    torch.onnx.export(
        network, inputs, str(path), dynamo=False, opset_version=OPSET,
        input_names=["sample", "timestep", "conditioning"], output_names=["x0"],
        dynamic_axes={name: ({0: "batch"} if name == "timestep" else {0: "batch", 2: "height", 3: "width"})
                      for name in ("sample", "timestep", "conditioning", "x0")},
    )
    model = onnx.load(str(path))
    model.producer_name, model.producer_version = "cyclorama", ""
    halve_weights(model)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, str(path))


def halve_weights(model: onnx.ModelProto) -> None:
    """Stores the larger weights as fp16 and casts them back on load: half the bytes, with fp32
    arithmetic, which is the faster one on CPUs."""
    casts = []
    for weight in list(model.graph.initializer):
        if weight.data_type != TensorProto.FLOAT or np.prod(weight.dims) < 256:
            continue
        half = numpy_helper.from_array(numpy_helper.to_array(weight).astype(np.float16), weight.name + "_fp16")
        casts.append(helper.make_node("Cast", [half.name], [weight.name], to=TensorProto.FLOAT))
        model.graph.initializer.remove(weight)
        model.graph.initializer.append(half)
    nodes = casts + list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def relative_error(network: LightNetwork, path: Path) -> float:
    """Returns the largest relative L2 difference between PyTorch (fp32 weights) and ONNX Runtime
    over a few shapes. The outputs of an untrained network are all zero, so its output layers are
    not measured by this."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    generator, worst = torch.Generator().manual_seed(1), 0.0
    for batch, height, width, time in ((1, 64, 64, 1.0), (2, 96, 160, 0.25), (1, 512, 512, 1.0)):
        sample = torch.randn(batch, len(LAYERS), height, width, generator=generator)
        conditioning = torch.rand(batch, len(CONDITIONING), height, width, generator=generator)
        timestep = torch.full((batch,), time)
        with torch.no_grad():
            expected = network(sample, timestep, conditioning).numpy()
        feed = {"sample": sample.numpy(), "timestep": timestep.numpy(), "conditioning": conditioning.numpy()}
        found = session.run(["x0"], feed)[0]
        assert found.shape == expected.shape, (found.shape, expected.shape)
        worst = max(worst, float(np.linalg.norm(found - expected) / max(np.linalg.norm(expected), 1e-6)))
    return worst


def write_json(path: Path, value) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2) + "\n")


def write_lock(folder: Path, facts: dict) -> None:
    """Writes the digests of every file except the lock itself and the Markdown. The node refuses a
    folder that differs."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix != ".md" and p.name != "cyclorama.lock.json")
    write_json(folder / "cyclorama.lock.json", {
        "version": 1,
        "id": "cyclorama-light-1",
        "license": "MIT OR Apache-2.0",
        "precision": "fp16-weights",
        "conditioning": CONDITIONING,
        "facts": facts,
        "files": [{
            "path": p.relative_to(folder).as_posix(),
            "sha256": hashlib.sha256(p.read_bytes()).hexdigest(),
            "bytes": p.stat().st_size,
        } for p in files],
    })


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--checkpoint", type=Path, help="from train.py; none exports the untrained network")
    arguments.add_argument("--out", type=Path, default=Path(__file__).parent / "builtin")
    options = arguments.parse_args()

    network, residual_scale, facts = load(options.checkpoint)
    with tempfile.TemporaryDirectory() as scratch:
        fresh = Path(scratch) / "model.onnx"
        write_onnx(network, fresh)
        error = relative_error(network, fresh)
        print(f"{fresh.stat().st_size / 1e6:.2f} MB, relative error to PyTorch {error:.1e}")
        if error > RELATIVE_ERROR_MAX:
            raise SystemExit(f"refused: the exported network differs from PyTorch by more than {RELATIVE_ERROR_MAX}")
        (options.out / "unet").mkdir(parents=True, exist_ok=True)
        shutil.copyfile(fresh, options.out / "unet/model.onnx")
    write_json(options.out / "model_index.json", {
        "_class_name": "CycloramaLightPipeline",
        "_diffusers_version": "0.35.0",
        "unet": ["onnxruntime", "OnnxRuntimeModel"],
        "scheduler": ["cyclorama", "FlowMatchEulerScheduler"],
    })
    write_json(options.out / "unet/config.json", {
        "side_px": SIDE_PX, "side_multiple": SIDE_MULTIPLE, "residual_scale": [round(s, 6) for s in residual_scale],
    })
    write_json(options.out / "scheduler/scheduler_config.json", {
        "_class_name": "FlowMatchEulerScheduler", "prediction_type": "sample",
        "num_inference_steps": len(TIMESTEPS), "timesteps": TIMESTEPS, "initial_noise_scale": 0.0,
    })
    write_lock(options.out, facts)


if __name__ == "__main__":
    main()
