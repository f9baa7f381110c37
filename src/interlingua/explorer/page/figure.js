// Two columns of words with what runs between them: ribbons of a transport plan, and links.
import { draw, make, number, visible } from "./elements.js";

const ROW = 44, GAP = 6, BAR = 0.9;

// sides: two lists of {text, pieces, value, opens}; flows: [i, j, share, cosine]; links: [i, j, cosine].
export function pairFigure({ sides, flows, links, statistical, say }) {
  const tall = ROW * Math.max(sides[0].length, sides[1].length, 1);
  const svg = draw("svg", { class: "ribbons", width: "100%", height: tall, "aria-hidden": "true" });
  const largest = Math.max(...sides.flat().map((word) => Math.abs(word.value ?? 0)), 1e-9);
  const runs = [];
  const items = sides.map((words, side) => words.map((word, place) => item(word, side, place)));

  function item(word, side, place) {
    const bar = make("span", { class: `bar ${word.value < 0 ? "minus" : "plus"}` });
    bar.style.width = `${(100 * BAR * Math.abs(word.value ?? 0)) / largest}%`;
    const many = word.pieces.length > 1 || word.pieces.some(([, known]) => !known);
    const pieces = word.pieces.flatMap(([text, known], at) => [at ? "·" : null, make("span", known ? {} : { class: "unknown" }, visible(text))]);
    const classes = [word.opens ? "opens" : "", word.pieces.length || word.whole ? "" : "none"].join(" ");
    return make(
      "li",
      { class: classes, tabindex: place || side ? "-1" : "0", title: visible(word.text), onmouseenter: () => focusOn(side, place), onfocus: () => focusOn(side, place), onmouseleave: clear, onblur: clear, onkeydown: (event) => move(event, side, place) },
      make("span", { class: "word", dir: "auto" }, visible(word.text)),
      many ? make("span", { class: "pieces", dir: "auto" }, ...pieces) : null,
      bar,
    );
  }

  function move(event, side, place) {
    const steps = { ArrowUp: [side, place - 1], ArrowDown: [side, place + 1], ArrowLeft: [0, place], ArrowRight: [1, place], Home: [side, 0], End: [side, items[side].length - 1] };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const [column, row] = steps[event.key];
    const next = items[column][Math.min(Math.max(row, 0), items[column].length - 1)];
    for (const each of items.flat()) each.tabIndex = each === next ? 0 : -1;
    next.focus();
  }

  function focusOn(side, place) {
    clear();
    const told = [];
    for (const run of runs) {
      if (run.ends[side] !== place) continue;
      run.element.classList.add("on");
      items[1 - side][run.ends[1 - side]].classList.add("on");
      told.push(`${run.kind} ${visible(sides[1 - side][run.ends[1 - side]].text)}${run.about}`);
    }
    items[side][place].classList.add("on");
    svg.classList.add("focused");
    const word = sides[side][place];
    say(`${visible(word.text)}: ${word.value === undefined ? "" : `adds ${number(word.value, 3)}`}${told.length ? `; ${told.join("; ")}` : ""}`);
  }

  function clear() {
    svg.classList.remove("focused");
    for (const each of [...items.flat(), ...runs.map((run) => run.element)]) each.classList.remove("on");
  }

  function paint() {
    const wide = svg.getBoundingClientRect().width;
    if (!wide) return;
    runs.length = 0;
    const middle = (side, place) => ((place + 0.5) * tall) / sides[side].length;
    const sums = sides.map((words, side) => words.map((_, place) => flows.reduce((sum, flow) => sum + (flow[side] === place ? flow[2] : 0), 0)));
    const scale = (ROW - GAP) / Math.max(...sums.flat(), 1e-9);
    const used = sums.map((side) => side.map((sum) => (-sum * scale) / 2));
    const starts = [[], []];
    for (const side of [0, 1]) {
      const order = flows.map((_, at) => at).sort((a, b) => flows[a][1 - side] - flows[b][1 - side]);
      for (const at of order) {
        const place = flows[at][side];
        starts[side][at] = middle(side, place) + used[side][place];
        used[side][place] += flows[at][2] * scale;
      }
    }
    flows.forEach((flow, at) => {
      const [a, b, thick, half] = [starts[0][at], starts[1][at], Math.max(flow[2] * scale, 0.6), wide / 2];
      const d = `M0 ${a}C${half} ${a} ${half} ${b} ${wide} ${b}v${thick}C${half} ${b + thick} ${half} ${a + thick} 0 ${a + thick}Z`;
      const path = draw("path", { class: "ribbon", d, opacity: (0.12 + 0.5 * Math.max(flow[3] ?? 0.6, 0)).toFixed(2) });
      const alike = flow[3] === undefined ? "" : `, cosine ${number(flow[3])}`;
      runs.push({ element: path, ends: flow, kind: "flows to", about: ` (${number(100 * flow[2], 1)} %${alike})` });
    });
    const lines = [...links.map((link) => [link, ""]), ...statistical.map((link) => [link, " statistical"])];
    for (const [link, kind] of lines) {
      const [a, b, half] = [middle(0, link[0]), middle(1, link[1]), wide / 2];
      const path = draw("path", { class: `link${kind}`, d: `M0 ${a}C${half} ${a} ${half} ${b} ${wide} ${b}` });
      runs.push({ element: path, ends: link, kind: kind ? "linked (statistical) to" : "linked to", about: link[2] === undefined ? "" : ` (cosine ${number(link[2])})` });
    }
    svg.replaceChildren(...runs.map((run) => run.element));
  }

  const columns = items.map((list, side) => {
    const column = make("ol", { "aria-label": side ? "Words of the translation" : "Words of the first sentence" }, ...list);
    column.style.height = `${tall}px`;
    return column;
  });
  const element = make("div", { class: "pair" }, columns[0], svg, columns[1]);
  return { element, paint };
}
