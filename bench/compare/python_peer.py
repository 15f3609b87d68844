"""Runs models by a library that has an interface for Python.

    python_peer.py (opencv|torch) MODEL THREADS [NAME:INPUT.npy ...] [=OUTPUT ...]

It answers as peer.h says. A call costs some 10 us more than the library itself takes, which counts
where models take less than a millisecond. Outputs are in the order of their names, where these are
given.
"""

import os
import resource
import sys
import time

import numpy


class OpenCv:
    """OpenCV's DNN module, which reads ONNX itself."""

    def __init__(self, path, threads, outputs):
        import cv2  # pylint: disable=import-outside-toplevel
        cv2.setNumThreads(threads)
        self._net = cv2.dnn.readNetFromONNX(path)
        self._outputs = self._net.getUnconnectedOutLayersNames()
        if set(outputs) == set(self._outputs):
            self._outputs = outputs

    def set_inputs(self, inputs):
        if len(inputs) == 1:
            self._net.setInput(inputs[0][1])
            return
        for name, value in inputs:
            self._net.setInput(value, name)

    def run(self):
        return self._net.forward(self._outputs)


class Torch:
    """PyTorch on a model that torch.jit.save has written."""

    def __init__(self, path, threads, _):
        import torch  # pylint: disable=import-outside-toplevel
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        self._torch = torch
        self._model = torch.jit.optimize_for_inference(torch.jit.load(path).eval())
        self._inputs = []

    def set_inputs(self, inputs):
        self._inputs = [self._torch.from_numpy(value) for _, value in inputs]

    def run(self):
        outputs = self._model(*self._inputs)
        if not isinstance(outputs, (list, tuple)):
            outputs = [outputs]
        return [output.numpy() for output in outputs]


PEERS = {"opencv": OpenCv, "torch": Torch}
WARM_UPS, FEWEST = 3, 5


def run_for(peer, seconds):
    """The median of the runs in so many seconds, in microseconds, and their number."""
    for _ in range(WARM_UPS):
        peer.run()
    times = []
    begin = time.perf_counter()
    while len(times) < FEWEST or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        peer.run()
        times.append(time.perf_counter() - start)
    return f"ran {sorted(times)[len(times) // 2] * 1e6:.4f} {len(times)}"


def save(peer, folder):
    outputs = peer.run()
    for i, output in enumerate(outputs):
        numpy.save(os.path.join(folder, f"{i}.npy"), output)
    return f"saved {len(outputs)}"


def obey(peer, line):
    word, _, rest = line.partition(" ")
    if word == "run":
        return run_for(peer, float(rest))
    if word == "save":
        return save(peer, rest)
    if word == "memory":
        return f"memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}"
    raise ValueError(f"no such request: {line}")


def read_input(argument):
    name, _, path = argument.rpartition(":")
    return name, numpy.load(path)


def serve(name, model, threads, tensors):
    outputs = [t[1:] for t in tensors if t.startswith("=")]
    start = time.perf_counter()
    peer = PEERS[name](model, int(threads), outputs)
    loaded = (time.perf_counter() - start) * 1e3
    peer.set_inputs([read_input(t) for t in tensors if not t.startswith("=")])
    print(f"loaded {loaded:.4f}", flush=True)
    for line in sys.stdin:
        print(obey(peer, line.strip()), flush=True)


def main(args):
    try:
        serve(args[0], args[1], args[2], args[3:])
    except Exception as error:  # pylint: disable=broad-except
        print("error", " ".join(str(error).split())[:200], flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
