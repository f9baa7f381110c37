"""What a geometry study found, as tables in the manner of papers/003 and in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from interlingua.report.papers import PAPERS
from interlingua.report.tables import Ref, Table, Told
from interlingua.report.wording import language_name, number, p_value, percent, visible

Found = Mapping[str, Any]
STATES = ("before", "after")
LABELS = ("language", "type")
_PAPER = PAPERS["papers/003"].name


def sets_of(records: Sequence[Found]) -> list[str]:
    """The names of the sets of entities that were looked at, in order: the test part, then what is about a name."""
    return list(dict.fromkeys(each["corpus"] for each in records if each["measure"] == "clusters" and "corpus" in each))


def layers_of(records: Sequence[Found]) -> list[int]:
    """The layers that were looked at."""
    return sorted({each["layer"] for each in records if each["measure"] == "parallel-cosine"})


def last_layer(records: Sequence[Found]) -> int | None:
    """The last layer that was looked at, the output; None before the first look."""
    return next(reversed(layers_of(records)), None)


def places_of(records: Sequence[Found], first: int = 0) -> dict[int, int]:
    """The place of each record on a page where those of the run begin at `first`, by the record's `id()`."""
    return {id(record): place for place, record in enumerate(records, first)}


def looked(records: Sequence[Found], measure: str, variant: str, state: str, corpus: str) -> Iterator[Found]:
    """The records of one variant in one state of the model, of one set, at all layers."""
    return (
        each
        for each in records
        if (each["measure"], each["variant"], each.get("corpus")) == (measure, variant, corpus)
        and (each.get("details") or {}).get("state") == state
    )


def cosine_cells(
    records: Sequence[Found], state: str, corpus: str, layer: int | None, variant: str = "raw"
) -> dict[tuple[str, str], Found]:
    """The cosine records of every pair at a layer, both ways round."""
    found = {}
    for each in looked(records, "parallel-cosine", variant, state, corpus):
        if each["layer"] == layer:
            found[each["source"], each["target"]] = found[each["target"], each["source"]] = each
    return found


def cluster_value(records: Sequence[Found], variant: str, state: str, corpus: str, layer: int | None) -> Found | None:
    """The record of silhouette or purity at a layer, or None."""
    return next((each for each in looked(records, "clusters", variant, state, corpus) if each["layer"] == layer), None)


def wrong_cells(records: Sequence[Found]) -> dict[tuple[str, str], float]:
    """The share of wrong sentences for each language of training and of testing, averaged over seeds."""
    found = _wrong(records)
    return {pair: sum(each["value"] for each in its) / len(its) for pair, its in found.items()}


def wrong_places(records: Sequence[Found], first: int = 0) -> dict[tuple[str, str], tuple[int, ...]]:
    """The places of the records behind each share of `wrong_cells`: one a seed."""
    places = places_of(records, first)
    return {pair: tuple(places[id(each)] for each in its) for pair, its in _wrong(records).items()}


def _wrong(records: Sequence[Found]) -> dict[tuple[str, str], list[Found]]:
    found: dict[tuple[str, str], list[Found]] = {}
    for each in records:
        if (each["measure"], each["variant"]) == ("pairwise", "wrong/sentence"):
            found.setdefault((each["source"], each["target"]), []).append(each)
    return found


def all_tables(records: Sequence[Found], run: Found, found: Found, *, first: int = 0) -> list[Table]:
    """Every table there is something for; `found` is what was made of several records (`studies.concluding`).

    `first` is the place of the first record on the page, for what is behind each cell.
    """
    made = [*_cosines(records, run, first), *_clusters(records, first)]
    made += [
        table for table in (_pieces(run), _pairwise(records, run, first), _groups(found), _spelling(found)) if table
    ]
    return made


def _cosines(records: Sequence[Found], run: Found, first: int) -> Iterator[Table]:
    last, places = last_layer(records), places_of(records, first)
    codes = run["languages"]
    for corpus in sets_of(records):
        for state in STATES:
            cells = cosine_cells(records, state, corpus, last)
            if not cells:
                continue
            most = {
                one: max((cells[one, own] for own in codes if own != one), key=lambda c: c["null"]) for one in codes
            }
            rows = tuple(
                (
                    visible(one),
                    *(1.0 if one == other else cells[one, other]["value"] for other in codes),
                    most[one]["null"],
                )
                for one in codes
            )
            behind = tuple(
                (
                    None,
                    *(None if one == other else places[id(cells[one, other])] for other in codes),
                    places[id(most[one])],
                )
                for one in codes
            )
            yield Table(
                f"cosine-{_slug(corpus)}-{state}",
                f"Average cosine of parallel entities, {visible(corpus)}, {_state(state, run)}",
                f"Layer {last}, the output ({_PAPER}, Table 2). 'shuffled' is the largest that pairs of different "
                "entities of the row's language reach: only what is above it says anything.",
                ("", *(visible(code) for code in codes), "shuffled"),
                rows,
                behind,
            )


