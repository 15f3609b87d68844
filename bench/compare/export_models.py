#!/usr/bin/python3
"""Exports networks of torchvision and torchaudio as people do, for //bench/compare.

  apt-get install --no-install-recommends python3-torchvision python3-torchaudio python3-onnx
  bench/compare/export_models.py [--open] [--torch] FOLDER [NAME...]
  bazel run //bench/compare -- FOLDER/*

Each becomes FOLDER/NAME/model.onnx with random weights and one set of random
inputs beside it. NAMEs are torchvision's, those of AUDIO below or those of
small_networks.py; without any, all of DEFAULT. The exporter writes what it writes: nothing is simplified
or changed.

With --open, the sizes that a user would leave open are: batches, and extents
of what is as long or large as it comes. Without NAMEs, these are all of OPEN,
also those of language_models.py and small_networks.py.

With --torch, model.pt is the same network for PyTorch itself
(//bench/compare -- --also=torch).
"""
import os
import sys
import warnings

import language_models
import onnx
import small_networks
import torch
import torchaudio
import torchvision
from onnx import numpy_helper

DETECTORS = {  # and the size of their image
    "ssdlite320_mobilenet_v3_large": 320, "ssd300_vgg16": 300,
    "fasterrcnn_mobilenet_v3_large_320_fpn": 320, "retinanet_resnet50_fpn": 320,
    "fcos_resnet50_fpn": 320, "maskrcnn_resnet50_fpn": 320,
    "keypointrcnn_resnet50_fpn": 320}
VIDEO = {"r2plus1d_18": (8, 112), "r3d_18": (8, 112), "mc3_18": (8, 112),
         "s3d": (16, 224)}  # frames, and their size
SEGMENTERS = ["deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large",
              "fcn_resnet50"]
SIZES = {"inception_v3": 299, "swin_v2_t": 256}  # other images have 224
IMAGES = ["convnext_tiny", "densenet121", "efficientnet_b0",
          "efficientnet_v2_s", "googlenet", "inception_v3", "maxvit_t",
          "mnasnet1_0", "mobilenet_v3_small", "regnet_x_800mf",
          "regnet_y_400mf", "resnet18", "resnext50_32x4d",
          "shufflenet_v2_x0_5", "squeezenet1_0", "swin_t", "swin_v2_t",
          "vit_b_32"]


class First(torch.nn.Module):
    """The first of a network's results."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, *inputs):
        results = self.network(*inputs)
        return results["out"] if isinstance(results, dict) else results[0]


AUDIO = {
    "conformer": lambda: (
        First(torchaudio.models.Conformer(80, 4, 256, 6, 31)),
        (torch.randn(1, 200, 80), torch.tensor([200]))),
    "conv_tasnet": lambda: (
        torchaudio.models.conv_tasnet_base(), (torch.randn(1, 1, 16000),)),
    "deepspeech": lambda: (
        torchaudio.models.DeepSpeech(80, 512), (torch.randn(1, 1, 200, 80),)),
    "wav2letter": lambda: (
        torchaudio.models.Wav2Letter(40, "mfcc", 40),
        (torch.randn(1, 40, 200),)),
    "wav2vec2": lambda: (
        First(torchaudio.models.wav2vec2_base(aux_num_out=32)),
        (torch.randn(1, 16000),)),
}
SMALL = {**language_models.MODELS, **small_networks.MODELS}
DEFAULT = (IMAGES + SEGMENTERS + list(VIDEO) + list(DETECTORS) + list(AUDIO) +
           list(small_networks.MODELS))
OPEN = {name: [{0: "batch"}] for name in IMAGES}
OPEN.update({name: [{0: "batch", 2: "height", 3: "width"}]
             for name in SEGMENTERS})
OPEN.update({"conv_tasnet": [{0: "batch", 2: "time"}],
             "deepspeech": [{0: "batch", 2: "time"}],
             "wav2letter": [{0: "batch", 2: "time"}],
             "wav2vec2": [{0: "batch", 1: "time"}]})
OPEN.update(language_models.OPEN)
OPEN.update(small_networks.OPEN)


def make(name):
    """The network, and the tensors that it is called with."""
    models = torchvision.models
    if name in AUDIO:
        return AUDIO[name]()
    if name in SMALL:
        return SMALL[name]()
    if name in DETECTORS:
        size = DETECTORS[name]
        sizes = {} if name.startswith("ssd") else {
            "min_size": size, "max_size": size}
        network = models.get_model(name, weights=None, weights_backbone=None,
                                   **sizes)
        return network, ([torch.rand(3, size, size)],)
    if name in SEGMENTERS:
        network = models.get_model(name, weights=None, weights_backbone=None)
        return First(network), (torch.rand(1, 3, 256, 256),)
    if name in VIDEO:
        frames, size = VIDEO[name]
        return (models.get_model(name, weights=None),
                (torch.rand(1, 3, frames, size, size),))
    options = {"init_weights": True, "aux_logits": False} if name in (
        "googlenet", "inception_v3") else {}
    size = SIZES.get(name, 224)
    return (models.get_model(name, weights=None, **options),
            (torch.rand(1, 3, size, size),))


def export(name, folder, is_open, for_torch):
    torch.manual_seed(0)
    network, inputs = make(name)
    network.eval()
    for part in network.modules():
        # Statistics that are not 0 and 1.
        if isinstance(part, torch.nn.modules.batchnorm._BatchNorm):
            part.running_var.uniform_(0.5, 1.5)
            part.running_mean.normal_(0, 0.1)
    data = os.path.join(folder, name, "test_data_set_0")
    os.makedirs(data, exist_ok=True)
    path = os.path.join(folder, name, "model.onnx")
    tensors = inputs[0] if isinstance(inputs[0], list) else inputs
    names = [f"input_{i}" for i in range(len(tensors))]
    torch.onnx.export(network, inputs, path,
                      opset_version=11 if name in DETECTORS else 16,
                      input_names=names,
                      dynamic_axes=dict(zip(names, OPEN[name]))
                      if is_open else None)
    if for_torch:
        with torch.no_grad():
            traced = torch.jit.trace(network, inputs)
        torch.jit.save(traced, os.path.join(folder, name, "model.pt"))
    # The exporter drops inputs that the network does not look at.
    for i, taken in enumerate(onnx.load(path).graph.input):
        tensor = tensors[int(taken.name.split("_")[1])].numpy()
        proto = numpy_helper.from_array(tensor, taken.name)
        with open(os.path.join(data, f"input_{i}.pb"), "wb") as file:
            file.write(proto.SerializeToString())


def main():
    options = [a for a in sys.argv[1:] if a in ("--open", "--torch")]
    arguments = [a for a in sys.argv[1:] if a not in options]
    is_open = "--open" in options
    if not arguments or any(a.startswith("-") for a in arguments):
        sys.exit(__doc__)
    warnings.filterwarnings("ignore")
    # Swin's exporter lacks it: a tensor of zeros like another one.
    torch.onnx.register_custom_op_symbolic(
        "aten::zero", lambda g, x: g.op("Sub", x, x), 11)
    for name in arguments[1:] or (OPEN if is_open else DEFAULT):
        print(name, flush=True)
        export(name, arguments[0], is_open, "--torch" in options)


if __name__ == "__main__":
    main()
