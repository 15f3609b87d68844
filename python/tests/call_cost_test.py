"""A call from Python costs little more than the same call from C.

That is two microseconds where a call of numpy that adds two such arrays takes a third of one; a
slower machine, or one that is busy, may take longer at both.
"""

import os
import subprocess
import time
import unittest

import ingot
import numpy as np

BATCHES, CALLS = 300, 1000  # as call_cost.c


def best(call):
    """Nanoseconds of a call in the best of many batches."""
    least = float("inf")
    for _ in range(BATCHES):
        begin = time.perf_counter_ns()
        for _ in range(CALLS):
            call()
        least = min(least, (time.perf_counter_ns() - begin) / CALLS)
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
        in_python = best(packed)
        run_alone = best(executor.run)
        whole = best(lambda: model(x))
        total = np.empty_like(x)
        in_numpy = best(lambda: np.add(x, x, out=total))
        print(
            f"from C {in_c:.0f} ns; from Python {in_python:.0f} ns, of which run() is {run_alone:.0f} ns; "
            f"model(x), which copies its two outputs, {whole:.0f} ns; "
            f"numpy's add {in_numpy:.0f} ns"
        )
        most = max(2000, 6 * in_numpy)
        self.assertLess(in_python - in_c, most)
        self.assertLess(whole - in_c, most)


if __name__ == "__main__":
    unittest.main()
