"""Tensors and functions of PyTorch, where it is installed (Debian's python3-torch)."""

import importlib.util
import os
import unittest

import ingot
import numpy as np

HAS_TORCH = importlib.util.find_spec("torch") is not None


@unittest.skipUnless(HAS_TORCH, "python3-torch is not installed")
class TorchTest(unittest.TestCase):
    def test_takes_its_tensors_where_they_are(self):
        import torch

        executor = ingot.compile(os.environ["AFFINE"]).load().executor()
        x = torch.zeros(1, 3)
        executor.set_input(0, x)
        x.fill_(4)
        executor.run()
        np.testing.assert_array_equal(executor.output(0), [[9, 10, 11]])

    def test_gives_it_results_where_they_are(self):
        import torch

        executor = ingot.compile(os.environ["AFFINE"]).load().executor()
        executor.set_input(0, torch.zeros(2, 3))
        executor.run()
        y = torch.from_dlpack(executor.export(0))
        self.assertEqual(y.tolist(), [[1, 2, 3], [1, 2, 3]])
        executor.set_input(0, torch.ones(2, 3))
        executor.run()
        self.assertEqual(y.tolist(), [[3, 4, 5], [3, 4, 5]])

    def test_runs_a_module_of_it_as_a_region(self):
        import torch

        layer = torch.nn.Hardtanh(0, 7)
        seen = []

        def add_and_clamp(x, y):
            seen.append(type(x))
            return layer(x + y)

        backends = ingot.Backends()
        backends.register_target(
            ingot.TargetKind(
                name="torch",
                operators=["add"],
                relay_to_runtime=lambda target, region: [
                    ingot.InMemoryArtifact(
                        region, add_and_clamp, from_dlpack=torch.from_dlpack
                    )
                ],
            )
        )
        model = ingot.compile(os.environ["AFFINE"], target="torch,llvm", backends=backends).load()
        with torch.no_grad():
            y = model(torch.full((1, 3), 5.0))[0]
        self.assertEqual(seen, [torch.Tensor])
        np.testing.assert_array_equal(y, [[7, 7, 7]])

    def test_gives_regions_bfloat16(self):
        import torch

        backends = ingot.Backends()
        backends.register_target(
            ingot.TargetKind(
                name="torch",
                operators=["neg"],
                relay_to_runtime=lambda target, region: [
                    ingot.InMemoryArtifact(region, torch.neg, from_dlpack=torch.from_dlpack)
                ],
            )
        )
        text = b"module { func @main(%x: bf16[2]) -> (%y) { %y = neg(%x) } }"
        executor = ingot.compile(text, target="torch,llvm", backends=backends).load().executor()
        executor.set_input(0, torch.tensor([1.5, -2.0], dtype=torch.bfloat16))
        executor.run()
        self.assertEqual(torch.from_dlpack(executor.export(0)).tolist(), [-1.5, 2.0])


if __name__ == "__main__":
    unittest.main()
