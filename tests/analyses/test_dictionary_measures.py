"""The dictionary level of an audit, and maps on disk, against a plain computation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes

from interlingua.analyses.space_measures import read_dictionaries
from interlingua.commands import audit as audit_command
from interlingua.encoder import Encoder
from interlingua.errors import InputError
from interlingua.readers import read_corpus


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dictionary of word pairs from the sampler, in MUSE's two files; the test part repeats a training word."""
    sampler = read_corpus("sampler", languages=["en", "es"])
    pairs = [
        (a.split()[0].strip(",.?!"), b.split()[0].strip("¿¡,.?!")) for a, b in zip(*sampler.texts.values(), strict=True)
    ]
    words = list(dict.fromkeys(pair for pair in pairs if all(pair)))
    known = {source for source, _ in words[:120]}
    fresh = [pair for pair in words[120:] if pair[0] not in known][:30]
    place = tmp_path / "muse"
    place.mkdir()
    place.joinpath("en-es.0-5000.txt").write_text("\n".join(f"{a}\t{b}" for a, b in words[:120]), "utf-8")
    place.joinpath("en-es.5000-6500.txt").write_text("\n".join(f"{a}\t{b}" for a, b in [words[0], *fresh]), "utf-8")
    return place


def test_dictionary_records_equal_scipy_and_a_loop(folder: Path) -> None:
    audit = audit_command.audit(languages=["en", "es"], measures=["tokenization"], dictionary=folder, rows=20)
    entries = read_dictionaries(folder, ["en", "es"], seed=0)[0]
    assert entries.dropped == 1
    encoder = Encoder.load()
    found = audit.records.where(measure="procrustes-dictionary", metric="p@1", map="mapped")
    assert [record.layer for record in found] == list(encoder.layers)
    sources = list(dict.fromkeys(a for a, _ in entries.train + entries.test))
    targets = list(dict.fromkeys(b for _, b in entries.train + entries.test))
    ours, theirs = encoder.encode(sources), encoder.encode(targets)
    for record in found[::4]:
        x, y = (np.asarray(side[record.layer], float) for side in (ours, theirs))
        x, y = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (x, y))
        left = np.array([sources.index(a) for a, _ in entries.train])
        right = np.array([targets.index(b) for _, b in entries.train])
        means = x[left].mean(0), y[right].mean(0)
        matrix, _ = orthogonal_procrustes(x[left] - means[0], y[right] - means[1])
        mapped, centred = (x - means[0]) @ matrix, y - means[1]
        mapped, centred = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (mapped, centred))
        valid: dict[str, set[str]] = {}
        for a, b in entries.test:
            valid.setdefault(a, set()).add(b)
        hits = [
            targets[int((centred @ mapped[sources.index(a)]).argmax())] in right_ones for a, right_ones in valid.items()
        ]
        assert record.value == pytest.approx(np.mean(hits), abs=1.5 / len(hits))
        assert record.n == len(hits)
        assert record.details["train"] == len(entries.train)


def test_a_dictionary_without_splits_is_split_by_source_word(tmp_path: Path) -> None:
    rows = [f"word{n} palabra{m}" for n in range(40) for m in (n, n + 100)]
    tmp_path.joinpath("en-es.txt").write_text("\n".join(rows), "utf-8")
    entries = read_dictionaries(tmp_path, ["en", "es"], seed=3)[0]
    assert not {a for a, _ in entries.train} & {a for a, _ in entries.test}
    assert len(entries.train) == 64
    assert len(entries.train) + len(entries.test) == 80
    assert read_dictionaries(tmp_path, ["en", "es"], seed=3)[0] == entries
    assert read_dictionaries(tmp_path, ["en", "es"], seed=4)[0] != entries


def test_no_dictionary_between_the_languages_is_an_error(folder: Path) -> None:
    with pytest.raises(InputError, match=r"no dictionary between ru, vi\. Give files such as en-ru\.txt"):
        read_dictionaries(folder, ["ru", "vi"], seed=0)
