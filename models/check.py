"""Checks a model folder quickly, without PyTorch: digests, sizes, names, shapes and one small run.

Prints one line and exits with 0 if everything is right. Needs only numpy and onnxruntime.
"""

import argparse
import hashlib
import json
import time
from pathlib import Path

import numpy as np
import onnxruntime

from light_space import CONDITIONING, LAYERS

BYTES_MAX = 12_000_000  # it travels with every clone and every container


def check_lock(folder: Path) -> dict:
    lock = json.loads((folder / "cyclorama.lock.json").read_text())
    assert lock["conditioning"] == CONDITIONING, "the lock file's conditioning differs from light_space.CONDITIONING"
    assert lock["license"] == "MIT OR Apache-2.0"
    listed = {entry["path"]: entry for entry in lock["files"]}
    present = {p.relative_to(folder).as_posix() for p in folder.rglob("*")
               if p.is_file() and p.suffix != ".md" and p.name != "cyclorama.lock.json"}
    assert present == set(listed), f"files and lock differ: {sorted(present ^ set(listed))}"
    for path, entry in listed.items():
        data = (folder / path).read_bytes()
        assert len(data) == entry["bytes"], f"{path}: {len(data)} bytes, locked {entry['bytes']}"
        assert hashlib.sha256(data).hexdigest() == entry["sha256"], f"{path}: digest differs from the lock"
    total = sum(entry["bytes"] for entry in listed.values())
    assert total <= BYTES_MAX, f"{total} bytes in all, at most {BYTES_MAX}"
    return lock


def check_network(folder: Path) -> str:
    config = json.loads((folder / "unet/config.json").read_text())
    assert len(config["residual_scale"]) == len(LAYERS) and min(config["residual_scale"]) > 0
    session = onnxruntime.InferenceSession(str(folder / "unet/model.onnx"), providers=["CPUExecutionProvider"])
    ranks = {i.name: (i.type, len(i.shape)) for i in [*session.get_inputs(), *session.get_outputs()]}
    assert ranks == {"sample": ("tensor(float)", 4), "timestep": ("tensor(float)", 1),
                     "conditioning": ("tensor(float)", 4), "x0": ("tensor(float)", 4)}, ranks

    random, multiple = np.random.default_rng(5), config["side_multiple"]

    def run(batch, height, width):
        feed = {"sample": np.zeros((batch, len(LAYERS), height, width), np.float32),
                "timestep": np.ones(batch, np.float32),
                "conditioning": random.random((batch, len(CONDITIONING), height, width), np.float32)}
        # Nothing is covered in the left half, so no colour may appear there.
        for name in ("coverage", "mask_paint"):
            feed["conditioning"][:, CONDITIONING.index(name), :, : width // 2] = 0
        begin = time.perf_counter()
        x0 = session.run(["x0"], feed)[0]
        took = time.perf_counter() - begin
        assert x0.shape == (batch, len(LAYERS), height, width) and np.isfinite(x0).all()
        assert not x0[:, :-1, :, : width // 2].any(), "light off the vehicle"
        return took

    run(2, multiple, 3 * multiple)
    return f"{run(1, config['side_px'], config['side_px']):.2f} s for one step at {config['side_px']} px"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path, nargs="?", default=Path(__file__).parent / "builtin")
    folder = arguments.parse_args().folder
    lock = check_lock(folder)
    print(f"{lock['id']}: {len(lock['files'])} files as locked, {check_network(folder)}")


if __name__ == "__main__":
    main()
