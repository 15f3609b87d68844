"""A call from Python costs little more than the same call from C.

That is two microseconds where a call of numpy that adds two such arrays takes a third of one, and
twice that where a call makes new arrays for its outputs. A slower machine, or one that is busy, may
take longer at all of them.
"""

import os
import subprocess
import time
import unittest

import ingot
import numpy as np

BATCHES, CALLS = 300, 1000  # as call_cost.c


def best(*calls):
    """Nanoseconds of each call in the best of many batches.

    Batches take turns, since a machine that others share is slower for seconds at a time.
    """
    least = [float("inf")] * len(calls)
    for _ in range(BATCHES):
        for i, call in enumerate(calls):
            begin = time.perf_counter_ns()
            for _ in range(CALLS):
                call()
            least[i] = min(least[i], (time.perf_counter_ns() - begin) / CALLS)
    return least


class CallCostTest(unittest.TestCase):
    def test_against_c(self):
        library = os.environ["LIBRARY"]
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        model = ingot.load(library)
        executor = model.executor()

        def packed():
            executor.set_input(0, x)
            executor.run()
            executor.output(0)

        packed()
        np.testing.assert_array_equal(executor.output(0), [[1, 4, 7], [7, 10, 13]])
        in_c = float(subprocess.run([os.environ["CALL_COST"], library], check=True, stdout=subprocess.PIPE).stdout)
        total = np.empty_like(x)
        in_python, run_alone, whole, in_numpy = best(
            packed, executor.run, lambda: model(x), lambda: np.add(x, x, out=total)
        )
        print(
            f"from C {in_c:.0f} ns; from Python {in_python:.0f} ns, of which run() is {run_alone:.0f} ns; "
            f"model(x), which copies its two outputs, {whole:.0f} ns; "
            f"numpy's add {in_numpy:.0f} ns"
        )
        most = max(2000, 6 * in_numpy)
        self.assertLess(in_python - in_c, most)
        self.assertLess(whole - in_c, 2 * most)  # Makes two arrays.


if __name__ == "__main__":
    unittest.main()
