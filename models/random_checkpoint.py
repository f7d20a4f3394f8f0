"""A Stable Diffusion 1 checkpoint with random weights, large enough for measurements: the same
graph with a third of the channels.

    models/random_checkpoint.py make FOLDER       makes it, and exports it as Optimum does
    models/random_checkpoint.py time FOLDER JSON  runs Optimum's pipeline of it (diffusers on
                                                  onnxruntime): settings in, measurements out

`render-node/benches/text_to_image.rs` is compared with it. Needs models/requirements-export.txt.
"""

import json
import pathlib
import resource
import shutil
import statistics
import sys
import tempfile
import time

SIDE = 256


def make(folder: pathlib.Path) -> None:
    import torch
    from diffusers import AutoencoderKL, DPMSolverMultistepScheduler, StableDiffusionPipeline, UNet2DConditionModel
    from optimum.exporters.onnx import main_export
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer
    from transformers.models.clip.tokenization_clip import bytes_to_unicode

    torch.manual_seed(1)
    scratch = pathlib.Path(tempfile.mkdtemp())
    letters = list(bytes_to_unicode().values())
    tokens = letters + [letter + "</w>" for letter in letters] + ["<|startoftext|>", "<|endoftext|>"]
    (scratch / "vocab.json").write_text(json.dumps({token: place for place, token in enumerate(tokens)}))
    (scratch / "merges.txt").write_text("#version: 0.2\n")
    tokenizer = CLIPTokenizer(
        scratch / "vocab.json", scratch / "merges.txt", pad_token="<|endoftext|>", model_max_length=77, unk_token="<|endoftext|>"
    )
    text = CLIPTextModel(
        CLIPTextConfig(
            vocab_size=len(tokens), hidden_size=256, intermediate_size=1024, num_hidden_layers=12, num_attention_heads=4,
            max_position_embeddings=77, bos_token_id=len(tokens) - 2, eos_token_id=len(tokens) - 1,
        )
    )
    unet = UNet2DConditionModel(
        sample_size=SIDE // 8, block_out_channels=(96, 192, 384, 384), cross_attention_dim=256, attention_head_dim=8,
        norm_num_groups=32,
    )
    vae = AutoencoderKL(
        block_out_channels=(32, 64, 128, 128), down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4, latent_channels=4, layers_per_block=2, sample_size=SIDE,
    )
    scheduler = DPMSolverMultistepScheduler(
        beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear", use_karras_sigmas=True, steps_offset=1
    )
    pipe = StableDiffusionPipeline(
        vae=vae, text_encoder=text, tokenizer=tokenizer, unet=unet, scheduler=scheduler, safety_checker=None,
        feature_extractor=None, requires_safety_checker=False,
    )
    pipe.save_pretrained(scratch / "torch", safe_serialization=True)
    main_export(str(scratch / "torch"), output=scratch / "onnx", task="text-to-image", do_validation=False)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.move(scratch / "onnx", folder)
    shutil.rmtree(scratch)


def run(folder: pathlib.Path, settings: dict) -> dict:
    import numpy as np
    from optimum.onnxruntime import ORTStableDiffusionImg2ImgPipeline
    from PIL import Image

    pipe = ORTStableDiffusionImg2ImgPipeline.from_pretrained(folder)
    pipe.set_progress_bar_config(disable=True)
    picture = Image.fromarray(np.full((SIDE, SIDE, 3), 128, np.uint8))
    times = []
    for turn in range(settings["turns"] + 1):
        began = time.perf_counter()
        pipe(
            prompt=settings["prompt"], negative_prompt=settings["negative_prompt"], image=picture,
            num_inference_steps=settings["steps"], strength=settings["strength"], guidance_scale=settings["guidance"],
            output_type="np",
        )
        # The first one is not counted.
        if turn:
            times.append(time.perf_counter() - began)
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": statistics.median(times), "memory_mb": kilobytes // 1024}


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", folder]:
            make(pathlib.Path(folder))
        case ["time", folder, settings]:
            print(json.dumps(run(pathlib.Path(folder), json.loads(settings))))
        case _:
            sys.exit(__doc__)
