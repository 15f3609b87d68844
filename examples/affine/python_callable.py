"""A function of this process as a region of a model: python_callable.py affine.relay

With PyTorch, `from_dlpack=torch.from_dlpack` hands the region's tensors to a module of PyTorch, uncopied.
"""

import sys

import ingot
import numpy as np


def double(x):
    print("double is called with", x.shape)
    return x * np.float32(2)


def relay_to_runtime(target, region):
    """The hook that each code generator has: from a region to artifacts."""
    return [ingot.InMemoryArtifact(region, double)]


backends = ingot.Backends()
backends.register_target(
    ingot.TargetKind(
        name="mine",
        operators=["mul"],
        supports=lambda target, node: None if node.inputs[1].is_constant else "only of a constant",
        relay_to_runtime=relay_to_runtime,
    )
)
artifacts = ingot.compile(sys.argv[1], target="mine,llvm", backends=backends)
y, count = artifacts.load()(np.arange(6, dtype=np.float32).reshape(2, 3))
print(*(f"{value:g}" for value in y.flat))

try:
    artifacts.save("affine.ingot")
except ingot.Error as error:
    print(error)
