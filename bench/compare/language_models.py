"""Small language models for export_models.py, written as people write them.

Their words are numbers below WORDS, and their weights are random. Batches and
lengths are open: the sizes of what forward() gets are read at run time.
"""
import torch
from torch import nn

WORDS = 2000
LONGEST = 512
WIDTH = 384
HEADS = 6
LAYERS = 4


class Layer(nn.Module):
    """Attention and two dense layers, without norms and activations."""

    def __init__(self):
        super().__init__()
        self.joined = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)
        self.norm_1 = nn.LayerNorm(WIDTH)
        self.norm_2 = nn.LayerNorm(WIDTH)

    def heads(self, x):
        """Queries, keys and values, each [batch, heads, words, width]."""
        batch, words, _ = x.shape
        return [part.view(batch, words, HEADS, WIDTH // HEADS).transpose(1, 2)
                for part in self.joined(x).split(WIDTH, dim=2)]

    def attend(self, q, k, v, mask):
        batch, _, words, _ = q.shape
        scores = q @ k.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5
        mixed = torch.softmax(mask(scores), -1) @ v
        return self.out(
            mixed.transpose(1, 2).contiguous().view(batch, words, WIDTH))


class Embedding(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Embedding(LONGEST, WIDTH)

    def forward(self, words, first):
        places = torch.arange(first, first + words.shape[1])
        return self.words(words) + self.places(places.unsqueeze(0))


class Encoder(nn.Module):
    """Reads texts of one length, of which a mask says what is there."""

    def __init__(self):
        super().__init__()
        self.embedding = Embedding()
        self.layers = nn.ModuleList([Layer() for _ in range(LAYERS)])

    def forward(self, words, present):
        absent = (1.0 - present[:, None, None, :].float()) * -10000.0
        x = self.embedding(words, 0)
        for layer in self.layers:
            x = layer.norm_1(x + layer.attend(
                *layer.heads(x), lambda scores: scores + absent))
            x = layer.norm_2(
                x + layer.down(nn.functional.gelu(layer.up(x))))
        return x


class Decoder(nn.Module):
    """Goes on with texts whose keys and values were kept."""

    def __init__(self):
        super().__init__()
        self.embedding = Embedding()
        self.layers = nn.ModuleList([Layer() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.next = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, words, kept):
        """kept: [layers, 2, batch, heads, words so far, width]."""
        so_far = kept.shape[4]
        total = so_far + words.shape[1]
        visible = torch.tril(torch.ones(total, total))[so_far:].bool()
        x = self.embedding(words, so_far)
        keeps = []
        for i, layer in enumerate(self.layers):
            q, k, v = layer.heads(layer.norm_1(x))
            k = torch.cat([kept[i, 0], k], 2)
            v = torch.cat([kept[i, 1], v], 2)
            keeps.append(torch.stack([k, v]))
            x = x + layer.attend(q, k, v, lambda scores: torch.where(
                visible, scores, torch.tensor(-1e4)))
            x = x + layer.down(nn.functional.gelu(layer.up(layer.norm_2(x))))
        return self.next(self.norm(x)), torch.stack(keeps)


def encoder(batch, words):
    shape = (batch, words)
    return (Encoder(), (torch.randint(0, WORDS, shape),
                        torch.ones(shape, dtype=torch.int64)))


def decoder(words, kept):
    return (Decoder(), (
        torch.randint(0, WORDS, (1, words)),
        torch.randn(LAYERS, 2, 1, HEADS, kept, WIDTH // HEADS)))


OPEN = {
    "encoder": [{0: "batch", 1: "words"}, {0: "batch", 1: "words"}],
    "decoder": [{0: "batch", 1: "words"}, {2: "batch", 4: "kept"}],
}
MODELS = {
    "encoder": lambda: encoder(1, 64),
    "decoder": lambda: decoder(1, 100),
}
