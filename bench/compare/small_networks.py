"""Small networks for export_models.py, whose parts no other of its models has.

Each is small and written as people write it: shapes that are computed, masks,
kept keys and values, weights that a run makes.
"""
import math

import torch
import torchvision
from torch import nn
from torch.nn import functional

WORDS = 2000
WIDTH = 256
HEADS = 4


class KeptDecoder(nn.Module):
    """A layer of a speech recogniser's decoder, which keeps keys and values.

    Positions are cut from tables where those so far end.
    """

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Parameter(torch.randn(448, WIDTH) * 0.1)
        later = torch.full((448, 448), -math.inf).triu_(1)
        self.register_buffer("later", later)
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH) for _ in range(4)])
        self.queries = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in "ab"])
        self.results = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in "ab"])
        self.keys = nn.Linear(WIDTH, WIDTH, bias=False)
        self.values = nn.Linear(WIDTH, WIDTH)
        self.dense = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(),
                                   nn.Linear(4 * WIDTH, WIDTH))

    def attend(self, i, x, keys, values, mask=None):
        def heads(y):
            return y.view(*y.shape[:2], HEADS, -1).permute(0, 2, 1, 3)
        scores = heads(self.queries[i](x)) @ heads(keys).transpose(-1, -2)
        scores = scores * (WIDTH // HEADS) ** -0.5
        if mask is not None:
            scores = scores + mask
        mixed = torch.softmax(scores, -1) @ heads(values)
        return self.results[i](mixed.permute(0, 2, 1, 3).flatten(2))

    def forward(self, words, keys, values, heard_keys, heard_values):
        first, count = keys.shape[1], words.shape[1]
        x = self.words(words) + self.places[first:first + count]
        mask = self.later[first:first + count, :first + count]
        y = self.norms[0](x)
        keys = torch.cat([keys, self.keys(y)], 1)
        values = torch.cat([values, self.values(y)], 1)
        x = x + self.attend(0, y, keys, values, mask)
        x = x + self.attend(1, self.norms[1](x), heard_keys, heard_values)
        x = x + self.dense(self.norms[2](x))
        return self.norms[3](x) @ self.words.weight.t(), keys, values


def kept_decoder():
    kept = [torch.randn(1, 40, WIDTH) for _ in range(2)]
    heard = [torch.randn(1, 200, WIDTH) for _ in range(2)]
    return KeptDecoder(), (torch.randint(0, WORDS, (1, 1)), *kept, *heard)


class Boxes(nn.Module):
    """A detector's head: by one mask boxes, scores and classes are selected."""

    def __init__(self, classes=20):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 32, 3, 2, 1), nn.SiLU(), nn.Conv2d(32, 64, 3, 2, 1),
            nn.SiLU(), nn.Conv2d(64, 128, 3, 2, 1), nn.SiLU(),
            nn.Conv2d(128, classes + 5, 1))

    def forward(self, image):
        y = self.layers(image).sigmoid().flatten(2)[0].t()
        centre, size = y[:, :2] * 320, y[:, 2:4] * 80
        scores, classes = (y[:, 5:] * y[:, 4:5]).max(1)
        boxes = torch.cat([centre - size / 2, centre + size / 2], 1)
        keep = scores > 0.26
        boxes, scores, classes = boxes[keep], scores[keep], classes[keep]
        best = torchvision.ops.nms(
            boxes + classes[:, None].float() * 640, scores, 0.45)[:100]
        return boxes[best], scores[best], classes[best]


def boxes():
    return Boxes(), (torch.rand(1, 3, 320, 320),)


class Modulated(nn.Module):
    """A convolution whose weights depend on a style, image by image."""

    def __init__(self, of, to, doubles):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(1, to, of, 3, 3))
        self.style = nn.Linear(128, of)
        self.doubles = doubles

    def forward(self, x, style):
        n, of, height, width = x.shape
        factors = self.style(style).view(n, 1, of, 1, 1) + 1
        w = self.weight * factors / (9 * of) ** 0.5
        w = w * torch.rsqrt(w.pow(2).sum([2, 3, 4], keepdim=True) + 1e-8)
        to = w.shape[1]
        x = x.reshape(1, n * of, height, width)
        if self.doubles:
            w = w.transpose(1, 2).reshape(n * of, to, 3, 3)
            x = functional.conv_transpose2d(x, w, stride=2, padding=1,
                                            output_padding=1, groups=n)
        else:
            w = w.view(n * to, of, 3, 3)
            x = functional.conv2d(x, w, padding=1, groups=n)
        return functional.leaky_relu(x.view(n, to, *x.shape[2:]), 0.2)


