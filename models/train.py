"""Trains the denoiser: plain regression first, then flow matching that starts from it.

Both predict the clean residual (x0). Regression always sees the state from which serving starts
(zeros at t = 1). Flow matching mixes in states on the way, x_t = (1 - t) x0 + t * noise, and keeps
half of its samples at the serving start, so one step stays as good as regression's. The loss is
computed on the unscaled residual, that is, in steps that an eye sees as equal, and on its first
differences, which keep edges sharp and flat paint flat.

`<work>/checkpoint.pt` is written about once a minute; a run that finds one continues from it.
`<work>/curves.png` and `history.json` show loss and held-out quality by step.
"""

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import onnx
import torch
from PIL import Image, ImageDraw

import evaluate
from dataset import Examples, load, views
from light_space import LAYERS, apply_residual
from network import LightNetwork

CROP_PX, BATCH = 192, 8
LEARNING_RATE, WARM_UP_STEPS = 1.5e-3, 100
# The highest learning rate of a run that continues from a trained model.
LEARNING_RATE_FROM_START = 6e-4
# Number of views of the evaluation set with which a run is monitored; evaluate.py uses all of them.
WATCHED_VIEWS = 36
AVERAGE_DECAY = 0.99
# Number of steps over which a point of the loss curve is the mean.
AT_ONCE = 50
AT_START_SHARE = 0.5  # of flow-matching samples
# Diffuse light is multiplied by the paint's albedo before anybody sees it.
LAYER_WEIGHTS = torch.tensor([0.7] * 3 + [1.0] * 6 + [0.5])[None, :, None, None]


def loss_of(predicted, wanted, trusted, scale):
    error = (predicted - wanted) * scale * LAYER_WEIGHTS.to(predicted.device) * 10
    error = torch.cat([error[:, :9] * trusted[:, None], error[:, 9:]], dim=1)
    robust = lambda e: (torch.sqrt(e.square() + 0.01) - 0.1)
    plain = robust(error).mean()
    fine = robust(error[..., 1:] - error[..., :-1]).mean() + robust(error[..., 1:, :] - error[..., :-1, :]).mean()
    return plain + 0.5 * fine


def states(residual, flow: bool, random: np.random.Generator):
    """Returns sample and time to feed for a batch of clean residuals."""
    count = residual.shape[0]
    time_, sample = torch.ones(count), torch.zeros_like(residual)
    for i in range(count if flow else 0):
        if random.random() < AT_START_SHARE:
            continue
        t, noise = random.uniform(0.05, 1.0), random.uniform(0.0, 1.0)
        time_[i] = t
        normal = torch.from_numpy(random.standard_normal(residual.shape[1:], np.float32))
        sample[i] = (1 - t) * residual[i] + t * noise * normal
    return sample, time_


def learning_rate(most, step, progress):
    """Warms up to `most`, then follows a cosine down to a fiftieth. `progress` is the ratio of the
    run that is over."""
    return most * min(1.0, (step + 1) / WARM_UP_STEPS) * (0.02 + 0.49 * (1 + math.cos(math.pi * min(progress, 1))))


def about_cpu() -> str:
    """Returns the kernel's description of the CPU; empty where there is no such file."""
    path = Path("/proc/cpuinfo")
    return path.read_text() if path.exists() else ""


