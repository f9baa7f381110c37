"""Maps of entities: the same names at each layer, before and after, with few languages highlighted at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from interlingua.report.kit.chart import GREY, Chart, ChartMenu, PointGroup, PointMap
from interlingua.report.kit.wording import escape_control_characters, format_number, format_share

if TYPE_CHECKING:
    from interlingua.report.subjects.geometry import EntityGeometry

MAX_SHOWN_POINTS = 2_000
MAX_LETTERS = 120
"""How many marks a map has on a page, and how much of each one's text; the files in `maps/` have all of them."""
MAX_COLORS = 4
"""More languages than these are highlighted three at a time: nobody can distinguish eleven colours."""


def highlights(languages: Sequence[str], first: str, name: Callable[[str], str]) -> dict[str, tuple[str, ...]]:
    """The choices of a menu, each with the languages that are coloured; all of them where they are few.

    Where they are many, the language of training stands beside two others at a time.

    >>> list(highlights(["be", "en", "ru", "tr", "es", "ca"], "en", str))
    ['en, be and ru', 'en, tr and es', 'en and ca']
    >>> highlights(["be", "en"], "en", str)
    {'all languages': ('be', 'en')}
    """
    if len(languages) <= MAX_COLORS:
        return {"all languages": tuple(languages)}
    others = [code for code in languages if code != first]
    lead = (first,) if first in languages else ()
    groups = [(*lead, *others[at : at + 2]) for at in range(0, len(others), 2)]
    return {f"{', '.join(map(name, codes[:-1]))} and {name(codes[-1])}": codes for codes in groups}


def map_menus(geometry: EntityGeometry, maps: Sequence[Mapping[str, Any]]) -> tuple[ChartMenu, ...]:
    """A menu of maps per set of entities: by state, layer, and what is coloured."""
    menus = []
    for number, entity_set in enumerate(dict.fromkeys(each["set"] for each in maps)):
        own = [each for each in maps if each["set"] == entity_set]
        charts: dict[tuple[str, ...], Chart] = {}
        for each in own:
            groups = list(map_groups(geometry, each["points"]))
            for panel in each["panels"]:
                model, layer = geometry.state_title(each["state"]), layer_title(panel["layer"], geometry.output)
                for choice, label, chosen in groups:
                    charts[model, layer, choice] = entity_map(geometry, each, panel, label, chosen)
        if charts:
            name = "map-menu" if number == 0 else f"map-menu-{number + 1}"
            menus.append(ChartMenu.of(name, ("Model", "Layer", "Color"), charts))
    return tuple(menus)


def layer_title(layer: int, output: int | None) -> str:
    """What a layer is called in a menu."""
    return f"{layer} ({'embedding output' if layer == 0 else 'output'})" if layer in (0, output) else str(layer)


def map_groups(
    geometry: EntityGeometry, points: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """What can be coloured: some languages at a time, or some types; each with the field of the points it goes by."""
    codes = list(dict.fromkeys(str(point["language"]) for point in points))
    types = list(dict.fromkeys(str(point["type"]) for point in points))
    for choice, chosen in highlights(codes, geometry.source, geometry.name).items():
        yield choice, "language", chosen
    for choice, chosen in highlights(types, types[0], escape_control_characters).items():
        yield ("types" if choice == "all languages" else choice), "type", chosen


def entity_map(
    geometry: EntityGeometry, entities: Mapping[str, Any], panel: Mapping[str, Any], label: str, chosen: tuple[str, ...]
) -> PointMap:
    """One map: the chosen languages or types in colours over all others in grey."""
    points, shown = entities["points"], shown_rows(entities["points"])
    grouped: dict[str, list[int]] = {}
    for at, point in enumerate(points):
        if point["row"] in shown:
            grouped.setdefault(str(point[label]), []).append(at)
    titles = {code: geometry.name(code) if label == "language" else escape_control_characters(code) for code in grouped}
    groups = tuple(
        PointGroup(
            name=titles[code],
            x=[panel["x"][at] for at in grouped[code]],
            y=[panel["y"][at] for at in grouped[code]],
            texts=[point_text(geometry, points[at]) for at in grouped[code]],
            rows=[shown[points[at]["row"]] for at in grouped[code]],
            color=chosen.index(code) if code in chosen else GREY,
        )
        for code in sorted(grouped, key=lambda code: code in chosen)  # Grey ones lie below.
    )
    explained = panel["about"].get("explained") or ()
    axes = [f"component {at + 1} ({format_share(share)} of the variance)" for at, share in enumerate(explained[:2])]
    where, when = layer_title(panel["layer"], geometry.output), geometry.state_title(entities["state"])
    kind = "Entities" if entities["set"] == "test" else f"Sentences {escape_control_characters(entities['set'])}"
    return PointMap(
        name="map",
        title=f"{kind} by {label}, layer {where}, {when}",
        note=" ".join(map_note(geometry, entities, panel, label, len(shown))),
        groups=groups,
        x_title=axes[0] if len(axes) == 2 else "",
        y_title=axes[1] if len(axes) == 2 else "",
    )


def map_note(
    geometry: EntityGeometry, entities: Mapping[str, Any], panel: Mapping[str, Any], label: str, shown: int
) -> Iterator[str]:
    """The projection, what is shown of the rows, and the numbers of the vectors that the map was made of."""
    method = escape_control_characters(str(entities["method"])).upper().replace("TSNE", "t-SNE")
    perplexity = panel["about"].get("perplexity")
    yield f"{method}{'' if perplexity is None else f', perplexity {perplexity:g}'}."
    if shown < entities["entities"]:
        yield f"{shown:,} of {entities['entities']:,} rows are shown."
    numbers = []
    for metric, null in (("purity", "chance level"), ("silhouette", "shuffled labels")):
        layers = geometry.clusters(metric, label, entities["state"], entities["set"])
        if (estimate := layers.get(panel["layer"])) is not None:
            show = format_share if metric == "purity" else format_number
            numbers.append(f"{metric} {show(estimate.value)} ({null} {show(estimate.null_value)})")
    if numbers:
        yield f"Computed on the vectors, by {label}: {', '.join(numbers)}."


def shown_rows(points: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """The rows that a page shows, numbered: thinned evenly and by whole rows, so that translations stay together."""
    rows = list(dict.fromkeys(point["row"] for point in points))
    room = min(len(rows), max(MAX_SHOWN_POINTS * len(rows) // len(points), 1))
    return {rows[at * len(rows) // room]: at for at in range(room)}


def point_text(geometry: EntityGeometry, point: Mapping[str, Any]) -> str:
    """What a mark says: the name, its language and type, and the sentence."""
    text = f"{point['name']} ({geometry.name(point['language'])}, {point['type']}): {point['text']}"
    return escape_control_characters(text if len(text) <= MAX_LETTERS else f"{text[: MAX_LETTERS - 1]}…")