def _clusters(records: Sequence[Found], first: int) -> Iterator[Table]:
    layers = [layer for layer in layers_of(records) if layer in (0, last_layer(records))]
    places = places_of(records, first)
    rows: list[tuple[str | int | float | None, ...]] = []
    behind: list[tuple[Ref, ...]] = []
    for corpus in sets_of(records):
        for layer in layers:
            for label in LABELS:
                for variant in ("silhouette", "purity"):
                    sides = [cluster_value(records, f"{variant}/{label}", state, corpus, layer) for state in STATES]
                    if any(sides):
                        cells = [None if side is None else side["value"] for side in sides]
                        nulls = [None if side is None else side["null"] for side in sides]
                        rows.append((visible(corpus), layer, f"{variant} by {label}", *cells, *nulls))
                        own = [None if side is None else places[id(side)] for side in sides]
                        behind.append((None, None, None, *own, *own))
    if rows:
        yield Table(
            "clusters",
            "How far entities lie together",
            "By cosine, of the vectors themselves, not of the maps. Purity is the share of the 10 nearest that have "
            "the same label. Shuffled: what labels dealt at random read, before and after.",
            ("entities", "layer", "what", *STATES, "shuffled before", "shuffled after"),
            tuple(rows),
            tuple(behind),
        )


def _pieces(run: Found) -> Table | None:
    pieces = run.get("pieces") or {}
    rows = tuple((visible(code), len(cut), " ".join(visible(piece) for piece in cut)) for code, cut in pieces.items())
    title = f"How the tokenizer cuts {visible(str(run['about']))}" if rows else ""
    return Table("pieces", title, f"Sub-tokens ({_PAPER}, §3.2).", ("", "pieces", "cut"), rows) if rows else None


def _pairwise(records: Sequence[Found], run: Found, first: int) -> Table | None:
    cells, places = wrong_cells(records), wrong_places(records, first)
    codes = run["languages"]
    trained = [code for code in codes if any(code == source for source, _ in cells)]
    rows = tuple(
        (visible(source), *(cells.get((source, code)) for code in codes), _mean_of_others(cells, source))
        for source in trained
    )
    behind = tuple(
        (
            None,
            *(places.get((source, code)) for code in codes),
            tuple(at for (one, other), its in places.items() if one == source != other for at in its),
        )
        for source in trained
    )
    heads = ("trained on", *(visible(code) for code in codes), "others")
    caption = (
        f"The share of test sentences with a wrong tag ({_PAPER}, §4.2, counts them); 'others' without the language "
        "of training. No name and no context of the test sentences was trained on."
    )
    title = "Wrong sentences, by language of training"
    return Table("pairwise", title, caption, heads, rows, behind) if rows else None


def _mean_of_others(cells: Mapping[tuple[str, str], float], source: str) -> float | None:
    others = [value for (one, other), value in cells.items() if one == source and other != source]
    return sum(others) / len(others) if others else None


def _groups(found: Found) -> Table | None:
    together = found.get("groups")
    if not together:
        return None
    codes, matrix, null = together["languages"], together["matrix"], together["null"]
    rows = tuple(
        (
            visible(code),
            chr(ord("A") + together["groups"][at]),
            *matrix[at],
            max(null[at][other] for other in range(len(codes)) if other != at),
        )
        for at, code in enumerate(codes)
    )
    caption = (
        f"Pearson's r of the changes of the average cosine over {together['span']} steps, all fine-tunings end to end "
        f"({_PAPER}, Fig. 4); groups by average linkage. 'chance' is the largest mean |r| of the language's curve with "
        "another's shifted in time."
    )
    heads = ("", "group", *(visible(code) for code in codes), "chance")
    if len(codes) < 3:  # Two are cut into two groups whatever they do.
        caption = caption.replace("; groups by average linkage", "")
        heads, rows = (heads[0], *heads[2:]), tuple((row[0], *row[2:]) for row in rows)
    return Table("groups", "Languages that move together", caption, heads, rows)


def _told_p(p: float) -> Told:
    return Told(p_value(p).removeprefix("p = ").removeprefix("p "), {"": p})


def _spelling(found: Found) -> Table | None:
    scatter = found.get("scatter")
    if not scatter:
        return None
    rows = tuple(
        (
            name,
            scatter[key]["value"],
            scatter[key]["low"],
            scatter[key]["high"],
            _told_p(scatter[key]["details"]["p"]),
            len(scatter["points"]),
        )
        for name, key in (("Pearson", "pearson"), ("Spearman", "spearman"), ("Pearson, script held", "within"))
        if scatter.get(key)
    )
    caption = (
        f"Over pairs of languages ({_PAPER}, Fig. 5). Pairs share languages: p is Mantel's, from permuted languages, "
        "and the interval a jackknife over languages. 'Script held' takes away what one script or two explain."
    )
    heads = ("correlation", "r", "low", "high", "p", "pairs")
    return Table("spelling", "Wrong sentences against the spelling of names (TNLD)", caption, heads, rows)


def findings(records: Sequence[Found], run: Found, found: Found) -> list[tuple[str, str]]:
    """What was found, in words: a topic and a sentence or two each; only what was measured."""
    told = [_clustering(records, run), _nearest(records, run), _transfer(records, run), _spelled(found)]
    return [each for each in (*told, _moving(found, run)) if each is not None]