def computes_in_bf16(device: torch.device) -> bool:
    """True if the device multiplies bf16 in hardware (among CPUs, those with AMX or AVX-512 bf16);
    elsewhere it would be slower than fp32."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return "amx_bf16" in about_cpu() or "avx512_bf16" in about_cpu()


def hardware(device: torch.device) -> str:
    """Describes the hardware of the run, for the model card."""
    precision = "bf16" if computes_in_bf16(device) else "fp32"
    if device.type == "cuda":
        return f"{torch.cuda.get_device_name(device)}, {precision}"
    names = [line.split(":")[1].strip() for line in about_cpu().splitlines() if line.startswith("model name")]
    return f"{torch.get_num_threads()} cores of {names[0] if names else 'a CPU'}, {precision}"


def exported_weights(folder: Path) -> tuple[dict[str, torch.Tensor], list[float]]:
    """Returns the weights of a model folder that export.py wrote, and the scale of its residual."""
    model = onnx.load(str(folder / "unet/model.onnx"))
    arrays = {weight.name.removesuffix("_fp16"): onnx.numpy_helper.to_array(weight) for weight in model.graph.initializer}
    weights = {name: torch.from_numpy(arrays[name].astype(np.float32)) for name in LightNetwork().state_dict()}
    return weights, json.loads((folder / "unet/config.json").read_text())["residual_scale"]


def predict(network, view, scale):
    """Returns the layers of one view by one step from zeros, as served."""
    conditioning = torch.from_numpy(view["conditioning"])[None]
    with torch.no_grad():
        x0 = network(torch.zeros(1, len(LAYERS), *conditioning.shape[2:]), torch.ones(1), conditioning)
    return apply_residual(view["base"], (x0 * scale)[0].numpy())


def watched(paths: list[Path]) -> list[Path]:
    """Returns some of the paths, spread over all vehicles and views."""
    return [paths[i * len(paths) // WATCHED_VIEWS] for i in range(WATCHED_VIEWS)] if len(paths) > WATCHED_VIEWS else paths


def draw_curves(history, path):
    """Draws loss (left axis, grey) and held-out PSNR (blue, the base as a line) by step."""
    picture = Image.new("RGB", (900, 420), "white")
    draw = ImageDraw.Draw(picture)
    area = (60, 20, 880, 380)
    draw.rectangle(area, outline="black")

    def line(points, low, high, colour, last):
        place = [(area[0] + (area[2] - area[0]) * s / last, area[3] - (area[3] - area[1]) * (v - low) / (high - low + 1e-9)) for s, v in points]
        if len(place) > 1:
            draw.line(place, fill=colour, width=2)
        draw.text((area[0] + 6, area[1] + (4 if colour == "grey" else 18)), f"{'loss' if colour == 'grey' else 'held-out PSNR'} {low:.2f} .. {high:.2f}", fill=colour)

    if history["loss"]:
        last = max(history["loss"][-1][0], 1)
        # A single batch of crops says little.
        means = [(history["loss"][i + AT_ONCE - 1][0], np.mean([v for _, v in history["loss"][i : i + AT_ONCE]]))
                 for i in range(0, len(history["loss"]) - AT_ONCE + 1, AT_ONCE)]
        line(means, 0, max(v for _, v in means) if means else 1, "grey", last)
    if history["quality"]:
        points = [(q["step"], q["model"]["psnr"]) for q in history["quality"]]
        base = history["base"]["psnr"]
        low, high = min(base, *(v for _, v in points)) - 0.2, max(base, *(v for _, v in points)) + 0.2
        line(points, low, high, "blue", last)
        y = area[3] - (area[3] - area[1]) * (base - low) / (high - low)
        draw.line([(area[0], y), (area[2], y)], fill="orange")
        draw.text((area[2] - 60, y - 14), "base", fill="orange")
    draw.text((area[0], area[3] + 8), f"0 .. {history['loss'][-1][0] if history['loss'] else 0} steps", fill="black")
    picture.save(path)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("data", type=Path, help="folder with the sets `training` and `evaluation`")
    arguments.add_argument("--work", type=Path, default=Path(__file__).parent / "work/run")
    arguments.add_argument("--regression", type=int, default=600, help="steps")
    arguments.add_argument("--flow", type=int, default=300, help="steps after it")
    arguments.add_argument("--start", type=Path, help="a model folder to go on from, as for a studio whose light has changed")
    arguments.add_argument("--until", type=int, default=10**9, help="stop after this step of the run, whatever the schedule has left")
    arguments.add_argument("--minutes", type=float, default=1e9, help="the schedule is followed by time when this runs out first")
    arguments.add_argument("--evaluate-every", type=int, default=100)
    arguments.add_argument("--threads", type=int, default=2)
    options = arguments.parse_args()
    torch.set_num_threads(options.threads)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(0)
    options.work.mkdir(parents=True, exist_ok=True)
    begin = time.time()

    held_out = [(load(path), evaluate.paints_of(path)) for path in watched(views(options.data / "evaluation"))]
    base = evaluate.mean_of([evaluate.compare(view, view["base"], paints) for view, paints in held_out])
    examples = Examples(views(options.data / "training"), CROP_PX)
    print(f"{len(examples.windows)} training views, {len(held_out)} held out; base", {k: round(v, 3) for k, v in base.items()}, flush=True)

    network, scale_list, most, started_from = LightNetwork(), examples.residual_scale(), LEARNING_RATE, None
    if options.start:
        state, scale_list = exported_weights(options.start)
        network.load_state_dict(state)
        most = LEARNING_RATE_FROM_START
        started_from = json.loads((options.start / "cyclorama.lock.json").read_text())["id"]
    network = network.to(device, memory_format=torch.channels_last)
    average = {name: value.clone() for name, value in network.state_dict().items()}
    optimizer = torch.optim.AdamW(network.parameters(), lr=most, betas=(0.9, 0.98), weight_decay=0.01)
    history, step, spent = {"loss": [], "quality": [], "base": base, "flow_steps": 0}, 0, 0.0
    checkpoint = options.work / "checkpoint.pt"
    if checkpoint.exists():
        state = torch.load(checkpoint, map_location=device, weights_only=True)
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        average, history, step, spent, scale_list = (state[k] for k in ("average", "history", "step", "seconds", "residual_scale"))
        history["base"] = base
        if history["flow_steps"] > options.flow:
            raise SystemExit(f"{checkpoint} has {history['flow_steps']} steps of flow matching, more than were asked for")
        print(f"going on from step {step}", flush=True)
    scale = torch.tensor(scale_list)[None, :, None, None]
    steps = options.regression + options.flow
    in_bf16 = computes_in_bf16(device)

    def save():
        facts = {
            "trained": True, "started_from": started_from, "steps": step, "of_which_flow_matching": history["flow_steps"],
            "training_views": len(examples.windows), "evaluation_views": len(held_out), "crop_px": CROP_PX, "batch": BATCH,
            "training_minutes": round((spent + time.time() - begin) / 60, 1), "hardware": hardware(device),
            "base": base, "model": history["quality"][-1]["model"] if history["quality"] else None,
        }
        state = {"network": network.state_dict(), "average": average, "optimizer": optimizer.state_dict(), "history": history,
                 "step": step, "seconds": spent + time.time() - begin, "residual_scale": scale_list, "facts": facts}
        torch.save(state, checkpoint.with_suffix(".part"))
        checkpoint.with_suffix(".part").rename(checkpoint)
        (options.work / "history.json").write_text(json.dumps(history))
        draw_curves(history, options.work / "curves.png")

    def judge():
        """Measures the averaged weights on held-out views."""
        judged = LightNetwork().eval()
        judged.load_state_dict(average)
        rows = [evaluate.compare(view, predict(judged, view, scale), paints) for view, paints in held_out]
        if rows:
            history["quality"].append({"step": step, "model": evaluate.mean_of(rows)})
            print(f"step {step}: held out", {k: round(v, 3) for k, v in history["quality"][-1]["model"].items()}, flush=True)

    saved = time.time()
    while step < min(steps, options.until):
        elapsed = (time.time() - begin) / 60
        if elapsed > options.minutes:
            break
        # The cosine ends when either steps or minutes run out.
        progress = max(step / steps, elapsed / options.minutes)
        flow = step >= options.regression or elapsed / options.minutes > options.regression / steps
        random = np.random.default_rng([7, step])
        conditioning, residual, trusted = (torch.from_numpy(x) for x in examples.crops(random, BATCH))
        wanted = residual / scale
        sample, times = states(wanted, flow, random)
        sample, times, conditioning, wanted, trusted = (x.to(device) for x in (sample, times, conditioning, wanted, trusted))
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(most, step, progress)
        with torch.autocast(device.type, torch.bfloat16, enabled=in_bf16):
            predicted = network(sample, times, conditioning)
        loss = loss_of(predicted.float(), wanted, trusted, scale.to(device))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        step += 1
        decay = min(AVERAGE_DECAY, (1 + step) / (10 + step))
        with torch.no_grad():
            for name, value in network.state_dict().items():
                average[name].lerp_(value, 1 - decay)
        history["flow_steps"] = history.get("flow_steps", 0) + flow
        history["loss"].append((step, float(loss.detach())))
        if step % 10 == 0:
            print(f"step {step} {'flow' if flow else 'regression'} loss {np.mean([v for _, v in history['loss'][-10:]]):.4f} {(time.time() - begin) / 60:.1f} min", flush=True)
        if step % options.evaluate_every == 0:
            paths = views(options.data / "training")
            if len(paths) > len(examples.paths):
                # Ground truth is still being made beside this run.
                examples = Examples(paths, CROP_PX)
            judge()
        if time.time() - saved > 60:
            save()
            saved = time.time()
    judge()
    save()


if __name__ == "__main__":
    main()
