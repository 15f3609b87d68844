"""One model called by many threads."""

import os
import tempfile
import threading
import time
import unittest

import ingot
import numpy as np


PRODUCT = """module {{
  func @main(%x: f32[{n}, {n}], %w: f32[{n}, {n}]) -> (%y) {{
    %y = matmul(%x, %w)
  }}
}}"""


class ThreadsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = ingot.compile(os.environ["AFFINE"]).load()

    def test_threads_do_not_meet(self):
        wrong = []

        def work(seed):
            for i in range(200):
                x = np.full((seed + 1, 3), i, np.float32)
                y, count = self.model(x)
                if count != seed + 1 or not (y == 2 * x + np.array([1, 2, 3], np.float32)).all():
                    wrong.append((seed, i))

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


    def test_others_go_on_during_a_run(self):
        side = 2048
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "product.relay")
            with open(path, "w") as file:
                file.write(PRODUCT.format(n=side))
            executor = ingot.compile(path, target="llvm").load().executor()
        for i in range(2):
            executor.set_input(i, np.ones((side, side), np.float32))
        executor.run()
        took = []

        def run():
            begin = time.perf_counter()
            executor.run()
            took.append(time.perf_counter() - begin)

        thread = threading.Thread(target=run)
        last, longest = time.perf_counter(), 0.0
        thread.start()
        while not took:
            now = time.perf_counter()
            last, longest = now, max(longest, now - last)
        thread.join()
        # This thread would wait from one end of the run to the other if that held Python's lock.
        self.assertLess(longest, took[0] / 2)
        self.assertEqual(executor.output(0)[5, 7], side)


if __name__ == "__main__":
    unittest.main()
