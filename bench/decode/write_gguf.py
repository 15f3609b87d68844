"""Writes TinyLlama's architecture with random weights in llama.cpp's own 4 bits.

  python3 bench/decode/write_gguf.py llama.gguf

The sizes are those of examples/generate's write_model llama. The format is GGUF,
version 3; matrices are Q4_0: a scale of f16 for 32 numbers.
"""
import os
import struct
import sys

WORDS, WIDTH, LAYERS, HEADS, KEPT_HEADS, HIDDEN = 32000, 2048, 22, 32, 4, 5632
HEAD = WIDTH // HEADS
U32, I32, F32, STRING, ARRAY = 4, 5, 6, 8, 9  # types of metadata
TENSOR_F32, TENSOR_Q4_0 = 0, 2
ALIGNMENT = 32
BLOCK, BLOCK_BYTES = 32, 18


def text(value):
    data = value.encode()
    return struct.pack('<Q', len(data)) + data


def entry(key, kind, value):
    return text(key) + struct.pack('<I', kind) + value


def number(key, value):
    return entry(key, U32, struct.pack('<I', value))


def array(key, kind, count, value):
    return entry(key, ARRAY, struct.pack('<IQ', kind, count) + value)


def metadata():
    bytes_of_text = ['<0x%02X>' % i for i in range(256)]
    others = ['\u2581t%d' % i for i in range(WORDS - 259)]
    words = ['<unk>', '<s>', '</s>'] + bytes_of_text + others
    kinds = [2, 3, 3] + [6] * 256 + [1] * len(others)
    return [
        entry('general.architecture', STRING, text('llama')),
        entry('general.name', STRING, text('random')),
        number('general.file_type', 2),
        number('llama.vocab_size', WORDS),
        number('llama.context_length', 2048),
        number('llama.embedding_length', WIDTH),
        number('llama.block_count', LAYERS),
        number('llama.feed_forward_length', HIDDEN),
        number('llama.rope.dimension_count', HEAD),
        number('llama.attention.head_count', HEADS),
        number('llama.attention.head_count_kv', KEPT_HEADS),
        entry('llama.attention.layer_norm_rms_epsilon', F32,
              struct.pack('<f', 1e-5)),
        entry('tokenizer.ggml.model', STRING, text('llama')),
        array('tokenizer.ggml.tokens', STRING, WORDS, b''.join(map(text, words))),
        array('tokenizer.ggml.scores', F32, WORDS,
              struct.pack('<%df' % WORDS, *(-float(i) for i in range(WORDS)))),
        array('tokenizer.ggml.token_type', I32, WORDS,
              struct.pack('<%di' % WORDS, *kinds)),
        number('tokenizer.ggml.bos_token_id', 1),
        number('tokenizer.ggml.eos_token_id', 2),
        number('tokenizer.ggml.unknown_token_id', 0),
    ]


def tensors():
    """Names, shapes (the inputs first) and types."""
    kept = KEPT_HEADS * HEAD
    yield 'token_embd.weight', [WIDTH, WORDS], TENSOR_Q4_0
    yield 'output_norm.weight', [WIDTH], TENSOR_F32
    yield 'output.weight', [WIDTH, WORDS], TENSOR_Q4_0
    for layer in range(LAYERS):
        stem = 'blk.%d.' % layer
        for name in 'attn_norm', 'ffn_norm':
            yield stem + name + '.weight', [WIDTH], TENSOR_F32
        for name, inputs, outputs in [
                ('attn_q', WIDTH, WIDTH), ('attn_k', WIDTH, kept),
                ('attn_v', WIDTH, kept), ('attn_output', WIDTH, WIDTH),
                ('ffn_gate', WIDTH, HIDDEN), ('ffn_up', WIDTH, HIDDEN),
                ('ffn_down', HIDDEN, WIDTH)]:
            yield stem + name + '.weight', [inputs, outputs], TENSOR_Q4_0


def size_of(shape, kind):
    count = 1
    for extent in shape:
        count *= extent
    return count // BLOCK * BLOCK_BYTES if kind == TENSOR_Q4_0 else 4 * count


def padding(size):
    return b'\0' * (-size % ALIGNMENT)


def main():
    entries, all_tensors = metadata(), list(tensors())
    infos, offset = b'', 0
    for name, shape, kind in all_tensors:
        infos += text(name) + struct.pack('<I%dQIQ' % len(shape), len(shape),
                                          *shape, kind, offset)
        offset += size_of(shape, kind) + len(padding(size_of(shape, kind)))
    head = b'GGUF' + struct.pack('<IQQ', 3, len(all_tensors), len(entries))
    head += b''.join(entries) + infos
    scale = struct.pack('<e', 0.006)
    blocks = b''.join(scale + os.urandom(BLOCK // 2) for _ in range(1 << 15))
    with open(sys.argv[1], 'wb') as out:
        out.write(head + padding(len(head)))
        for _, shape, kind in all_tensors:
            size = size_of(shape, kind)
            unit = blocks if kind == TENSOR_Q4_0 else struct.pack('<f', 1)
            out.write((unit * (size // len(unit) + 1))[:size] + padding(size))


main()
