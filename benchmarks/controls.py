"""Two random controls of consistency from the examples that a study kept: normal draws, and the own sizes dealt anew.

    python -m benchmarks.controls interlingua-study-consistency-small --data DIR [--draws 3] [--json]

Of every step of NLI or paraphrase that attributed texts, the attributions of its kept examples (200 a language) are
read, their tokens found again in DIR's files, and consistency and both controls computed in the space of the embedded
encoder's own input embeddings. A fine-tuned model's embeddings differ a little from these: the stored score, which is
in its own space, is printed beside. `dealt` is the control of `interlingua.attribution.consistency`.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from interlingua.analyses.published_numbers import read_published
from interlingua.attribution.consistency import WeightedUnits, consistency
from interlingua.encoder import Encoder
from interlingua.encoder.inputs import Inputs
from interlingua.stats import pearson
from interlingua.tasks import tasks

PUBLISHED = Path(__file__).resolve().parents[1] / "studies" / "published" / "consistency.tsv"
FILES = {"nli": "xnli/test-{}.tsv.xz", "paraphrase": "pawsx/test-{}.tsv"}


class Texts:
    """The tokens of a task's test files, read once a language."""

    def __init__(self, encoder: Encoder, task: str, data: Path) -> None:
        self._encoder, self._data = encoder, data
        self._task: Any = tasks[task].call()
        self._file = FILES[task]
        self._read: dict[str, Inputs] = {}
        tokenizer = encoder.tokenizer
        self._special = {tokenizer.cls_token_id, tokenizer.sep_token_id}

    def tokens(self, language: str, example: dict[str, Any], side: str) -> list[int] | None:
        """The token numbers of a kept example; None where its units are not found there."""
        if language not in self._read:
            examples = self._task.read(self._data / self._file.format(language), language)
            self._read[language] = self._task.inputs(examples, self._encoder, training=False)
        inputs, units = self._read[language], example[side]["units"]
        for row in (int(example["key"]), int(example["key"]) - 1):
            if 0 <= row < len(inputs):
                held = inputs.ids[inputs.starts[row] : inputs.starts[row + 1]].tolist()
                ids = [number for number in held if number not in self._special]
                names = self._encoder.tokenizer.convert_ids_to_tokens(ids)
                same = sum(name.removeprefix("##") == unit for name, unit in zip(names, units, strict=False))
                if len(ids) == len(units) and same > 0.8 * len(ids):
                    return ids
        return None


def measured(file: Path, texts: Texts, table: np.ndarray, draws: int) -> dict[str, Any]:
    """Consistency of one language's kept examples, what each control reaches, and what is above the own sizes dealt."""
    target = file.name.split(".")[0].partition("-")[2]
    source = file.name.split(".")[0].partition("-")[0]
    examples = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    found = [(each, texts.tokens(source, each, "source"), texts.tokens(target, each, "target")) for each in examples]
    known = [(each, (ours, theirs)) for each, ours, theirs in found if ours is not None and theirs is not None]
    sides = []
    for place, name in enumerate(("source", "target")):
        values = np.concatenate([each[name]["attributions"] for each, _ in known])
        ids = np.concatenate([np.array(tokens[place]) for _, tokens in known])
        starts = np.concatenate([[0], np.cumsum([len(tokens[place]) for _, tokens in known])])
        sides.append(WeightedUnits(values, table[ids], starts))
    result: dict[str, Any] = {"language": target, "examples": len(known), "not_found": len(examples) - len(known)}
    result["stored"] = float(np.mean([each["score"] for each, _ in known]))
    found_by = [consistency(*sides, seed=seed) for seed in range(draws)]
    reached = np.mean([each.random for each in found_by], axis=0)
    result |= {"consistency": float(found_by[0].scores.mean()), "dealt": float(reached.mean())}
    drawn = [np.random.default_rng(seed) for seed in range(draws)]
    normal = [[replace(side, values=draw.normal(size=len(side.values))) for side in sides] for draw in drawn]
    result["normal"] = float(np.mean([consistency(*both).scores.mean() for both in normal]))
    above = found_by[0].scores - reached
    result["above"] = float(above.mean())
    result["half_interval"] = float(1.96 * above.std(ddof=1) / np.sqrt(len(above)))
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path, help="a study's folder, or a run's of interlingua explain")
    parser.add_argument("--data", type=Path, required=True, help="folder with xnli/ and pawsx/")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    encoder = Encoder.load("embedded", device="cpu")
    found: Any = encoder.model.get_input_embeddings()
    table = found.weight.detach().numpy()
    for step in sorted(args.study.glob("steps/*/step.json")):
        settings = json.loads(step.read_text("utf-8")).get("settings", {})
        task = settings.get("task")
        files = sorted((step.parent / "examples").glob("*.label.jsonl"))
        if task not in FILES or not files:
            continue
        texts, every = Texts(encoder, task, args.data), []
        for file in files:
            languages = file.name.split(".")[0].split("-")
            if languages[0] == languages[-1]:
                continue
            told = {"task": task, "source": languages[0], **measured(file, texts, table, args.draws)}
            every.append(told)
            if args.json:
                print(json.dumps(told), flush=True)
                continue
            print(
                f"{task} {told['source']}–{told['language']}: {told['consistency']:.3f} (stored "
                f"{told['stored']:.3f}), normal {told['normal']:.3f}, dealt {told['dealt']:.3f}, above it "
                f"{told['above']:.3f} ± {told['half_interval']:.3f}; {told['examples']} examples, "
                f"{told['not_found']} not found",
                flush=True,
            )
        if not args.json and len(every) > 4:
            tell_performance(step.parent / "records.jsonl", "task", every)
            tell_performance(args.study / "records.jsonl", task, every)
            tell_paper(task, every)


def tell_performance(records: Path, measure: str, every: list[dict[str, Any]]) -> None:
    """How consistency, its control and what is above it go with accuracy over languages.

    Of the measure `task` that is accuracy on the explained examples; of the task's own name on the whole test sets.
    """
    if not records.is_file():
        return
    lines = [json.loads(line) for line in records.read_text("utf-8").splitlines()]
    wanted = (measure, "accuracy", every[0]["source"])
    kept = [each for each in lines if (each["measure"], each["metric"], each["source"]) == wanted]
    right, counts = {each["target"]: each["value"] for each in kept}, {each["n"] for each in kept}
    known = [told for told in every if told["language"] in right]
    accuracy = np.array([right[told["language"]] for told in known])
    for name in ("consistency", "dealt", "above") if len(known) > 4 else ():
        r, low, high = pearson(np.array([told[name] for told in known]), accuracy)
        of = f"accuracy on {max(counts)} examples, {len(known)} languages"
        print(f"  {name} and {of}: r = {r:.2f} ({low:.2f} to {high:.2f})", flush=True)


def tell_paper(task: str, every: list[dict[str, Any]]) -> None:
    """How the paper's numbers for mBERT go with the control, Chinese, which our tokenizer cuts up, left out."""
    published = {
        each.test: each.value
        for each in read_published(PUBLISHED)
        if (each.encoder, each.task, each.source, each.metric)
        == ("mbert", task, every[0]["source"], "consistency/label")
    }
    known = [told for told in every if told["language"] in published and told["language"] != "zh"]
    if len(known) > 3:
        sides = np.array([[told["dealt"], published[told["language"]]] for told in known]).T
        print(f"  dealt and the paper's mBERT, {len(known)} languages: r = {pearson(*sides)[0]:.2f}", flush=True)


if __name__ == "__main__":
    main()
