"""The four papers' studies at size `paper`, with models of full size and random weights, on a few rows of everything.

    python -m benchmarks.rehearsal FOLDER --data ../shared/data --tokenizer ../shared/data/tokenizers/mbert-cased
    python -m benchmarks.rehearsal FOLDER --data … --tokenizer … --only adjustment --rows 40 --layers 2 --width 64

It shows that a study of that size runs from its first step to its page before weeks of a GPU are spent on it: its
settings, its kinds of steps, the memory of its models. In FOLDER it makes `data/` as the studies name their files, cut
from corpora with other names; models under their hub names; and each study with one seed and few languages. The scores
are those of random weights and mean nothing. A study that is done is not run again.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

STUDIES = Path(__file__).resolve().parents[1] / "studies"
LANGUAGES = {"adjustment": ["es"], "consistency": ["en", "de"], "structure": ["en", "de"], "geometry": ["en", "ru"]}
SOURCES = (
    (r"wikimatrix/WikiMatrix\.en-(\w+)\.tsv", r"parallel/software.en-\1.tsv.xz"),
    (r"xnli/multinli\.train\.(\w+)\.tsv", r"xnli/train9k-\1.tsv.xz"),
    (r"(xnli/(?:test|dev)-\w+\.tsv)", r"\1.xz"),
    (r"(panx/train-\w+\.tsv)", r"\1.xz"),
    (r"panx/test-(\w+)\.tsv", r"panx/dev-\1.tsv.xz"),
    (r"squad/(?:train|dev)-v1\.1\.json", "squad/train-v1.1-subset.json"),
    (r"tydiqa/tydiqa\.(\w+)\.dev\.json", r"xquad/xquad.\1.json"),
    (r"mlqa/test-(.*\.json)", r"mlqa/dev-\1.xz"),
    (r"pawsx/train-(\w+\.tsv)", r"pawsx/dev-\1"),
    (r"(.*)", r"\1"),
)
"""Which corpus stands for a file that a study of size `paper` names: the first pattern that fits."""


def source_of(name: str) -> str:
    """
    >>> source_of("panx/test-es.tsv"), source_of("xquad/xquad.es.json")
    ('panx/dev-es.tsv.xz', 'xquad/xquad.es.json')
    """
    pattern, found = next(pair for pair in SOURCES if re.fullmatch(pair[0], name))
    return re.sub(pattern, found, name, count=1)


def cut(source: Path, place: Path, rows: int) -> None:
    """A file's first rows: lines, sentences of a tagged file, or questions."""
    packed = lzma.open if source.suffix == ".xz" else open
    with packed(source, "rt", encoding="utf-8") as file:
        text = file.read()
    if ".json" in source.name:
        whole = json.loads(text)
        whole["data"] = [
            {**item, "paragraphs": [{**part, "qas": part["qas"][:2]} for part in item["paragraphs"][:1]]}
            for item in whole["data"][: max(rows // 2, 1)]
        ]
        text = json.dumps(whole, ensure_ascii=False)
    else:
        between = "\n\n" if source.parent.name == "panx" else "\n"
        text = between.join(text.split(between)[: rows + 1]) + between
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, "utf-8")


def merged(whole: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Tables are merged, all else takes the place of what was there, as sizes of a study have it."""
    both = {key: merged(whole[key], value) for key, value in over.items()
            if isinstance(value, Mapping) and isinstance(whole.get(key), Mapping)}  # fmt: skip
    return {**whole, **over, **both}


def rehearsed(name: str, rows: int) -> dict[str, Any]:
    """A study's size `paper` with one seed, few languages and few rows."""
    given = tomllib.loads((STUDIES / f"{name}.toml").read_text("utf-8"))
    study = merged({key: value for key, value in given.items() if key != "sizes"}, given["sizes"]["paper"])
    study.pop("published", None)
    spoken = LANGUAGES[name]
    study |= {"seeds": 1, "languages": spoken, "permutations": 100}

    def known(codes: list[str]) -> list[str]:
        return [code for code in codes if code in {*spoken, study["source"]}]

    for table in ("encoders", "tasks", "synth", "measures"):
        for each in study.get(table, {}).values():
            for key in {"languages", "sources"} & set(each):
                each[key] = known(each[key])
            each.pop("retrieval", None)
    study["encoders"] = {key: each for key, each in study["encoders"].items() if each.get("languages", spoken)}
    for each in study.get("tasks", {}).values():
        each["epochs"], each["batch"] = 1, 8
        if "through" in each:
            each["through"] = {code: other for code, other in each["through"].items() if code in spoken}
        if isinstance(each["tests"], dict):
            each["tests"] = {key: files for key, files in each["tests"].items()
                             if set(re.findall(r"\b[a-z]{2}\b", key.split(":")[0])) <= {*spoken, "en"}}  # fmt: skip
    for each in study.get("measures", {}).values():
        each["rows"] = rows
        if "against" in each:
            each["against"] = [pair for pair in each["against"] if set(pair) <= set(study["encoders"])]
    for each in study.get("synth", {}).values():
        each["rows"] = 8 * rows
    for each in study.get("geometry", {}).values():
        each |= {"about_rows": 4, "points": 40, "perplexity": 5, "epochs": 1, "every": 2, "span": 4}
    if "bitexts" in study:
        study.setdefault("adjust", {})["held_out"] = rows
    if "explanations" in study:
        study["explanations"]["ig"] |= {"rows": max(rows // 8, 2), "steps": 8, "tolerance": 1.0, "choices": False}
    return study


def toml(table: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[str]:
    """A nested mapping as TOML, its plain values before its tables."""
    if path:
        yield f"[{'.'.join(json.dumps(part) for part in path)}]"
    for key, value in table.items():
        if not isinstance(value, Mapping):
            yield f"{json.dumps(key)} = {inline(value)}"
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from toml(value, (*path, key))


def inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {inline(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def files_of(value: Any) -> Iterator[str]:
    """Every string that may name a file, in a table or list."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in value.items():
            if key not in ("model", "about", "name", "paper"):
                yield from files_of(each)
    elif isinstance(value, list):
        for each in value:
            yield from files_of(each)


def fetch(study: Mapping[str, Any], data: Path, corpora: Path, rows: int) -> None:
    """Put there what the study names, cut from what stands for it."""
    for template in files_of(study):
        for code in dict.fromkeys((study["source"], *study["languages"])):
            name = template.replace("{language}", code).replace("{source}", code)
            source, place = corpora / source_of(name), data / name
            if place.exists() or not source.exists():
                continue
            if source.is_dir():
                place.symlink_to(source.resolve())
            else:
                # Words of one sentence are no unrelated words: distances need more of them.
                cut(source, place, 8 * rows if source.parent.name == "parallel" else rows)


def model(name: str, folder: Path, tokenizer: Path, *, layers: int | None, width: int | None) -> None:
    """A model of the named one's shape with random weights, and the tokenizer that there is."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertModel

    large = name.endswith("large")
    wide = width or (1024 if large else 768)
    pieces = AutoTokenizer.from_pretrained(tokenizer)
    vocabulary = 250_002 if name.startswith("xlm") and width is None else len(pieces)
    torch.manual_seed(0)
    config = BertConfig(vocab_size=vocabulary, hidden_size=wide, num_hidden_layers=layers or (24 if large else 12),
                        num_attention_heads=wide // 64 or 1, intermediate_size=4 * wide)  # fmt: skip
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    pieces.save_pretrained(folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--only", nargs="+", choices=list(LANGUAGES), default=list(LANGUAGES))
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--layers", type=int, help="in place of the models' own")
    parser.add_argument("--width", type=int, help="in place of the models' own")
    args = parser.parse_args()
    (args.folder / "data").mkdir(parents=True, exist_ok=True)
    failed = []
    for name in args.only:
        study = rehearsed(name, args.rows)
        fetch(study, args.folder / "data", args.data, args.rows)
        for each in study["encoders"].values():
            if not (place := args.folder / each["model"]).is_dir():
                model(each["model"], place, args.tokenizer, layers=args.layers, width=args.width)
        file = args.folder / f"{name}.toml"
        file.write_text("\n".join([*toml(study), ""]), "utf-8")
        began = time.perf_counter()
        command = [
            sys.executable,
            "-m",
            "interlingua",
            "study",
            "run",
            str(file),
            "--data-root",
            str(args.folder / "data"),
        ]
        done = subprocess.run([*command, "--out", str(args.folder / f"run-{name}")], check=False)
        print(f"{name}: exit code {done.returncode}, {time.perf_counter() - began:.0f} s", flush=True)
        failed += [name] if done.returncode else []
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
