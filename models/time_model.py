"""Measures how long the built-in model's network takes by itself in Python's onnxruntime, on all
processors. A render is compared with it."""

import statistics
import time
from pathlib import Path

import numpy as np
import onnxruntime

SIDE_PX = 512
TURNS = 15


def main() -> None:
    path = Path(__file__).parent / "builtin/unet/model.onnx"
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    numbers = np.random.default_rng(0)
    # The first dimension is one image; the other dimensions that are not fixed are its sides.
    shapes = {i.name: [d if isinstance(d, int) else (1 if at == 0 else SIDE_PX) for at, d in enumerate(i.shape)] for i in session.get_inputs()}
    given = {name: numbers.random(shape, np.float32) for name, shape in shapes.items()}
    times = []
    for _ in range(TURNS):
        began = time.perf_counter()
        session.run(None, given)
        times.append((time.perf_counter() - began) * 1000)
    print("the network alone, in Python's onnxruntime")
    print(f"  {statistics.median(times):8.0f} ms    median of {TURNS}")


main()
