"""Maps of entities: the same names at each layer, before and after, with few languages highlighted at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from interlingua.report.kit.chart import Chart, ChartMenu, PointMap
from interlingua.report.kit.wording import (
    escape_control_characters,
    format_number,
    format_share,
    join_with_and,
    shorten,
)
from interlingua.report.subjects.layers import component_titles, point_groups, thin_rows

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
    return {join_with_and([name(code) for code in codes]): codes for codes in groups}


def map_menus(geometry: EntityGeometry, maps: Sequence[Mapping[str, Any]]) -> tuple[ChartMenu, ...]:
    """A menu of maps per set of entities: by state, layer, and what is coloured."""
    menus = []
    for number, entity_set in enumerate(dict.fromkeys(each["set"] for each in maps), 1):
        charts: dict[tuple[str, ...], Chart] = {}
        for entities in maps:
            choices = list(map_choices(geometry, entities["points"])) if entities["set"] == entity_set else []
            for panel, (choice, label, chosen) in product(entities["panels"], choices):
                key = (geometry.state_title(entities["state"]), layer_title(panel["layer"], geometry.output), choice)
                charts[key] = entity_map(geometry, entities, panel, label, chosen)
        if charts:
            name = "map-menu" if number == 1 else f"map-menu-{number}"
            menus.append(ChartMenu.of(name, ("Model", "Layer", "Color"), charts))
    return tuple(menus)


def layer_title(layer: int, output: int | None) -> str:
    """What a layer is called in a menu."""
    return f"{layer} ({'embedding output' if layer == 0 else 'output'})" if layer in (0, output) else str(layer)


def map_choices(
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
    points = entities["points"]
    rows = list(dict.fromkeys(point["row"] for point in points))
    shown = thin_rows(rows, len(points), MAX_SHOWN_POINTS)

    def text(point: Mapping[str, Any]) -> str:
        language = geometry.name(point["language"])
        return shorten(f"{point['name']} ({language}, {point['type']}): {point['text']}", MAX_LETTERS)

    name = geometry.name if label == "language" else escape_control_characters
    groups = point_groups(points, label, (panel["x"], panel["y"]), shown=shown, name=name, text=text, chosen=chosen)
    x_title, y_title = component_titles(panel["about"].get("explained") or ())
    where, when = layer_title(panel["layer"], geometry.output), geometry.state_title(entities["state"])
    kind = "Entities" if entities["set"] == "test" else f"Sentences {escape_control_characters(entities['set'])}"
    return PointMap(
        name="map",
        title=f"{kind} by {label}, layer {where}, {when}",
        note=" ".join(map_note(geometry, entities, panel, label, len(shown))),
        groups=groups,
        x_title=x_title,
        y_title=y_title,
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
