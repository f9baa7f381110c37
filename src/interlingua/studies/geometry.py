"""The geometry of a model's space before, during and after fine-tuning for NER on parallel names (papers/003)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from interlingua.analyses.entity_geometry import STATES, Look, LookSettings, Mentions, look, mentions
from interlingua.analyses.synthesis import Synthetic
from interlingua.encoder import Encoder
from interlingua.engine.atomic_files import write_text
from interlingua.engine.run_store import Store
from interlingua.errors import InputError
from interlingua.paths import read_json
from interlingua.record import Made
from interlingua.studies.pairwise import Pairwise, PairwiseSettings, Wanted, tagged_examples
from interlingua.tasks.saved_models import FineTuned
from interlingua.training.processes import is_first_process

Progress = Callable[[str, int, int], None]
TEST = "test"


@dataclass(frozen=True)
class GeometrySettings:
    """A whole study: what is looked at, how it is fine-tuned, the language of the maps after, and a name to follow.

    `about_rows` is the number of sentences of each type about the name `about` (papers/003 §3.2: 100).
    """

    source: str = "en"
    about: str | None = None
    about_rows: int = 100
    looks: LookSettings = field(default_factory=LookSettings)
    training: PairwiseSettings = field(default_factory=PairwiseSettings)

    def plain(self) -> dict[str, Any]:
        """The settings of looks and training as one level of plain values."""
        looks, training = asdict(self.looks), asdict(self.training)
        watch = training.pop("watch")
        more = {f"watch_{name}": value for name, value in watch.items()}
        return {"about_rows": self.about_rows, **looks, **training, **more}


@dataclass
class Geometry:
    """A study with all its data made; `run` measures and trains what is not in the store yet.

    Looks at entities before fine-tuning, fine-tunes on every language under a monitor, looks again at the model that
    was fine-tuned on `settings.source`. `notes` are what was left out. `about`, where given, is written to the
    folder's run.json before anything else is, so that a study cut short is known as one; input that is refused before
    leaves nothing.
    """

    encoder: Encoder
    synthetic: Synthetic
    settings: GeometrySettings
    store: Store
    progress: Progress | None = None
    notes: list[str] = field(default_factory=list)
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.synthetic.languages) < 2:
            raise InputError(
                "one language has nothing to be compared with",
                value=self.synthetic.languages[0],
                remedy="Give two or more.",
            )
        if self.settings.source not in self.synthetic.languages:
            raise InputError(
                "the language of fine-tuning is not in the set",
                value=self.settings.source,
                remedy=f"It has: {', '.join(self.synthetic.languages)}.",
            )
        count = len(self.encoder.layers)
        if wrong := [layer for layer in self.settings.looks.map_layers if not -count <= layer < count]:
            raise InputError(
                "no such layer", value=wrong[0], remedy=f"There are 0 (the embedding output) to {count - 1}."
            )

    @cached_property
    def sets(self) -> tuple[Mentions, ...]:
        """What is looked at: the entities of the test part, and the sentences about one name where it is asked for."""
        made, asked = self.synthetic, self.settings
        found = [mentions(made.parts["test"], made.languages, name=TEST)]
        if asked.about is not None:
            sample = made.about(asked.about, asked.about_rows)
            short = len({row.kind.type for row in sample.rows}) * asked.about_rows - len(sample)
            if short:
                self.notes.append(f"about {asked.about}: {short} sentences fewer, for want of contexts")
            found.append(mentions(sample, made.languages, name=f"about {asked.about}"))
        return tuple(found)

    @cached_property
    def pairwise(self) -> Pairwise:
        """The fine-tunings, with the second look among what is measured of the one on `source`."""
        made = Pairwise(
            self.encoder, self.synthetic, self.settings.training, self.store, progress=self.progress, notes=self.notes
        )
        made.also = {self.settings.source: [self._second(given, made) for given in self.sets]}
        return made

    @property
    def steps(self) -> list[str]:
        """The keys of all that is to be in the store."""
        return [self._key(given, STATES[0]) for given in self.sets] + self.pairwise.steps

    def run(self) -> None:
        """Look, fine-tune under the monitor, look again; a study that was killed goes on where it was."""
        pairwise = self.pairwise  # Made first: what is wrong with the settings is told before any work.
        self.look_before()
        pairwise.run()

    def look_before(self) -> None:
        """Look at the model as it came, where that is not in the store yet."""
        for given in self.sets if is_first_process() else ():  # The first of several looks for all.
            key = self._key(given, STATES[0])
            if not self.store.done(key) or not self._has_maps(key):
                made = self._look(self.encoder, given, key, STATES[0])
                if not self.store.done(key):
                    self.store.append(key, made)

    def maps(self) -> list[dict[str, Any]]:
        """The maps of every set and state that are there, before and after."""
        keys = [self._key(given, STATES[0]) for given in self.sets]
        keys += [each.key for each in self.pairwise.also[self.settings.source]]
        return [_maps_in(file) for key in keys if (file := self._map_file(key)).is_file()]

    def pieces(self) -> dict[str, list[str]]:
        """How the tokenizer cuts the name that is followed, in each language (papers/003 §3.2)."""
        if len(self.sets) < 2:
            return {}
        tokenizer = self.encoder.tokenizer
        return {code: list(tokenizer.tokenize(own[0].name)) for code, own in self.sets[1].by_language.items()}

    def _second(self, given: Mentions, pairwise: Pairwise) -> Wanted:
        asked = self.settings
        train = tagged_examples(self.synthetic, asked.source, rows=asked.training.train_rows)
        training = [train.digest, repr(asked.training.phase), asked.training.seeds[0], pairwise.precision]
        key = self._key(given, STATES[1], *training)

        def measure(tuned: FineTuned) -> Made:
            # In float32 as before, whatever the precision of the training.
            inside = Encoder.of(tuned.model.base_model, self.encoder.tokenizer, name=self.encoder.name)
            return self._look(inside, given, key, STATES[1])

        return Wanted(key, f"{given.name}, {STATES[1]}", measure)

    def _look(self, encoder: Encoder, given: Mentions, key: str, state: str) -> Made:
        """The records of a look; its maps are written first, so that a step that is done has them."""
        found: Look = look(
            encoder,
            given,
            self.settings.looks,
            state=state,
            source=self.settings.source if state == STATES[1] else None,
            digest=self.encoder.digest,
            progress=self.progress,
        )
        self.notes += found.notes
        if self.about and not (self.store.folder / "run.json").is_file():
            write_text(self.store.folder / "run.json", json.dumps(self.about, ensure_ascii=False, indent=1))
        write_text(self._map_file(key), json.dumps(found.maps, ensure_ascii=False))
        return found.made

    def _has_maps(self, key: str) -> bool:
        """Whether the maps of a look are there, and whole; damaged ones are drawn anew."""
        try:
            return bool(read_json(self._map_file(key)))
        except (OSError, ValueError):
            return False

    def _map_file(self, key: str) -> Path:
        return self.store.folder / "maps" / f"{key}.json"

    def _key(self, given: Mentions, state: str, *more: object) -> str:
        """A key of all that decides a look's records and maps."""
        about = ["geometry", 1, self.encoder.digest, given.name, given.digest, asdict(self.settings.looks), state, more]
        return hashlib.blake2b(json.dumps(about, default=str).encode(), digest_size=12).hexdigest()


def _maps_in(file: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = read_json(file)
    except (OSError, ValueError) as error:
        raise InputError(
            f"maps cannot be read ({type(error).__name__})", file=file, remedy="Remove the folder of that run."
        ) from error
    return found
