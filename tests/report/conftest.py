import itertools
import random

import pytest

NAMES = {
    "en": "English", "es": "Spanish", "ru": "Russian", "vi": "Vietnamese", "hi": "Hindi", "de": "German",
    "fr": "French",
    "tr": "Turkish", "be": "Belarusian", "uk": "Ukrainian", "pl": "Polish", "zh": "Chinese", "ar": "Arabic",
    "pt": "Portuguese", "ja": "Japanese", "sw": "Swahili", "bn": "Bengali",
}  # fmt: skip
TEXTS = {
    "en": "The train to the coast leaves at seven.", "es": "El tren a la costa sale a las siete.",
    "ru": "Поезд к побережью уходит в семь.", "vi": "Chuyến tàu ra bờ biển khởi hành lúc bảy giờ.",
    "hi": "तट की ओर जाने वाली गाड़ी सात बजे छूटती है।", "de": "Der Zug an die Küste fährt um sieben.",
    "fr": "Le train pour la côte part à sept heures.", "tr": "Sahile giden tren yedide kalkıyor.",
    "be": "Цягнік да ўзбярэжжа адыходзіць а сёмай.", "uk": "Поїзд до узбережжя вирушає о сьомій.",
    "pl": "Pociąg na wybrzeże odjeżdża o siódmej.", "zh": "开往海边的火车七点出发。",
    "ar": "يغادر القطار إلى الساحل في السابعة.", "pt": "O trem para o litoral sai às sete.",
    "ja": "海岸行きの列車は七時に出ます。", "sw": "Treni ya pwani inaondoka saa moja.", "bn": "উপকূলের ট্রেন সাতটায় ছাড়ে।",
}  # fmt: skip
SKILL = dict(
    zip(
        NAMES, (1, 0.95, 0.85, 0.7, 0.55, 0.95, 0.97, 0.7, 0.6, 0.75, 0.8, 0.75, 0.65, 0.93, 0.7, 0.3, 0.4), strict=True
    )
)


def make_run(languages):
    return {
        "model": "lab/multilingual-small", "corpus": "sampler", "languages": list(languages),
        "names": {code: NAMES[code] for code in languages}, "skipped": ["3 duplicate rows", "2 empty cells (sw)"],
        "layers": 7, "pooling": "mean", "seconds": 41.27, "created": "2025-05-04T10:11:12Z",
    }  # fmt: skip


def make_records(languages, layers, *, seed=0, n=600):
    draw = random.Random(seed)
    shared = {"model": "lab/multilingual-small", "seed": seed, "n": n, "details": {}, "versions": {"numpy": "2.3"},
              "digests": {"model": "ab12" * 8, "corpus": "cd34" * 8}}  # fmt: skip
    records = []

    def add(measure, variant, pair, layer, value, **more):
        spread = {"low": value - 0.03, "high": value + 0.03, "null": None, "unit": "sentence"}
        place = {"measure": measure, "variant": variant, "source": pair[0], "target": pair[1], "layer": layer}
        records.append({**shared, **place, "value": value, **spread, **more})

    for source, target in itertools.combinations(languages, 2):
        pair = (source, target)
        skill = (SKILL[source] * SKILL[target]) + (0.08 if {source, target} <= {"ru", "be", "uk"} else 0)
        for layer in layers:
            bump = 1 - abs(layer - 4) / 7
            noise = draw.uniform(-0.02, 0.02)
            value = min(max(skill * bump + noise, 0), 1)
            for kind, share in (("raw", 0.75), ("centred", 1.0)):
                for way, less in (("", 0.0), ("/backward", 0.02)):
                    found = max(share * value - less, 0)
                    add("retrieval", f"p@1/cosine/{kind}{way}", pair, layer, found, null=1 / n)
                    add("retrieval", f"mrr/csls/{kind}{way}", pair, layer, min(found + 0.1, 1), null=0.01)
            add("cka", "debiased", pair, layer, 0.9 * value, null=0.001)
            add("cka", "plain", pair, layer, 0.5 + 0.4 * value, null=0.43)
            add("procrustes", "p@1/mapped", pair, layer, min(value + 0.05, 1), null=0.01, n=120)
            add("procrustes", "p@1/identity", pair, layer, 0.8 * value, null=0.01, n=120)
            related = [round(400 * 2.718 ** (-((b - 10 - 8 * (1 - value)) ** 2) / 40)) for b in range(40)]
            unrelated = [round(400 * 2.718 ** (-((b - 26) ** 2) / 40)) for b in range(40)]
            details = {"edges": [b / 40 for b in range(41)], "related": related, "unrelated": unrelated}
            add("separation", "auc/cosine", pair, layer, 0.5 + value / 2, null=0.5, details=details, unit="word")
        for side, code in (("source", source), ("target", target)):
            fertility = 2.9 - 1.6 * SKILL[code]
            add("tokenization", f"fertility/{side}", pair, None, fertility, unit="token")
            add("tokenization", f"continued/{side}", pair, None, fertility / 4, unit="token")
            add("tokenization", f"unknown/{side}", pair, None, 0.001, unit="token")
        add("tokenization", "overlap", pair, None, skill / 2, low=None, high=None, unit="token")
        add("tokenization", "agreement", pair, None, 0.6 + skill / 3, null=0.5, unit="token")
        add("spelling", "tnld", pair, None, max(0.8 - 0.7 * skill, 0), null=0.85, unit="name")
    for code in languages:
        for layer in layers:
            add("isotropy", "average-cosine", (code, None), layer, 0.2 + 0.08 * layer, unit="word")
            add("isotropy", "isoscore", (code, None), layer, 0.3 - 0.02 * layer, null=0.57, unit="word")
    return records


def make_points(languages, rows, *, seed=0):
    draw = random.Random(seed)
    points = []
    centre = {row: (draw.gauss(0, 1.3), draw.gauss(0, 1)) for row in range(rows)}
    for at, code in enumerate(languages):
        for row in range(rows):
            x, y = (place + draw.gauss(0, 0.25) + (1 - SKILL[code]) * (1 + at % 3) for place in centre[row])
            points.append({"x": x, "y": y, "language": code, "row": row, "text": f"{TEXTS[code]} ({row})"})
    return {"method": "pca", "layer": 4, "points": points}


@pytest.fixture(scope="session")
def languages():
    return list(NAMES)


@pytest.fixture(scope="session")
def records(languages):
    return make_records(languages, range(7))


@pytest.fixture(scope="session")
def run(languages):
    return make_run(languages)


@pytest.fixture(scope="session")
def points(languages):
    return make_points(languages, 60)


@pytest.fixture(scope="session")
def make():
    return make_records, make_run, make_points
