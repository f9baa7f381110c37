"""A Hugging Face dataset: `hf:NAME[:CONFIG[:SPLIT]]`, through the extra `datasets`.

Rows are objects of languages as in JSON Lines (`translation` included); FLORES' `sentence_eng_Latn`
is English. A dataset with several splits needs one named. Rows are streamed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from interlingua.corpus import ParallelCorpus
from interlingua.errors import InputError, MissingExtra
from interlingua.readers import readers
from interlingua.readers.corpus_builder import CorpusBuilder
from interlingua.readers.jsonl import gather_objects


@readers.register("hf", needs="name")
def hub(name: str, *, languages: Sequence[str] | None) -> ParallelCorpus:
    """A Hugging Face dataset, hf:NAME[:CONFIG[:SPLIT]]."""
    dataset, config, split, *rest = [*name.split(":"), "", ""]
    if not dataset or any(rest):
        raise InputError("not a dataset's name", value=f"hf:{name}", remedy="Write hf:NAME, or hf:NAME:CONFIG:SPLIT.")
    gathering = CorpusBuilder(f"hf:{name}", file=f"hf:{name}")
    rows = _rows(dataset, config or None, split or None)
    return gather_objects(enumerate(rows, start=1), gathering, languages=languages)


def _rows(dataset: str, config: str | None, split: str | None) -> Iterator[Mapping[str, Any]]:
    try:
        import datasets
    except ImportError:
        raise MissingExtra("datasets", "reading a Hugging Face dataset") from None
    try:
        splits = [split] if split else list(datasets.get_dataset_split_names(dataset, config))
        if len(splits) > 1:
            raise InputError(
                "the dataset has several splits",
                value=", ".join(splits),
                remedy=f"Name one: hf:{dataset}:{config or ''}:{splits[0]}",
            )
        for row in datasets.load_dataset(dataset, config, split=splits[0], streaming=True):
            yield {key.removeprefix("sentence_"): value for key, value in row.items()}
    except InputError:
        raise
    except Exception as error:  # The library raises its own kinds, and those of a dozen file systems.
        raise InputError(
            f"the dataset cannot be read ({type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''})",
            value=dataset,
            remedy="Check its name, configuration and split, and the connection.",
        ) from error
