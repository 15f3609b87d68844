"""A fleet of machines that compiles models: what is simulated, step by step.

Time passes in three places. A client (Bazel) starts actions one after another. A store (the cache) sends inputs and
takes results; it and each machine's network do so first come, first served, at their bandwidth. A machine runs as many
actions at once as it has slots, in the measured time.
"""

import heapq
import random
from typing import Dict, List, NamedTuple, Set

from actions import Action


class Fleet(NamedTuple):
    """Machines, and what they are connected to. Bandwidths are in bytes a second."""

    machines: int
    slots: int = 8
    machine_bandwidth: float = 1.25e9  # 10 Gbit/s
    store_bandwidth: float = 12.5e9
    client_seconds: float = 0.008  # the client's own work for an action, inputs hashed
    keeps_files: bool = True  # whether a machine has an input that it had before
    failures_per_hour: float = 0.0  # of each machine
    repair_seconds: float = 300.0
    seed: int = 1


class Job(NamedTuple):
    """One action of the fleet."""

    model: int
    action: Action
    stored_bytes: int  # what it adds to the store


class Result(NamedTuple):
    """What a build cost."""

    seconds: float
    compute_seconds: float  # of all actions that ended well
    fetched_bytes: int
    stored_bytes: int
    actions: int
    lost_actions: int  # that a failure ended; they ran again


class _Line:
    """Something that serves one after another."""

    def __init__(self) -> None:
        self.free = 0.0

    def serve(self, now: float, seconds: float) -> float:
        """When work that comes now and takes so long is done."""
        self.free = max(self.free, now) + seconds
        return self.free


class _Machine:
    """A machine's network, what files it has, and when it fails next."""

    def __init__(self, fleet: Fleet, number: int) -> None:
        self._fleet = fleet
        self._chance = random.Random(fleet.seed * 1_000_003 + number)
        self.network = _Line()
        self.files: Set[int] = set()
        self.fails_at = self._next_failure(0.0)
        self.back_at = 0.0

    def _next_failure(self, now: float) -> float:
        rate = self._fleet.failures_per_hour / 3600
        return now + self._chance.expovariate(rate) if rate else float("inf")

    def fail(self) -> None:
        """It loses what it was doing and its files, and is back later."""
        self.back_at = self.fails_at + self._fleet.repair_seconds
        self.network = _Line()
        self.files.clear()
        self.fails_at = self._next_failure(self.back_at)

    def bytes_to_fetch(self, job: Job) -> int:
        tool = -1
        sizes = {tool: job.action.tool_bytes, job.model: job.action.model_bytes}
        return sum(size for file, size in sizes.items() if not (self._fleet.keeps_files and file in self.files))

    def keep(self, job: Job) -> None:
        self.files.update((-1, job.model))


def _transfer(fleet: Fleet, store: _Line, machine: _Machine, now: float, size: int) -> float:
    return max(
        store.serve(now, size / fleet.store_bandwidth),
        machine.network.serve(now, size / fleet.machine_bandwidth),
    )


def simulate(fleet: Fleet, jobs: List[Job]) -> Result:
    """Runs the jobs in their order, each on the machine that is free first."""
    store, client = _Line(), _Line()
    machines = [_Machine(fleet, number) for number in range(fleet.machines)]
    # The time at which a slot is free, and whose it is.
    slots = [(0.0, number) for number in range(fleet.machines) for _ in range(fleet.slots)]
    heapq.heapify(slots)
    waiting = list(reversed(jobs))
    end, compute, fetched, lost = 0.0, 0.0, 0, 0
    while waiting:
        now, number = heapq.heappop(slots)
        machine = machines[number]
        if now >= machine.fails_at:
            machine.fail()
        if now < machine.back_at:
            heapq.heappush(slots, (machine.back_at, number))
            continue
        job = waiting.pop()
        started = max(now, client.serve(now, fleet.client_seconds))
        size = machine.bytes_to_fetch(job)
        fetched += size
        ready = _transfer(fleet, store, machine, started, size)
        machine.keep(job)
        ran = ready + job.action.seconds
        if ran >= machine.fails_at:
            # Bazel asks for it again, on a machine that is there.
            waiting.append(job)
            lost += 1
            heapq.heappush(slots, (max(now, machine.fails_at), number))
            continue
        # The other direction of the network: results do not wait for inputs.
        done = ran + job.stored_bytes / min(fleet.machine_bandwidth, fleet.store_bandwidth)
        compute += job.action.seconds
        end = max(end, done)
        heapq.heappush(slots, (done, number))
    stored = sum(job.stored_bytes for job in jobs)
    # The store takes them no faster than it can, either.
    end = max(end, stored / fleet.store_bandwidth)
    return Result(end, compute, fetched, stored, len(jobs), lost)


def make_jobs(actions: List[Action], models: int, stored_share: float = 1.0) -> List[Job]:
    """So many models like the measured ones, for all of their targets; the store lacks a share of their sets."""
    by_model: Dict[str, List[Action]] = {}
    for action in actions:
        by_model.setdefault(action.model, []).append(action)
    kinds = list(by_model.values())
    return [
        Job(model, action, round(action.set_bytes * stored_share))
        for model in range(models)
        for action in kinds[model % len(kinds)]
    ]
