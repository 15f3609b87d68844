"""One model called by many threads."""

import os
import threading
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


if __name__ == "__main__":
    unittest.main()
