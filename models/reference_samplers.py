"""Writes the reference runs that the render node's samplers are tested against.

Every number comes from the schedulers of Hugging Face `diffusers` (Apache-2.0), which run here on a
CPU with a fake model. Nothing of them is part of the node. To write the file again:

    python3.11 -m venv venv
    venv/bin/pip install diffusers==0.42.1 torch==2.15.0 numpy==2.4.6
    venv/bin/python models/reference_samplers.py render-node/tests/fixtures/samplers.json

The file has the values that all runs share, and the runs. `start` is the noise from which
text-to-image starts, before `init_noise_sigma`; `original` are the clean latents of image-to-image,
and `first_noise` is the noise on them; `noise` is the noise that a stochastic scheduler adds, row i
at step i. In a run, `steps` is the requested number of steps, and `timesteps` the result. `at`
names the steps, counted from the first of the run, for which `inputs` has the model's input (only
for the first, where that is the sample itself) and `samples` the result of the step. `noised` is
the start of image-to-image. `options` are the decisions of diffusers' pipelines: `image_seq_len`,
`even_flow_sigmas`, `lcm_keeps_steps`.
"""

# Written with Python 3.11.7, diffusers 0.42.1, torch 2.15.0 and numpy 2.4.6.

import json
import math
import sys

import numpy as np
import torch
from diffusers import (
    DDIMScheduler,
    DPMSolverMultistepScheduler,
    EulerAncestralDiscreteScheduler,
    EulerDiscreteScheduler,
    FlowMatchEulerDiscreteScheduler,
    LCMScheduler,
)
from diffusers.schedulers import scheduling_euler_ancestral_discrete, scheduling_lcm

LENGTH = 8
NOISE_ROWS = 50
STEP_COUNTS = (1, 2, 4, 7, 20, 25, 50)
SPACINGS = ("leading", "linspace", "trailing")

CLASSES = {
    scheduler.__name__: scheduler
    for scheduler in (
        DDIMScheduler,
        EulerDiscreteScheduler,
        EulerAncestralDiscreteScheduler,
        DPMSolverMultistepScheduler,
        LCMScheduler,
        FlowMatchEulerDiscreteScheduler,
    )
}

# The noise of Stable Diffusion 1, 2 and XL.
STABLE_DIFFUSION = {"beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear"}


def rounded(values):
    """Rounds to nine significant digits, which are enough to tell any two f32 apart."""
    return [float(f"{float(value):.9g}") for value in np.asarray(values).reshape(-1)]


def normal(generator, rows=1):
    values = generator.standard_normal((rows, LENGTH)).astype(np.float32)
    return torch.from_numpy(values)


GENERATOR = np.random.default_rng(20240607)
START = normal(GENERATOR)
ORIGINAL = normal(GENERATOR) * 0.8
FIRST_NOISE = normal(GENERATOR)
NOISE = normal(GENERATOR, NOISE_ROWS)


def fake_model(sample, timestep):
    """A fake model that is smooth in both arguments, so that a small error stays small. The node's
    tests have the same lines in Rust."""
    values = sample.reshape(-1).to(torch.float64).numpy()
    waves = np.sin(0.7 * np.arange(LENGTH) + 0.01 * float(timestep))
    return torch.from_numpy((0.3 * values + waves).astype(np.float32)).reshape(1, LENGTH)