def _clustering(records: Sequence[Found], run: Found) -> tuple[str, str] | None:
    corpora, last = sets_of(records), last_layer(records)
    if not corpora:
        return None
    parts = []
    for label in LABELS:
        sides = [cluster_value(records, f"purity/{label}", state, corpora[0], last) for state in STATES]
        if sides[0] is None:
            continue
        after = "" if sides[1] is None else f", {percent(sides[1]['value'])} after fine-tuning"
        parts.append(
            f"of an entity's 10 nearest at the output layer {percent(sides[0]['value'])} have its {label}{after} "
            f"({percent(sides[0]['null'])} by chance)"
        )
    text = "; ".join(parts)
    return ("Clusters", f"{text[:1].upper()}{text[1:]}.") if parts else None


def _nearest(records: Sequence[Found], run: Found) -> tuple[str, str] | None:
    last, corpus = last_layer(records), next(iter(sets_of(records)), None)
    state = STATES[1] if corpus and cosine_cells(records, STATES[1], corpus, last) else STATES[0]
    cells = cosine_cells(records, state, corpus, last) if corpus else {}
    pairs = [each for (one, _), each in cells.items() if each["source"] == one]
    if not pairs:
        return None
    pairs.sort(key=lambda each: each["null"] - each["value"])
    best, worst = pairs[0], pairs[-1]

    def told(each: Found) -> str:
        names = f"{language_name(each['source'], run)} and {language_name(each['target'], run)}"
        return f"{names} ({number(each['value'], 3)}, {number(each['null'], 3)} for shuffled pairs)"

    if len(pairs) == 1:
        return "Cosine", f"Parallel entities of {told(best)}, {_state(state, run)}."
    return (
        "Cosine",
        f"Parallel entities stand out most between {told(best)}, least between {told(worst)}, {_state(state, run)}.",
    )


def _transfer(records: Sequence[Found], run: Found) -> tuple[str, str] | None:
    cells = wrong_cells(records)
    others = {pair: value for pair, value in cells.items() if pair[0] != pair[1]}
    if not others:
        return None
    best, worst = min(others, key=lambda pair: others[pair]), max(others, key=lambda pair: others[pair])
    own = [value for (one, other), value in cells.items() if one == other]
    mean = sum(own) / len(own)

    def told(pair: tuple[str, str]) -> str:
        return f"{language_name(pair[0], run)} to {language_name(pair[1], run)} ({percent(others[pair])} wrong)"

    if len(others) < 3:  # Of two there is no best: they differ by chance at least.
        each = ", ".join(f"from {told(pair)}" for pair in others)
        return "Transfer", f"{each[:1].upper()}{each[1:]}; within a language {percent(mean)} are wrong."
    return "Transfer", f"Best from {told(best)}, worst from {told(worst)}; within a language {percent(mean)} are wrong."


def _spelled(found: Found) -> tuple[str, str] | None:
    scatter = found.get("scatter")
    if not scatter:
        return None
    score = scatter["pearson"]
    p, count = score["details"]["p"], score["details"]["languages"]
    sure = "which chance seldom gives" if p < 0.05 else "which chance gives too often to tell"
    return (
        "Spelling",
        f"Errors and the distance of names correlate with r = {number(score['value'])} over {len(scatter['points'])} "
        f"pairs of {count} languages ({p_value(p)}, {sure}).{within_script(scatter)}",
    )


def within_script(scatter: Found) -> str:
    """What is left of the correlation once it is known which pairs share a script; nothing where all or none do."""
    score = scatter.get("within")
    if not score:
        return ""
    return f" With the script held, r = {number(score['value'])} ({p_value(score['details']['p'])})."


def _moving(found: Found, run: Found) -> tuple[str, str] | None:
    together = found.get("groups")
    if not together:
        return None
    if len(together["languages"]) < 3:  # Two are cut into two groups whatever they do.
        names = " and ".join(language_name(code, run) for code in together["languages"])
        r, chance = number(together["matrix"][0][1]), number(together["null"][0][1])
        said = f"In fine-tuning the spaces of {names} change with r = {r}, their curves shifted in time with {chance}."
        return "Moving together", said
    groups: dict[int, list[str]] = {}
    for code, group in zip(together["languages"], together["groups"], strict=True):
        groups.setdefault(group, []).append(language_name(code, run))
    shown = " | ".join(", ".join(names) for _, names in sorted(groups.items()))
    told, member = f"By how their spaces change in fine-tuning the languages fall into: {shown}", together["groups"]
    across = [r for i, row in enumerate(together["matrix"]) for j, r in enumerate(row) if member[i] != member[j]]
    if across:
        # Groups are made of any matrix: how far apart they are says whether they mean anything.
        told += f"; across groups changes correlate with r = {number(min(across))} to {number(max(across))}"
    return "Moving together", f"{told}."


def _state(state: str, run: Found) -> str:
    return "before fine-tuning" if state == STATES[0] else f"after fine-tuning on {language_name(run['source'], run)}"


def _slug(corpus: str) -> str:
    return "about" if corpus.startswith("about ") else "test"
