"""One model called by many threads, and the cost of a call."""

import os
import threading
import time
import unittest

import ingot
import numpy as np


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

    def test_a_call_costs_little(self):
        executor = self.model.executor()
        executor.set_input(0, np.zeros((1, 3), np.float32))
        times = []
        for _ in range(50):
            start = time.perf_counter()
            for _ in range(1000):
                executor.run()
            times.append((time.perf_counter() - start) / 1000)
        print(f"executor.run(): {min(times) * 1e6:.2f} us")
        # The kernels take about half a microsecond; a machine may be busy.
        self.assertLess(min(times), 20e-6)


if __name__ == "__main__":
    unittest.main()