def recorded_steps(count):
    return list(range(count)) if count <= 4 else [0, 1, count // 2, count - 2, count - 1]


def first_step(class_name, steps, strength):
    """Returns the result of `get_timesteps` of the image-to-image pipelines."""
    if class_name == "FlowMatchEulerDiscreteScheduler":  # StableDiffusion3Img2ImgPipeline, FluxImg2ImgPipeline
        return int(max(steps - min(steps * strength, steps), 0))
    return max(steps - min(int(steps * strength), steps), 0)  # StableDiffusionImg2ImgPipeline


def set_timesteps(scheduler, steps, strength, options):
    arguments = {}
    if options.get("lcm_keeps_steps"):  # LatentConsistencyModelImg2ImgPipeline
        arguments["strength"] = strength
    if options.get("even_flow_sigmas"):  # FluxPipeline
        arguments["sigmas"] = np.linspace(1.0, 1 / steps, steps)
    if "image_seq_len" in options:  # `calculate_shift` of the Flux and StableDiffusion3 pipelines
        config = scheduler.config
        slope = (config.max_shift - config.base_shift) / (config.max_image_seq_len - config.base_image_seq_len)
        intercept = config.base_shift - slope * config.base_image_seq_len
        arguments["mu"] = options["image_seq_len"] * slope + intercept
    scheduler.set_timesteps(steps, **arguments)


def run(name, config, steps, strength=None, **options):
    class_name = config["_class_name"]
    scheduler = CLASSES[class_name].from_config(config)
    set_timesteps(scheduler, steps, strength, options)
    begin = 0
    if strength is not None and not options.get("lcm_keeps_steps"):
        begin = first_step(class_name, steps, strength)
    if hasattr(scheduler, "set_begin_index"):
        # Otherwise the second of two equal timesteps is searched for, and a run ends beyond its
        # sigmas.
        scheduler.set_begin_index(begin)
    timesteps = scheduler.timesteps[begin:]
    initial_scale = getattr(scheduler, "init_noise_sigma", 1.0)

    case = {"name": name, "config": config, "steps": steps}
    if strength is None:
        sample = START * initial_scale
    else:
        add_noise = getattr(scheduler, "add_noise", None) or (
            lambda original, noise, time: scheduler.scale_noise(original, time, noise)
        )
        sample = add_noise(ORIGINAL, FIRST_NOISE, timesteps[:1])
        case |= {"strength": strength, "noised": rounded(sample)}
    if options:
        case["options"] = options
    case |= {"timesteps": rounded(timesteps), "initial_scale": rounded(initial_scale)[0]}

    at = recorded_steps(len(timesteps))
    inputs, samples = [], []
    for step, timestep in enumerate(timesteps):
        scheduling_euler_ancestral_discrete.randn_tensor = lambda *_, **__: NOISE[step : step + 1]
        scheduling_lcm.randn_tensor = lambda *_, **__: NOISE[step : step + 1]
        scaled = scheduler.scale_model_input(sample, timestep) if hasattr(scheduler, "scale_model_input") else sample
        if step in at and (step == 0 or scaled is not sample):
            inputs.append(rounded(scaled))
        sample = scheduler.step(fake_model(scaled, timestep), timestep, sample).prev_sample
        if step in at:
            samples.append(rounded(sample))
        if not torch.isfinite(sample).all():
            raise ValueError(f"{name}: step {step} is not finite")
    return case | {"at": at, "inputs": inputs, "samples": samples}


def trained_betas(count):
    return [round(0.002 + 0.01 * (i / (count - 1)) + 0.004 * math.sin(i), 6) for i in range(count)]


def cases():
    taken = set()

    def case(label, class_name, steps, strength=None, base=STABLE_DIFFUSION, options=None, **settings):
        config = {"_class_name": class_name} | base | settings
        name = f"{class_name.removesuffix('Scheduler')} {label}, {steps} steps"
        if strength is not None:
            name += f", strength {strength}"
        if name in taken:
            raise ValueError(f"two cases are named {name}")
        taken.add(name)
        return run(name, config, steps, strength, **(options or {}))

    yield from ddim(case)
    yield from euler(case)
    yield from euler_ancestral(case)
    yield from dpm_solver(case)
    yield from lcm(case)
    yield from flow_match(case)


def ddim(case):
    name = "DDIMScheduler"
    plain = {"clip_sample": False, "set_alpha_to_one": False}
    for spacing in SPACINGS:
        offset = {"steps_offset": 1} if spacing == "leading" else {}
        for steps in STEP_COUNTS:
            yield case(spacing, name, steps, timestep_spacing=spacing, **offset, **plain)
        for prediction in ("sample", "v_prediction"):
            for steps in (4, 20):
                settings = {"timestep_spacing": spacing, "prediction_type": prediction} | offset | plain
                yield case(f"{spacing} {prediction}", name, steps, **settings)
        for strength in (0.3, 0.8):
            yield case(f"{spacing} from image", name, 20, strength, timestep_spacing=spacing, **offset, **plain)
    for steps in (7, 50):
        yield case("with nothing set", name, steps, base={})
    for prediction in ("epsilon", "sample", "v_prediction"):
        yield case(f"clipped at 0.5, {prediction}", name, 7, prediction_type=prediction, clip_sample_range=0.5)
    yield case("ending at an alpha of one", name, 7, clip_sample=False, timestep_spacing="linspace")
    for steps in (16, 48):
        yield case("trailing on halves", name, steps, timestep_spacing="trailing", **plain)
    yield case("linspace on halves", name, 19, timestep_spacing="linspace", **plain)
    yield case("leading, uneven", name, 33, **plain)
    yield case("cosine", name, 7, base={}, beta_schedule="squaredcos_cap_v2")
    yield case("trained betas", name, 7, base={}, num_train_timesteps=20, trained_betas=trained_betas(20))
    zero = {"rescale_betas_zero_snr": True, "timestep_spacing": "trailing", **plain}
    for steps in (1, 4, 25):
        yield case("zero terminal SNR", name, steps, prediction_type="v_prediction", **zero)
    yield case("zero terminal SNR, sample", name, 7, prediction_type="sample", **zero)
    yield case("zero terminal SNR, epsilon", name, 7, **(zero | {"timestep_spacing": "leading"}))
    yield case("from image, short of a whole step", name, 10, 0.55, **plain)
    yield case("from image, all of it", name, 7, 1.0, **plain)
    yield case("from image, written 0.7", name, 10, 0.7, **plain)


def euler(case):
    name = "EulerDiscreteScheduler"
    for spacing in SPACINGS:
        offset = {"steps_offset": 1} if spacing == "leading" else {}
        for steps in STEP_COUNTS:
            yield case(spacing, name, steps, timestep_spacing=spacing, **offset)
        for prediction in ("sample", "v_prediction"):
            settings = {"timestep_spacing": spacing, "prediction_type": prediction} | offset
            yield case(f"{spacing} {prediction}", name, 7, **settings)
        for steps in (1, 4, 25):
            yield case(f"{spacing} Karras", name, steps, timestep_spacing=spacing, use_karras_sigmas=True, **offset)
        yield case(f"{spacing} from image", name, 20, 0.6, timestep_spacing=spacing, **offset)
    yield case("with nothing set", name, 20, base={})
    yield case("Karras between given sigmas", name, 7, use_karras_sigmas=True, sigma_min=0.1, sigma_max=10.0)
    yield case("Karras from image", name, 20, 0.45, use_karras_sigmas=True, timestep_spacing="leading", steps_offset=1)
    for karras in (False, True):
        label = "ending at the smallest sigma" + (", Karras" if karras else "")
        yield case(label, name, 7, final_sigmas_type="sigma_min", use_karras_sigmas=karras)
    yield case("ending where it is", name, 4, final_sigmas_type="sigma_min", timestep_spacing="leading")
    yield case("cosine", name, 7, base={}, beta_schedule="squaredcos_cap_v2", timestep_spacing="leading")
    yield case("trained betas", name, 7, base={}, num_train_timesteps=20, trained_betas=trained_betas(20))
    zero = {"rescale_betas_zero_snr": True, "timestep_spacing": "trailing"}
    for steps in (4, 25):
        yield case("zero terminal SNR", name, steps, prediction_type="v_prediction", **zero)
    for karras in (False, True):
        label = "zero terminal SNR of linear betas" + (", Karras" if karras else "")
        settings = zero | {"base": {}, "prediction_type": "v_prediction", "use_karras_sigmas": karras}
        yield case(label, name, 7, **settings)
    yield case("trailing on halves", name, 48, timestep_spacing="trailing")


def euler_ancestral(case):
    name = "EulerAncestralDiscreteScheduler"
    for spacing in SPACINGS:
        offset = {"steps_offset": 1} if spacing == "leading" else {}
        for steps in (1, 4, 20, 25):
            yield case(spacing, name, steps, timestep_spacing=spacing, **offset)
        settings = {"timestep_spacing": spacing, "prediction_type": "v_prediction"} | offset
        yield case(f"{spacing} v_prediction", name, 7, **settings)
        yield case(f"{spacing} from image", name, 20, 0.35, timestep_spacing=spacing, **offset)
    yield case("with nothing set", name, 50, base={})
    yield case("cosine", name, 7, base={}, beta_schedule="squaredcos_cap_v2", timestep_spacing="leading")
    zero = {"rescale_betas_zero_snr": True, "timestep_spacing": "trailing"}
    yield case("zero terminal SNR", name, 20, prediction_type="v_prediction", **zero)


def dpm_solver(case):
    name = "DPMSolverMultistepScheduler"
    for spacing in SPACINGS:
        offset = {"steps_offset": 1} if spacing == "leading" else {}
        for steps in STEP_COUNTS:
            yield case(spacing, name, steps, timestep_spacing=spacing, **offset)
        for prediction in ("sample", "v_prediction"):
            settings = {"timestep_spacing": spacing, "prediction_type": prediction} | offset
            yield case(f"{spacing} {prediction}", name, 7, **settings)
        yield case(f"{spacing} first order", name, 7, timestep_spacing=spacing, solver_order=1, **offset)
        yield case(f"{spacing} heun", name, 20, timestep_spacing=spacing, solver_type="heun", **offset)
        for strength in (0.3, 0.75):
            yield case(f"{spacing} from image", name, 20, strength, timestep_spacing=spacing, **offset)
    for steps in (1, 2, 4, 20, 25, 50):
        yield case("Karras", name, steps, use_karras_sigmas=True, timestep_spacing="leading", steps_offset=1)
    yield case("Karras v_prediction", name, 20, use_karras_sigmas=True, prediction_type="v_prediction")
    yield case("Karras heun", name, 7, use_karras_sigmas=True, solver_type="heun")
    yield case("Karras from image", name, 20, 0.5, use_karras_sigmas=True)
    yield case("Karras, ending where it is", name, 20, use_karras_sigmas=True, final_sigmas_type="sigma_min")
    for steps in (7, 20):
        for lower in (False, True):
            settings = {"final_sigmas_type": "sigma_min", "lower_order_final": lower}
            yield case(f"ending at the smallest sigma, lower order {lower}", name, steps, **settings)
    settings = {"final_sigmas_type": "sigma_min", "euler_at_final": True}
    yield case("ending at the smallest sigma, Euler", name, 20, **settings)
    yield case("ending at the smallest sigma, heun", name, 20, final_sigmas_type="sigma_min", solver_type="heun")
    yield case("second order to the end", name, 7, lower_order_final=False)
    yield case("with nothing set", name, 20, base={})
    cosine = {"base": {}, "beta_schedule": "squaredcos_cap_v2"}
    for spacing in SPACINGS:
        settings = {"lambda_min_clipped": -5.1, "timestep_spacing": spacing} | cosine
        yield case(f"cosine, clipped lambda, {spacing}", name, 20, **settings)
    yield case("cosine, Karras", name, 7, use_karras_sigmas=True, **cosine)
    yield case("trained betas", name, 7, base={}, num_train_timesteps=20, trained_betas=trained_betas(20))
    zero = {"rescale_betas_zero_snr": True, "timestep_spacing": "trailing"}
    for steps in (4, 25):
        yield case("zero terminal SNR", name, steps, prediction_type="v_prediction", **zero)
    for karras in (False, True):
        label = "zero terminal SNR of linear betas" + (", Karras" if karras else "")
        settings = zero | {"base": {}, "prediction_type": "v_prediction", "use_karras_sigmas": karras}
        yield case(label, name, 7, **settings)


def lcm(case):
    name = "LCMScheduler"
    for steps in (1, 2, 4, 7, 8, 20, 50):
        yield case("plain", name, steps, base={})
    for prediction in ("sample", "v_prediction"):
        yield case(prediction, name, 4, base={}, prediction_type=prediction)
    for original in (100, 33):
        yield case(f"from {original} steps", name, 4, base={}, original_inference_steps=original)
    yield case("time scaled by 3.5", name, 4, base={}, timestep_scaling=3.5)
    yield case("time scaled by 0.001", name, 4, base={}, timestep_scaling=0.001)
    yield case("clipped", name, 4, base={}, clip_sample=True, clip_sample_range=0.5)
    yield case("zero terminal SNR", name, 4, base={}, prediction_type="v_prediction", rescale_betas_zero_snr=True)
    yield case("linear", name, 4, base={}, beta_schedule="linear", set_alpha_to_one=False)
    for strength in (0.5, 0.8):
        yield case("from image", name, 8, strength, base={})
        options = {"lcm_keeps_steps": True}
        yield case("from image, keeping steps", name, 4, strength, base={}, options=options)
    yield case("from image, keeping steps", name, 7, 0.55, base={}, options={"lcm_keeps_steps": True})


def flow_match(case):
    name = "FlowMatchEulerDiscreteScheduler"
    for steps in STEP_COUNTS:
        yield case("shift 3", name, steps, base={}, shift=3.0)
    for steps in (1, 4, 20):
        yield case("with nothing set", name, steps, base={})
    yield case("shift 1.15", name, 7, base={}, shift=1.15)
    yield case("shift 0.7", name, 7, base={}, shift=0.7)
    yield case("500 training steps", name, 7, base={}, shift=3.0, num_train_timesteps=500)
    yield case("Karras", name, 7, base={}, shift=3.0, use_karras_sigmas=True)
    for strength in (0.3, 0.6, 1.0):
        yield case("shift 3 from image", name, 20, strength, base={}, shift=3.0)
    yield case("shift 3 from image, part of a step", name, 10, 0.75, base={}, shift=3.0)
    yield case("shift 3 from image, just short of a step", name, 20, 0.55, base={}, shift=3.0)
    for steps in (1, 4, 7):
        yield case("even", name, steps, base={}, shift=1.0, options={"even_flow_sigmas": True})
    dynamic = {"base": {}, "use_dynamic_shifting": True, "shift": 3.0}
    for length in (256, 1024, 4096, 6000):
        yield case(f"{length} tokens", name, 7, options={"image_seq_len": length}, **dynamic)
        options = {"image_seq_len": length, "even_flow_sigmas": True}
        yield case(f"{length} tokens, even", name, 20, options=options, **dynamic)
    options = {"image_seq_len": 1024}
    yield case("1024 tokens, linear", name, 7, options=options, time_shift_type="linear", **dynamic)
    settings = {"base_shift": 0.3, "max_shift": 2.0, "base_image_seq_len": 128, "max_image_seq_len": 2048}
    yield case("1024 tokens, other ends", name, 7, options=options, **settings, **dynamic)
    options = {"image_seq_len": 1024, "even_flow_sigmas": True}
    yield case("1024 tokens, even, from image", name, 20, 0.6, options=options, **dynamic)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    runs = list(cases())
    shared = {
        "start": rounded(START),
        "original": rounded(ORIGINAL),
        "first_noise": rounded(FIRST_NOISE),
        "noise": [rounded(row) for row in NOISE],
    }
    # One line for each run, so that a diff of two versions can be read.
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        compact = {"separators": (",", ":")}
        for key, value in shared.items():
            file.write(f'{"{" if key == "start" else ""}"{key}":{json.dumps(value, **compact)},\n')
        file.write('"cases":[\n')
        file.write(",\n".join(json.dumps(case, **compact) for case in runs))
        file.write("\n]}\n")
    print(f"{len(runs)} runs")


if __name__ == "__main__":
    main()
