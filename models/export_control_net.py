"""Exports a Stable Diffusion checkpoint with a ControlNet to ONNX, for `cyclorama-node model add`.

    python3.11 -m venv venv && venv/bin/pip install -r models/requirements-export.txt
    venv/bin/python models/export_control_net.py CHECKPOINT CONTROLNET FOLDER [SIDE]

CHECKPOINT and CONTROLNET are folders in the layout of Hugging Face diffusers, of Stable Diffusion 1,
2 or XL. Optimum exports everything that it can. It cannot export the ControlNet and the UNet that
takes the ControlNet's outputs, which this program exports. Images are SIDE pixels square, by default
the checkpoint's own side.
"""

import pathlib
import shutil
import sys

import onnx
import torch

TOKENS = 77
TIME_IDS = 6


class ControlNetGraph(torch.nn.Module):
    def __init__(self, net, names):
        super().__init__()
        self.net, self.names = net, names

    def forward(self, sample, timestep, encoder_hidden_states, controlnet_cond, conditioning_scale, *added):
        more = {"added_cond_kwargs": dict(zip(self.names, added))} if added else {}
        down, mid = self.net(
            sample, timestep, encoder_hidden_states, controlnet_cond, conditioning_scale, return_dict=False, **more
        )
        return (*down, mid)


class UnetGraph(torch.nn.Module):
    """A UNet that takes the outputs of a ControlNet."""

    def __init__(self, unet, count, names):
        super().__init__()
        self.unet, self.count, self.names = unet, count, names

    def forward(self, sample, timestep, encoder_hidden_states, *others):
        residuals, added = others[: self.count], others[self.count :]
        more = {"added_cond_kwargs": dict(zip(self.names, added))} if added else {}
        return self.unet(
            sample,
            timestep,
            encoder_hidden_states,
            down_block_additional_residuals=residuals[:-1],
            mid_block_additional_residual=residuals[-1],
            return_dict=False,
            **more,
        )[0]


def export(module, path, inputs, outputs):
    path.parent.mkdir(parents=True, exist_ok=True)
    axes = {name: {0: "batch"} for name, tensor in inputs.items() if tensor.dim() > 1}
    if "controlnet_conds" in inputs:
        axes.update(controlnet_conds={1: "batch"}, controlnet_scales={})
    axes.update({name: {0: "batch"} for name in outputs})
    with torch.no_grad():
        torch.onnx.export(
            module.eval(),
            tuple(inputs.values()),
            str(path),
            input_names=list(inputs),
            output_names=outputs,
            dynamic_axes=axes,
            opset_version=17,
            dynamo=False,
        )
    # Above 2 GB every tensor gets a file of its own; they are joined into one.
    pieces = [piece for piece in path.parent.iterdir() if piece.suffix not in (".onnx", ".json", ".onnx_data")]
    if pieces:
        model = onnx.load(path)
        for piece in pieces:
            piece.unlink()
        data = path.name + "_data"
        onnx.save(model, path, save_as_external_data=True, all_tensors_to_one_file=True, location=data, convert_attribute=True)


def inputs_of(unet, side):
    """Returns sample inputs that the UNet and its ControlNet both take, and those that SDXL takes
    in addition."""
    config = unet.config
    inputs = {
        "sample": torch.randn(2, config.in_channels, side // 8, side // 8),
        "timestep": torch.tensor([1.0]),
        "encoder_hidden_states": torch.randn(2, TOKENS, config.cross_attention_dim),
    }
    if config.addition_embed_type != "text_time":
        return inputs, {}
    pooled = config.projection_class_embeddings_input_dim - TIME_IDS * config.addition_time_embed_dim
    return inputs, {"text_embeds": torch.randn(2, pooled), "time_ids": torch.randn(2, TIME_IDS)}


def export_with_control(folder, unet, net, side):
    """Writes `controlnet/` and `unet/model.onnx` into FOLDER."""
    inputs, added = inputs_of(unet, side)
    names = list(added)
    control = {"controlnet_cond": torch.rand(2, 3, side, side), "conditioning_scale": torch.tensor(1.0)}
    with torch.no_grad():
        answers = ControlNetGraph(net, names)(*inputs.values(), *control.values(), *added.values())
    outputs = [f"down_block_res_sample_{i}" for i in range(len(answers) - 1)] + ["mid_block_res_sample"]
    export(ControlNetGraph(net, names), folder / "controlnet/model.onnx", inputs | control | added, outputs)
    net.save_config(folder / "controlnet")
    residuals = {f"down_block_additional_residual_{i}": answer for i, answer in enumerate(answers[:-1])}
    residuals["mid_block_additional_residual"] = answers[-1]
    export(UnetGraph(unet, len(answers), names), folder / "unet/model.onnx", inputs | residuals | added, ["out_sample"])


def main(checkpoint, control_net, folder, side=None):
    from diffusers import ControlNetModel, UNet2DConditionModel
    from optimum.exporters.onnx import main_export

    unet = UNet2DConditionModel.from_pretrained(checkpoint, subfolder="unet").eval()
    net = ControlNetModel.from_pretrained(control_net).eval()
    main_export(checkpoint, output=folder, task="text-to-image", do_validation=False)
    folder = pathlib.Path(folder)
    # With the data of its weights, which large models have in separate files.
    config = (folder / "unet/config.json").read_bytes()
    shutil.rmtree(folder / "unet")
    (folder / "unet").mkdir()
    (folder / "unet/config.json").write_bytes(config)
    export_with_control(folder, unet, net, int(side) if side else unet.config.sample_size * 8)


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
