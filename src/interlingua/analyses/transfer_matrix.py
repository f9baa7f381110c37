"""Trained on each language, tested on all, watched on the way: matrices, curves, errors against spelling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import rankdata

from interlingua.analyses.synthesis import ALL, Spellings, Synthetic, spellings
from interlingua.encoder import Encoder
from interlingua.encoder.inputs import Inputs
from interlingua.errors import InputError
from interlingua.languages import script
from interlingua.measures.curves import (
    Correlations,
    CurveClustering,
    cluster_curves,
    correlations,
    differences,
    pool_runs,
)
from interlingua.metric import Metric, Metrics
from interlingua.readers.examples import Examples, TaggedWords
from interlingua.record import Made, Record, versions
from interlingua.score import Score
from interlingua.stats import Association, association_of_pairs, mantel
from interlingua.tasks.ner import Ner, TagPredictions, wrong_sentences
from interlingua.tasks.saved_models import FineTuned
from interlingua.training.journal import Monitor
from interlingua.training.monitors import (
    CKA_WORDS,
    COARSE,
    COSINE,
    SHARE,
    Budget,
    MonitorSchedule,
    Sample,
    Similarities,
    cadence,
    curve,
)
from interlingua.training.phases import Phase
from interlingua.training.regime import regime

MEASURE, WRONG = "pairwise", "wrong"


SIMILARITY = "similarity"
WRONG_METRICS = Metrics(
    (
        Metric(
            name="wrong",
            title="Sentences with a wrong tag",
            higher_is_better=False,
            display="percent",
            null="its own tags, shuffled among sentences",
            options={"of": ("sentence",)},
            headline=True,
        ),
    )
)
SIMILARITY_METRICS = Metrics(
    (
        Metric(
            name="cosine", title="Mean cosine of two words", higher_is_better=None, range=(-1.0, 1.0), headline=True
        ),
        Metric(name="retrieval", title="Mean reciprocal rank (MRR)", null="chance: the mean of 1 / rank"),
        Metric(name="cka", title="Linear CKA", range=(-1.0, 1.0), null="unrelated rows"),
        Metric(name="separation", title="Translations nearer than other words (AUC)", null="chance: one half"),
    )
)


CANDIDATES = 64
"""Rows that a sample is taken from: how many of them are read is what the share allows."""


@dataclass(frozen=True)
class MonitorSettings:
    """What is watched while a model is fine-tuned, and for how much.

    `span` is over how many steps changes are taken (papers/003: 50); a run of fewer than twice as many takes half its
    steps. Cadence and rows are such that all costs at most `share` of the training, counted in tokens; `every` and
    `rows` fix them (the paper's: `every=1`), whatever the share is then. `layer` -1 is the last.
    """

    on: bool = True
    span: int = 50
    share: float = SHARE
    every: int | None = None
    rows: int | None = None
    layer: int = -1

    def span_of(self, steps: int) -> int:
        """The span for a run of that many steps: a number with divisors, so that there are cadences to choose from.

        >>> MonitorSettings().span_of(300), MonitorSettings().span_of(62), MonitorSettings(every=5).span_of(62)
        (50, 30, 30)
        """
        if steps >= 2 * self.span:
            return self.span
        half = max(steps // 2, 1)
        base = self.every or next(base for base in (10, 4, 1) if half >= base)
        return max(half - half % base, base)


@dataclass(frozen=True)
class MatrixTraining:
    """How a model is fine-tuned on one language for NER, the task alone, and what is watched meanwhile."""

    epochs: float
    learning_rate: float
    batch: int
    precision: str = "fp32"
    watch: MonitorSettings = field(default_factory=MonitorSettings)

    @property
    def phase(self) -> Phase:
        """The task alone, with what is said here in place of its own."""
        (own,) = regime("original", task=Ner.defaults).phases
        schedule = replace(own.schedule, epochs=self.epochs, learning_rate=self.learning_rate)
        return replace(own, parts=(replace(own.parts[0], batch=self.batch),), schedule=schedule)


def tagged_examples(synthetic: Synthetic, language: str, part: str = "train") -> Examples[TaggedWords]:
    """A part in a language as examples of NER; example i is the same in every language."""
    sentences = (filled for _, filled in synthetic.sentences(language, part))
    items = tuple(TaggedWords(one.words, one.tags) for one in sentences)
    if not items:
        raise InputError(f"no sentence to {part} on", value=language, remedy="Draw more rows.")
    return Examples(items, language, f"{language}.{part}")


@dataclass
class TaggedLanguages:
    """Parallel tagged sentences as an encoder reads them; each language is tokenised when it is asked for, once.

    Fine-tunings on several languages share one: nothing that reads it changes what it gives. The test sentences of all
    languages go through a model in one pass.
    """

    encoder: Encoder
    synthetic: Synthetic
    task: Ner = field(default_factory=Ner)
    _examples: dict[str, Examples[TaggedWords]] = field(default_factory=dict, repr=False)
    _inputs: dict[str, Inputs] = field(default_factory=dict, repr=False)

    @property
    def languages(self) -> tuple[str, ...]:
        return self.synthetic.languages

    def train_examples(self, code: str) -> Examples[TaggedWords]:
        """The sentences of a language to train on."""
        if code not in self._examples:
            self._examples[code] = tagged_examples(self.synthetic, code)
        return self._examples[code]

    @cached_property
    def test_examples(self) -> dict[str, Examples[TaggedWords]]:
        """The test sentences of every language."""
        return {code: tagged_examples(self.synthetic, code, "test") for code in self.languages}

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The tags; parallel sentences have those of one type in every language."""
        return self.task.labels(self.train_examples(self.languages[0]))

    def train_inputs(self, code: str) -> Inputs:
        """The sentences of a language to train on, as tokens."""
        if code not in self._inputs:
            self._inputs[code] = self._read(self.train_examples(code), training=True)
        return self._inputs[code]

    @cached_property
    def test_inputs(self) -> tuple[Inputs, list[tuple[str, slice]]]:
        """The test sentences of all languages as one list of inputs, and which words of it are each language's."""
        whole = tuple(item for examples in self.test_examples.values() for item in examples)
        counts = [sum(len(item.words) for item in examples) for examples in self.test_examples.values()]
        ends = list(accumulate(counts))
        places = [(code, slice(end - size, end)) for code, end, size in zip(self.languages, ends, counts, strict=True)]
        return self._read(Examples(whole, "mul", "test sentences of all languages"), training=False), places

    def _read(self, examples: Examples[TaggedWords], *, training: bool) -> Inputs:
        return self.task.inputs(examples, self.encoder, labels=self.labels, training=training)

    def left_out(self, sources: Sequence[str]) -> list[str]:
        """Descriptions of what could not be read of the languages of training, and of the tests."""
        notes = [f"{code}.train: {skip}" for code in sources for skip in self.train_inputs(code).skipped]
        return notes + [f"test sentences of all languages: {skip}" for skip in self.test_inputs[0].skipped]

    def watched(self, model: torch.nn.Module, sources: Sequence[str], training: MatrixTraining) -> MonitoredSample:
        """What is watched of a model that is not trained yet.

        In every run the same rows at the same steps: as that of the run on one of `sources` with the fewest tokens.
        """
        schedule, batch = training.phase.schedule, training.batch
        read = [self.train_inputs(source) for source in sources]
        return MonitoredSample.of(
            training.watch,
            {code: [" ".join(item.words) for item in its] for code, its in self.test_examples.items()},
            self.encoder,
            model,
            steps=min(schedule.settings(-(-len(inputs) // batch)).steps for inputs in read),
            tokens_a_step=min(float(inputs.lengths.mean()) * min(batch, len(inputs)) for inputs in read),
            precision=training.precision,
        )

    def record(self, source: str, seed: int, measure: str) -> Record:
        """What all records of a measure of one fine-tuning share."""
        tested = " ".join(f"{code} {examples.digest}" for code, examples in self.test_examples.items())
        digests = {
            "model": self.encoder.digest,
            "train": self.train_examples(source).digest,
            "test": blake2b(tested.encode(), digest_size=16).hexdigest(),
        }
        return Record(
            measure=measure, model=self.encoder.name, source=source, seed=seed, digests=digests, versions=versions()
        )

    def wrong(self, tuned: FineTuned, source: str, seed: int, *, precision: str) -> Made:
        """The wrong sentences of a model fine-tuned on `source` in every language: one pass, one record a language."""
        inputs, places = self.test_inputs
        said = self.task.predict(tuned.model, inputs, labels=self.labels, precision=precision)
        shared = self.record(source, seed, MEASURE)
        made: Made = []
        for code, words in places:
            examples = self.test_examples[code]
            score = wrong_sentences(TagPredictions(said.labels, said.choice[words]), examples)
            assert score.items is not None
            about = {
                "wrong": int(score.items.sum()),
                "untagged": float(np.mean([any(tag != "O" for tag in item.tags) for item in examples])),
                "by_type": _by_type(examples, score.items),
            }
            own = {"target": code, "unit": "example", "corpus": examples.name, "details": about}
            made.append((shared.scored(WRONG_METRICS, "wrong/sentence", score, **own), score.items))
        return made


def _by_type(examples: Examples[TaggedWords], wrong: NDArray[Any]) -> dict[str, list[int]]:
    """Wrong and all sentences by the type of their entity; a sentence without one is under O."""
    found: dict[str, list[int]] = {}
    for item, missed in zip(examples, wrong.tolist(), strict=True):
        kind = next((tag[2:] for tag in item.tags if tag != "O"), "O")
        counts = found.setdefault(kind, [0, 0])
        counts[0] += int(missed)
        counts[1] += 1
    return found


@dataclass(frozen=True)
class MonitoredSample:
    """A sample that is watched in runs of one length; the same for every language of training."""

    watch: MonitorSettings
    similarities: Similarities
    cadence: MonitorSchedule
    span: int

    @classmethod
    def of(
        cls,
        watch: MonitorSettings,
        texts: Mapping[str, Sequence[str]],
        encoder: Encoder,
        model: torch.nn.Module,
        *,
        steps: int,
        tokens_a_step: float,
        precision: str,
    ) -> MonitoredSample:
        """What is watched of a model that is not trained yet, on the first rows of `texts`."""
        most = max(CANDIDATES, watch.rows or 0)
        whole = Sample.of(encoder, {code: column[:most] for code, column in texts.items()})
        span = watch.span_of(steps)
        budget = Budget(steps, tokens_a_step, watch.share, recorded=encoder.device.type == "cuda")
        chosen = cadence(whole, budget, span=span, every=watch.every, rows=watch.rows)
        sample = whole.first(chosen.rows)
        return cls(watch, Similarities.of(sample, model, layer=watch.layer, precision=precision), chosen, span)

    def monitors(self, source: str) -> tuple[Monitor, Monitor]:
        """The monitors of a run on one language."""
        return self.similarities.monitors(self.cadence, pivot=source)

    def records(self, metrics: Sequence[Mapping[str, Any]], shared: Record) -> Made:
        """The curves of a run as records like `shared`: the value is the last one, the curve is in `details`."""
        sample, start = self.similarities.sample, self.similarities.alignment(pivot=str(shared.source))
        nulls = {
            COSINE: 0.0,
            "retrieval": float((1 / np.arange(1, len(sample) + 1)).mean()),
            "cka": 0.0,
            "separation": 0.5,
        }
        made: Made = []
        for variant in (COSINE, *COARSE):
            for code, words in zip(sample.languages, sample.word_counts.tolist(), strict=True):
                name = f"{variant} {code}"
                if variant in ("retrieval", "separation") and code == shared.source:
                    continue  # A language is no translation of itself.
                begun = self.similarities.begun[name] if variant == COSINE else start[name]
                steps, values = curve(metrics, name, begun)
                counts = {COSINE: words, "cka": min(words, CKA_WORDS)}
                about = {
                    "steps": steps,
                    "values": values,
                    "span": self.span,
                    "every": self.cadence.every if variant == COSINE else self.cadence.coarse,
                    "rows": len(sample),
                    "share": round(self.cadence.share, 6),
                }
                own = replace(
                    shared,
                    target=code,
                    unit="word" if variant in counts else "sentence",
                    pooling="mean",
                    layer=self.similarities.forward.layers[0],
                )
                score = Score(values[-1], counts.get(variant, len(sample)), nulls[variant], details=about)
                made.append((own.scored(SIMILARITY_METRICS, variant, score), None))
        return made


Floats = NDArray[np.float64]


def transfer_matrix(records: Sequence[Record], languages: Sequence[str]) -> Floats:
    """The share of wrong sentences, (language of training, language of test), mean over seeds; nan where none is."""
    cells = {cell: np.mean([record.value for record in its]) for cell, its in _by_cell(records).items()}
    return np.array([[cells.get((source, target), np.nan) for target in languages] for source in languages])


@dataclass(frozen=True)
class Scatter:
    """Wrong sentences against how alike names are spelled: a point for each ordered pair of languages, and how they go.

    Points have `source`, `target`, `tnld`, `wrong` (a share, mean over seeds), `low`, `high` and `n` (sentences).
    `rho` is Mantel's, as everywhere: p and interval allow for shared languages. `within` is the same with held whether
    both languages are written in one script; None where all are, or none, or where that explains all of a side.
    """

    points: list[dict[str, Any]]
    rho: Association
    within: Association | None


def against_spelling(
    records: Sequence[Record], spelled: Spellings, *, type: str = ALL, permutations: int = 9999, seed: int = 0
) -> Scatter:
    """papers/003 Fig. 5: the share of wrong sentences against TNLD, over all pairs of two languages.

    `type` is whose names are compared; where a set has one type alone, that one. Needs a fine-tuning on every language.
    """
    languages = spelled.languages
    wrong = transfer_matrix(records, languages)
    missing = [source for source, row in zip(languages, wrong, strict=True) if np.isnan(row).any()]
    if missing:
        raise InputError(
            "no fine-tuning on", value=", ".join(missing), remedy="Fine-tune on every language of the set."
        )
    apart = ~np.eye(len(languages), dtype=bool)
    if len(languages) > 2 and np.ptp(wrong[apart]) == 0:
        raise InputError(
            "every pair has the same share of wrong sentences", value=float(wrong[apart][0]), remedy="Train longer."
        )
    named = type if type in spelled.scores else next(iter(spelled.scores))
    far = np.array(spelled.matrix(named))
    if len(languages) > 2 and np.ptp(far[apart]) == 0:
        raise InputError("names are spelled alike in every pair", value=float(far[apart][0]), remedy="Take others.")
    cells = _by_cell(records)
    points = []
    for row, source in enumerate(languages):
        for column, target in enumerate(languages):
            if source != target:
                its = cells[source, target]
                own = {"low": its[0].ci_low, "high": its[0].ci_high} if len(its) == 1 else _over_seeds(its)
                points.append(
                    {
                        "source": source,
                        "target": target,
                        "tnld": float(far[row, column]),
                        "wrong": float(wrong[row, column]),
                        **own,
                        "n": its[0].n,
                    }
                )
    rho = association_of_pairs(mantel(far, wrong, ranks=True, permutations=permutations, seed=seed))
    written = np.array([script(code) for code in languages])
    same = (written[:, None] == written[None, :]).astype(np.float64)
    alike = same[apart]
    within = None
    # Where scripts alone decide a side nothing is left to correlate.
    if alike.min() < alike.max() and all(
        abs(np.corrcoef(rankdata(side[apart]), alike)[0, 1]) < 1 - 1e-9 for side in (far, wrong)
    ):
        within = association_of_pairs(mantel(far, wrong, given=same, ranks=True, permutations=permutations, seed=seed))
    return Scatter(points, rho, within)


def _over_seeds(its: Sequence[Record]) -> dict[str, float]:
    values = [record.value for record in its]
    return {"low": min(values), "high": max(values)}


@dataclass(frozen=True)
class Changes:
    """How the average cosines of languages changed in one fine-tuning (papers/003 Fig. 3).

    `values` and `changes` are (step, language), `steps` and `begun` their steps; `span` is over how many steps a change
    is taken.
    """

    source: str
    languages: tuple[str, ...]
    steps: NDArray[np.int64]
    values: Floats
    begun: NDArray[np.int64]
    changes: Floats
    span: int


def changes_of(records: Sequence[Record], *, metric: str = "cosine", span: int | None = None) -> list[Changes]:
    """The curves of every fine-tuning that was watched, by language of training and seed, and their changes."""
    runs: dict[tuple[str, int | None], list[Record]] = {}
    for record in records:
        if (record.measure, record.metric) == (SIMILARITY, metric):
            runs.setdefault((str(record.source), record.seed), []).append(record)
    found = []
    for (source, _), its in runs.items():
        steps = np.array(its[0].details["steps"], np.int64)
        values = np.array([record.details["values"] for record in its]).T
        wide = span or int(its[0].details["span"])
        begun, changes = differences(steps, values, span=wide)
        spoken = tuple(str(record.target) for record in its)
        found.append(Changes(source, spoken, steps, values, begun, changes, wide))
    return found


@dataclass(frozen=True)
class CurveGroups:
    """How languages' changes go together over all fine-tunings, and which languages form groups (papers/003 Fig. 4)."""

    languages: tuple[str, ...]
    correlations: Correlations
    clustering: CurveClustering


def group_curves(runs: Sequence[Changes], *, groups: int = 2) -> CurveGroups:
    """The correlations of the languages' changes, all runs end to end, and their clustering."""
    if not runs:
        raise InputError("no fine-tuning was watched", remedy="Run it with its monitors on.")
    curves = pool_runs([run.changes for run in runs])
    if still := [
        code for code, spread in zip(runs[0].languages, np.ptp(curves, axis=0), strict=True) if spread < 1e-12
    ]:
        raise InputError("a curve that does not change", value=", ".join(still), remedy="Train longer.")
    found = correlations(curves)
    return CurveGroups(
        runs[0].languages, found, cluster_curves(found.matrix, groups=min(groups, len(runs[0].languages)))
    )


def _by_cell(records: Sequence[Record]) -> dict[tuple[str, str], list[Record]]:
    """The shares of wrong sentences, by language of training and of the test."""
    found: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if (record.measure, record.metric) == (MEASURE, WRONG):
            found.setdefault((str(record.source), str(record.target)), []).append(record)
    return found


GROUPS = 2
"""As papers/003 Fig. 4 sees them."""


def summarize_geometry(
    records: Sequence[Record], spelled: Spellings | None, *, seed: int = 0
) -> tuple[dict[str, Any], list[str]]:
    """Plain data for the report, and descriptions of what could not be concluded; `spelled` is how names are spelled.

    - `not_learnt`: the fine-tunings that did not learn the task, with their share of wrong sentences in the language of
      training and what chance gives (see `not_learnt`). They are left out of all that follows.
    - `changes`: for each language of training the changes of every language's average cosine (papers/003 Fig. 3).
    - `groups`: their correlations over all fine-tunings end to end, and their clustering (Fig. 4).
    - `scatter`: wrong sentences against the TNLD of the test part's names, with correlations (Fig. 5).
    """
    failed = not_learnt(records)
    found: dict[str, Any] = {"not_learnt": failed}
    notes = [f"the fine-tuning on {each['language']}, seed {each['seed']}, did not learn the task" for each in failed]
    without = {(each["language"], each["seed"]) for each in failed}
    fine_tuned = (MEASURE, SIMILARITY)
    records = [r for r in records if r.measure not in fine_tuned or (r.source, r.seed) not in without]
    try:
        found |= _movements(records)
    except InputError as error:
        notes.append(f"no correlations of changes: {error}")
    try:
        if spelled is None:
            raise InputError("names were not compared", remedy="Compare them first.")
        learnt = {str(r.source) for r in records if r.measure == MEASURE}
        lost = [code for code in spelled.languages if code in {own for own, _ in without} - learnt]
        kept = tuple(code for code in spelled.languages if code not in lost)
        if lost and len(kept) < 3:
            raise InputError(
                "the task was learnt in too few languages to correlate over", value=len(kept), remedy="Train longer."
            )
        scatter = against_spelling(records, replace(spelled, languages=kept), seed=seed)
        found["scatter"] = {
            "points": scatter.points,
            "rho": asdict(scatter.rho),
            "within": None if scatter.within is None else asdict(scatter.within),
            "left_out": lost,
        }
    except InputError as error:
        notes.append(f"no correlation with spelling: {error}")
    return found, notes


def not_learnt(records: Sequence[Record]) -> list[dict[str, Any]]:
    """The fine-tunings whose own language's test sentences are no less often wrong than by chance.

    Chance is the lower of two shares of wrong sentences: of the model's own answers dealt to other sentences (the
    record's null), and of no word tagged at all. A fine-tuning has learnt where the 95 % interval lies below it.
    """
    found = []
    for record in records:
        if (record.measure, record.metric) != (MEASURE, WRONG) or record.source != record.target:
            continue
        levels = [level for level in (record.null_value, record.details.get("untagged")) if level is not None]
        chance = min(levels, default=1.0)
        if record.ci_high is None or record.ci_high >= chance:
            about = {"language": record.source, "seed": record.seed, "wrong": record.value, "n": record.n}
            found.append({**about, "low": record.ci_low, "high": record.ci_high, "chance": chance})
    return found


def spellings_of_test(synthetic: Synthetic, *, seed: int = 0) -> Spellings:
    """TNLD over the names that the test part draws from, as papers/003 §4.2 takes it."""
    tables = [product.names for product in synthetic.parts["test"].products.values()]
    return spellings(tables, synthetic.languages, seed=seed)


def spellings_in(records: Sequence[Record], block: str) -> Spellings | None:
    """How names of a set are spelled, as records of it say; None where there are none."""
    scores: dict[str, dict[str, dict[tuple[str, str], Score]]] = {}
    languages: dict[str, None] = {}
    for record in records:
        if record.measure == "spelling" and record.aspect is not None and record.block == block:
            pair = (str(record.source), str(record.target))
            languages |= dict.fromkeys(pair)
            score = Score(record.value, record.n, record.null_value, record.ci_low, record.ci_high)
            scores.setdefault(record.aspect, {}).setdefault(record.metric, {})[pair] = score
    return Spellings(tuple(languages), scores) if scores else None


def _movements(records: Sequence[Record]) -> dict[str, Any]:
    """Changes of each run (the first seed's are drawn), and how languages' changes go together over all runs."""
    runs = changes_of(records)
    if not runs:
        return {}
    changes: dict[str, Any] = {}
    for run in runs:
        lines = {code: run.changes[:, place].tolist() for place, code in enumerate(run.languages)}
        changes.setdefault(run.source, {"steps": run.begun.tolist(), "lines": lines})
    found = group_curves(runs, groups=GROUPS)
    groups = {
        "languages": list(found.languages),
        "matrix": found.correlations.matrix.tolist(),
        "null": found.correlations.null.tolist(),
        "p": found.correlations.p.tolist(),
        "runs": len(runs),
        "order": found.clustering.order,
        "groups": found.clustering.groups,
        "merges": [list(merge) for merge in found.clustering.merges],
        "span": runs[0].span,
    }
    return {"changes": changes, "groups": groups}
