"""What a machine has for steps, CPUs, memory and GPUs by id, and what of it is taken."""

from __future__ import annotations

import os
from dataclasses import dataclass

from interlingua.engine.executors import Options
from interlingua.engine.process_setup import cpu_count
from interlingua.engine.step import Resources

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Allocation:
    """What a running step has of a machine."""

    cpus: int
    memory: int
    gpus: tuple[str, ...] = ()
    part: float = 1.0


@dataclass
class Machine:
    """What there is and what is left. A step that asks for more than there is gets all there is, and runs alone.

    >>> machine = Machine(2, 0, ("0", "1"))
    >>> half = machine.take(Resources(gpus=0.5))
    >>> whole = machine.take(Resources(gpus=1))
    >>> half.gpus, whole.gpus, machine.fits(Resources())
    (('0',), ('1',), False)
    >>> machine.give_back(whole)
    >>> machine.fits(Resources(gpus=0.5)), machine.fits(Resources(gpus=2))
    (True, False)
    """

    cpus: int
    memory: int
    gpus: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._cpus, self._memory = self.cpus, self.memory
        self._free = dict.fromkeys(self.gpus, 1.0)

    def fits(self, asked: Resources) -> bool:
        """Whether a step can begin now."""
        wanted = self._capped(asked)
        return wanted.cpus <= self._cpus and wanted.memory <= self._memory and self._choose(asked) is not None

    def take(self, asked: Resources) -> Allocation:
        """Take a step's share; call `fits` first."""
        capped, gpus = self._capped(asked), self._choose(asked)
        assert gpus is not None
        share = Allocation(capped.cpus, capped.memory, gpus, min(asked.gpus, 1.0))
        self._cpus -= share.cpus
        self._memory -= share.memory
        for gpu in share.gpus:
            self._free[gpu] -= share.part
        return share

    def give_back(self, share: Allocation) -> None:
        self._cpus += share.cpus
        self._memory += share.memory
        for gpu in share.gpus:
            self._free[gpu] += share.part

    def _capped(self, asked: Resources) -> Allocation:
        return Allocation(min(asked.cpus, self.cpus), min(asked.memory, self.memory))

    def _choose(self, asked: Resources) -> tuple[str, ...] | None:
        """The GPUs for a step; () where it needs none or there are none, None where too few are free now."""
        if not asked.gpus or not self.gpus:
            return ()
        if asked.gpus < 1:
            # The fullest that still has room, so that whole ones stay whole.
            room = [(free, gpu) for gpu, free in self._free.items() if free + _ROUNDING >= asked.gpus]
            return (min(room)[1],) if room else None
        count = min(int(asked.gpus), len(self.gpus))
        whole = [gpu for gpu, free in self._free.items() if free > 1 - _ROUNDING]
        return tuple(whole[:count]) if len(whole) >= count else None


def this_machine(options: Options, gpus: bool) -> Machine:
    """What this machine has, or what the user says of it; its GPUs are looked for only where a step wants one."""
    found = options.gpus if options.gpus is not None else visible_gpus() if gpus else ()
    return Machine(options.cpus or cpu_count(), _memory(), found)


def visible_gpus() -> tuple[str, ...]:
    """The ids of the GPUs this process may use, as CUDA_VISIBLE_DEVICES names them."""
    import torch

    count = torch.cuda.device_count()
    named = named_gpus()
    return named[:count] if named else tuple(map(str, range(count)))


def named_gpus() -> tuple[str, ...]:
    """The ids in CUDA_VISIBLE_DEVICES: what a step was given; none where it says nothing."""
    return tuple(name for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name)


def _memory() -> int:
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
