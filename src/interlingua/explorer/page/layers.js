// The cosine of two sentences at every layer, over what the corpus says of unrelated sentences and of translations.
import { draw, number } from "./elements.js";

const TALL = 190, LEFT = 34, TOP = 10, FLOOR = 24, EDGE = 10;

export function curve(found, layer, wide, choose) {
  const layers = found.layers.map((each) => each.cosine);
  const last = layers.length - 1;
  const every = [...layers, ...found.unrelated.flat(), ...found.translations.flat(), 0];
  const low = Math.max(-1, Math.floor(5 * Math.min(...every)) / 5);
  const high = Math.min(1, Math.max(Math.ceil(5 * Math.max(...every)) / 5, low + 0.2));
  const x = (at) => LEFT + (last ? at / last : 0.5) * (wide - LEFT - EDGE);
  const y = (value) => TOP + ((high - value) / (high - low)) * (TALL - TOP - FLOOR);
  const path = (values) => values.map((value, at) => `${at ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const area = (rows) => {
    const back = rows.map((row, at) => [at, row[0]]).reverse();
    return `${path(rows.map((row) => row[2]))}${back.map(([at, value]) => `L${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("")}Z`;
  };
  const parts = [];
  for (let tick = Math.round(low * 5); tick <= Math.round(high * 5); tick += high - low > 1 ? 2 : 1) {
    const level = y(tick / 5);
    parts.push(draw("line", { class: "grid", x1: LEFT, x2: wide - EDGE, y1: level, y2: level }));
    parts.push(draw("text", { x: LEFT - 6, y: level + 4, "text-anchor": "end" }, number(tick / 5, 1)));
  }
  if (found.band_pairs) {
    parts.push(draw("path", { class: "unrelated", d: area(found.unrelated) }));
    parts.push(draw("path", { class: "translations", d: area(found.translations) }));
    parts.push(draw("path", { class: "middle", d: path(found.unrelated.map((row) => row[1])) }));
  }
  const at = Math.min(layer, last);
  parts.push(draw("line", { class: "at", x1: x(at), x2: x(at), y1: TOP, y2: TALL - FLOOR }));
  parts.push(draw("path", { class: "own", d: path(layers) }));
  const every_nth = Math.ceil((last + 1) / Math.max(Math.floor(wide / 40), 1));
  layers.forEach((value, place) => {
    parts.push(draw("circle", { class: "dot", cx: x(place), cy: y(value), r: place === at ? 6 : 3.5 }));
    if (place % every_nth === 0) parts.push(draw("text", { x: x(place), y: TALL - 6, "text-anchor": "middle" }, String(place)));
  });
  const label = `Cosine by layer: ${layers.map((value, place) => `${place}: ${number(value)}`).join(", ")}`;
  const svg = draw("svg", { class: "curve", width: wide, height: TALL, viewBox: `0 0 ${wide} ${TALL}`, role: "img", "aria-label": label }, ...parts);
  svg.addEventListener("click", (event) => {
    const place = ((event.clientX - svg.getBoundingClientRect().left - LEFT) / (wide - LEFT - EDGE)) * last;
    choose(Math.min(Math.max(Math.round(place), 0), last));
  });
  return svg;
}
