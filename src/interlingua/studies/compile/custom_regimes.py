"""Regimes that a study file brings: from its tables to phases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from interlingua.analyses.evaluation import CONTROLS
from interlingua.analyses.training_inputs import NEED_PAIRS, NO_PAIRS, known_objectives
from interlingua.analyses.transfer import TransferSettings, defaults_of, override_phase
from interlingua.errors import InputError
from interlingua.registry import unknown
from interlingua.studies.config.schema import PhaseTable, RegimeTable
from interlingua.training.phases import Freeze, Phase, PhaseObjective
from interlingua.training.regime import ADJUST, Regime, fine_tune
from interlingua.training.regime_names import MAPPED, REGIMES

TASK = "task"
MOVE_THE_BODY = ("drift", *NEED_PAIRS)


def own_regime(name: str, table: RegimeTable, *, task: str, settings: TransferSettings | None = None) -> Regime:
    """The regime that a table describes, for a task; what a phase leaves open is as `settings` and the task have it."""
    last = len(table.phases) - 1
    named = [TASK if place == last else f"adjust {place + 1}" for place in range(last + 1)]
    given = settings or TransferSettings()
    phases = [_phase(each, own, task, given) for each, own in zip(named, table.phases, strict=True)]
    return Regime(name, tuple(phases), table.mapped)


def _phase(name: str, table: PhaseTable, task: str, settings: TransferSettings) -> Phase:
    usual = fine_tune(defaults_of(task)) if name == TASK else ADJUST
    sizes = [defaults_of(task).batch if part.objective == TASK else 32 for part in table.parts]
    parts = tuple(
        PhaseObjective(part.objective, part.weight, part.batch_size or size, part.replacement, part.temperature)
        for part, size in zip(table.parts, sizes, strict=True)
    )
    freeze = Freeze() if table.freeze is None else Freeze(embeddings=True, blocks=table.freeze)
    made = override_phase(Phase(name, parts, usual, freeze), settings)
    if name != TASK and settings.adjusting is not None:  # What [adjust] says of the schedule holds here too.
        made = replace(made, schedule=settings.adjusting.schedule)
    said = ("epochs", "learning_rate", "warmup", "decay", "weight_decay")
    own = {key: value for key in said if (value := getattr(table, key)) is not None}
    both = [
        replace(part, weight=given.weight, batch=given.batch_size or part.batch)
        for part, given in zip(made.parts, table.parts, strict=True)
    ]
    # What the task's warm-up left of the decay is not this phase's, which may rise for longer or shorter.
    steps = {"steps": None} if "epochs" in own else {}
    schedule = replace(made.schedule, **{"decay": usual.decay, **own, **steps})
    return replace(made, parts=tuple(both), schedule=schedule.warmed(schedule.warmup))


def reads_bitexts(name: str, own: Mapping[str, RegimeTable]) -> bool:
    """Whether a regime, ours or the study's own, reads bitexts: to train on, or to fit a map on."""
    if name not in own:
        return name != "original"
    parts = [part.objective for phase in own[name].phases for part in phase.parts]
    return bool(own[name].mapped) or any(objective not in NO_PAIRS for objective in parts)


def maps(name: str, own: Mapping[str, RegimeTable]) -> bool:
    """Whether a regime, ours or the study's own, puts a map before a head."""
    return bool(own[name].mapped) if name in own else name == MAPPED


def check_regime(name: str, table: RegimeTable) -> None:
    """Refuse a regime that could not be trained: names, the place of the task, values."""
    if name in REGIMES:
        raise InputError("a regime of ours has this name", value=name, remedy="Give it another.")
    if not table.phases or not all(phase.parts for phase in table.phases):
        raise InputError(f"the regime {name} has a phase without parts", remedy="Give each an objective.")
    known = known_objectives()
    for place, phase in enumerate(table.phases):
        for part in phase.parts:
            if part.objective not in known:
                raise unknown("objective of a regime", part.objective, known)
        is_last = place == len(table.phases) - 1
        at = [number for number, part in enumerate(phase.parts) if part.objective == TASK]
        if at != ([0] if is_last else []):
            raise InputError(
                f"the task of the regime {name} is not the first part of its last phase, and there alone",
                remedy='End with a phase whose parts begin with {objective = "task"}.',
            )
        if not is_last and all(part.objective in NO_PAIRS for part in phase.parts):
            raise InputError(
                f"a phase before the task of {name} reads no linked text", remedy="Give it adjustment, say."
            )
    if isinstance(table.mapped, str) and table.mapped not in CONTROLS:
        raise unknown("control of a map", table.mapped, list(CONTROLS))
    if table.mapped and (len(table.phases) > 1 or len(table.phases[0].parts) > 1):
        raise InputError(
            f"{name} maps, and trains for more than its task", remedy="Give one phase with the task alone."
        )
    for phase in table.phases:
        _check_moved(name, phase)


def _check_moved(name: str, phase: PhaseTable) -> None:
    """Refuse a phase that freezes the whole body and trains for more than its head."""
    still = [part.objective for part in phase.parts if part.objective in MOVE_THE_BODY]
    if phase.freeze == -1 and still:
        raise InputError(
            f"a phase of {name} freezes the whole body, which {still[0]} is for",
            value=phase.freeze,
            remedy="Freeze fewer blocks, or train for the task alone.",
        )