class Styled(nn.Module):
    """Makes images of a few numbers."""

    def __init__(self):
        super().__init__()
        self.start = nn.Parameter(torch.randn(1, 128, 4, 4))
        layers = []
        for of, to in ((128, 128), (128, 96), (96, 64), (64, 32)):
            layers += [Modulated(of, to, True), Modulated(to, to, False)]
        self.layers = nn.ModuleList(layers)
        self.colours = nn.Conv2d(32, 3, 1)

    def forward(self, style):
        x = self.start.repeat(style.shape[0], 1, 1, 1)
        for layer in self.layers:
            x = layer(x, style)
        return self.colours(x)


def styled():
    return Styled(), (torch.randn(2, 128),)


class Sentences(nn.Module):
    """Averages what two recurrent layers make of sentences of any lengths."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, 64)
        self.layers = nn.GRU(64, 96, 2, bidirectional=True, batch_first=True)
        self.weights = nn.Linear(192, 1)

    def forward(self, words, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(
            self.words(words), lengths, batch_first=True, enforce_sorted=False)
        x, _ = nn.utils.rnn.pad_packed_sequence(self.layers(packed)[0],
                                                batch_first=True)
        beyond = torch.arange(x.size(1))[None] >= lengths[:, None]
        weights = self.weights(x).masked_fill(beyond[..., None], -1e9)
        return (torch.softmax(weights, 1) * x).sum(1)


def sentences():
    return Sentences(), (torch.randint(0, WORDS, (4, 32)),
                         torch.tensor([32, 20, 9, 27]))


class Relative(nn.Module):
    """Attention to relative places, which count down from the length; only the
    last ones are asked for."""

    def __init__(self):
        super().__init__()
        self.joined = nn.Linear(WIDTH, 3 * WIDTH)
        self.places = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, asked):
        length = x.shape[1]
        places = torch.arange(length - 1, -length, -1, dtype=torch.float32)
        rates = torch.exp(torch.arange(0, WIDTH, 2) * (-9.2 / WIDTH))
        angles = places[:, None] * rates
        table = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)
        q, k, v = self.joined(x).chunk(3, -1)
        q = q[:, -asked.shape[1]:]
        near = q @ self.places(table)[None].transpose(1, 2)
        scores = q @ k.transpose(1, 2) + near[:, :, :length]
        return torch.softmax(scores / WIDTH ** 0.5, -1) @ v


def relative():
    return Relative(), (torch.randn(1, 200, WIDTH), torch.ones(1, 50))


class Causal(nn.Module):
    """Dilated convolutions of one dimension that look back only: both sides are
    padded, and the end is cut off."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(
            [nn.Conv1d(1 if i == 0 else 25, 25, 3, padding=2 << i,
                       dilation=1 << i) for i in range(6)])

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            y = functional.relu(layer(x)[:, :, :-(2 << i)])
            x = y if i == 0 else x + y
        return x[:, :, -1]


def causal():
    return Causal(), (torch.randn(4, 1, 784),)


OPEN = {
    "kept_decoder": [{0: "batch", 1: "words"}] + 2 * [{0: "batch", 1: "kept"}]
                    + 2 * [{0: "batch", 1: "heard"}],
    "boxes": [{2: "height", 3: "width"}],
    "sentences": [{0: "batch", 1: "words"}, {0: "batch"}],
    "relative": [{0: "batch", 1: "length"}, {1: "asked"}],
    "causal": [{0: "batch", 2: "time"}],
}
MODELS = {
    "kept_decoder": kept_decoder,
    "boxes": boxes,
    "styled": styled,
    "sentences": sentences,
    "relative": relative,
    "causal": causal,
}
