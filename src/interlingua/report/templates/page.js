"use strict";
(async () => {
  const root = document.documentElement, all = (where, what) => Array.from(where.querySelectorAll(what));
  const one = (id) => document.getElementById(id);
  const made = (tag, text, more = {}) => Object.assign(document.createElement(tag), text === undefined ? {} : { textContent: text }, more);

  function bytesOf(base64) {
    const text = atob(base64), bytes = new Uint8Array(text.length);
    for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at);
    return bytes;
  }
  async function unpacked(text) {
    return new Response(new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  }
  if (typeof DecompressionStream === "undefined") { one("failed").hidden = false; return; }
  const data = await unpacked(one("data").textContent);
  // Maps of the same things share their texts.
  for (const figure of data.figures) if (figure.dense) for (const trace of figure.traces) if (trace.text) trace.text = trace.text.map((at) => data.texts[at]);

  /* ---- colours: "@one" is a name of the theme, "@one/0.2" the same with an opacity ---- */
  const colour = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();
  const resolved = (text) => {
    const [name, alpha] = text.slice(1).split("/");
    return colour(name) + (alpha ? Math.round(alpha * 255).toString(16).padStart(2, "0") : "");
  };
  const themed = (thing) => {
    if (typeof thing === "string") return thing.startsWith("@") ? resolved(thing) : thing;
    if (Array.isArray(thing)) return thing.length && typeof thing[0] === "number" ? thing : thing.map(themed);
    if (thing && typeof thing === "object") return Object.fromEntries(Object.entries(thing).map(([key, value]) => [key, themed(value)]));
    return thing;
  };

  /* ---- records ---- */
  const { keys, rows, shared } = data.records;
  const record = (number) => Object.fromEntries(keys.map((key, at) => [key, ["digests", "versions", "details"].includes(key) ? shared[rows[number][at]] : rows[number][at]]));
  const shown = (value) => value === null || value === undefined ? "–" : typeof value === "number" ? (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4))).replace("-", "−")) : String(value);
  const pairOf = (found) => found.target === null || found.target === undefined ? found.source : found.source + "–" + found.target;
  const average = (values) => values.every((value) => typeof value === "number") ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
  const numbersOf = (refs) => (refs === null || refs === undefined ? [] : [refs].flat());

  function summary(refs) {
    const found = numbersOf(refs).map(record);
    if (!found.length) return "";
    const whole = found.length === 1 ? found[0] : Object.fromEntries(["value", "low", "high", "null"].map((key) => [key, average(found.map((each) => each[key]))]));
    const interval = whole.low === null || whole.low === undefined ? "" : ` (95 %: ${shown(whole.low)} to ${shown(whole.high)})`;
    const counts = found.map((each) => each.n).filter((n) => typeof n === "number");
    const parts = [shown(whole.value) + interval];
    if (whole.null !== null && whole.null !== undefined) parts.push("without relation " + shown(whole.null));
    if (counts.length) parts.push("n = " + (Math.min(...counts) === Math.max(...counts) ? counts[0] : Math.min(...counts) + " to " + Math.max(...counts)));
    if (found.length > 1) parts.push("mean of " + found.length + " records");
    return parts.join("\n");
  }

  function listed(pairs) {
    const list = made("dl");
    for (const [term, said] of pairs) {
      const place = made("dd");
      place.append(made("bdi", said));
      list.append(made("dt", term), place);
    }
    return list;
  }
  const flat = (thing) => Object.entries(thing || {}).map(([name, value]) => name + " " + shown(value)).join(", ") || "–";

  function open(refs) {
    const numbers = numbersOf(refs), body = one("record-body");
    if (!numbers.length) return;
    hide();
    if (numbers.length === 1) {
      const found = record(numbers[0]);
      one("record-h").textContent = found.measure + ", " + found.variant;
      const rest = keys.filter((key) => !["measure", "variant", "digests", "versions", "details", "low", "high", "null", "value"].includes(key) && found[key] !== null && found[key] !== undefined && found[key] !== "");
      body.replaceChildren(listed([["value", String(found.value)], ["95 % interval", shown(found.low) + " to " + shown(found.high)], ["without relation", shown(found.null)],
        ...rest.map((key) => [key.replace("_", " "), String(found[key])]), ["details", flat(found.details)], ["digests", flat(found.digests)], ["versions", flat(found.versions)]]));
    } else {
      const first = record(numbers[0]);
      one("record-h").textContent = numbers.length + " records, " + first.measure;
      const table = made("table"), tbody = made("tbody");
      table.append(made("thead"), tbody);
      table.tHead.append(line(["what", "layer", "value", "low", "high", "without relation", "n"], "th"));
      for (const number of numbers.slice(0, 200)) {
        const each = record(number), row = line([each.variant + " " + pairOf(each), shown(each.layer), shown(each.value), shown(each.low), shown(each.high), shown(each.null), shown(each.n)], "td");
        row.cells[2].dataset.r = number;
        row.cells[2].tabIndex = 0;
        tbody.append(row);
      }
      const text = made("p", summary(refs).replaceAll("\n", ", ") + (numbers.length > 200 ? "; the first 200:" : ""));
      const scroll = made("div", undefined, { className: "scroll" });
      scroll.append(table);
      body.replaceChildren(text, scroll);
    }
    if (!one("record").open) one("record").showModal();
  }
  function line(cells, tag) {
    const row = made("tr");
    for (const cell of cells) {
      const place = made(tag);
      place.append(made("bdi", cell));
      row.append(place);
    }
    return row;
  }
  one("record-close").addEventListener("click", () => one("record").close());

  /* ---- tips and clicks on cells; arrows walk through a table's cells, of which one is in the tab order ---- */
  const tip = one("tip"), hide = () => { tip.hidden = true; };
  function tell(text, x, y) {
    if (!text) return hide();
    tip.textContent = text;
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - width - 8)) + "px";
    tip.style.top = (y + 18 + height > innerHeight ? Math.max(4, y - height - 12) : y + 18) + "px";
  }
  const refsOf = (cell) => cell.dataset.r.split(" ").map(Number);
  const cellAt = (event) => event.target instanceof Element ? event.target.closest("[data-r]") : null;
  document.addEventListener("pointerover", (event) => { const cell = cellAt(event); if (cell) tell(summary(refsOf(cell)), event.clientX, event.clientY); });
  document.addEventListener("pointerout", (event) => { if (cellAt(event)) hide(); });
  document.addEventListener("focusin", (event) => { const cell = cellAt(event); if (cell) { const box = cell.getBoundingClientRect(); tell(summary(refsOf(cell)), box.left, box.bottom); } });
  document.addEventListener("focusout", hide);
  document.addEventListener("click", (event) => { const cell = cellAt(event); if (cell) open(refsOf(cell)); });
  const ways = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
  document.addEventListener("keydown", (event) => {
    const cell = cellAt(event);
    if (!cell) return;
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(refsOf(cell)); return; }
    if (!ways[event.key] || !cell.closest("table")) return;
    event.preventDefault();
    let [y, x] = [cell.parentElement.rowIndex, cell.cellIndex];
    const table = cell.closest("table"), [down, right] = ways[event.key];
    for (;;) {
      y += down; x += right;
      const next = table.rows[y] && table.rows[y].cells[x];
      if (!next) return;
      if (next.dataset.r) { cell.tabIndex = -1; next.tabIndex = 0; next.focus(); return; }
    }
  });
  const reachable = (table) => { const first = table.querySelector("[data-r]"); if (first) first.tabIndex = 0; };
  all(document, "main table").forEach(reachable);

  /* ---- files ---- */
  function saved(name, type, content) {
    const link = made("a", undefined, { href: URL.createObjectURL(new Blob([content], { type })), download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
  // As `to_csv` does: text that a spreadsheet would compute gets an apostrophe in front.
  const harmless = (cell) => typeof cell === "string" && /^[=+\-@\t\r\n＝＋－＠]/.test(cell) && !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(cell) ? `'${cell}` : cell;
  const quoted = (given, cell = harmless(given)) => cell === null || cell === undefined ? "" : /[",\r\n]/.test(cell) ? '"' + String(cell).replaceAll('"', '""') + '"' : String(cell);
  const csv = (table) => [table.columns, ...table.rows].map((row) => row.map((cell) => quoted(cell)).join(",") + "\r\n").join("");
  const bare = (text) => String(text ?? "").replace(/<br>/g, " ").replace(/[\u2068\u2069]/g, "").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
  const tableOf = (figure, traces) => figure.table ?? {
    columns: ["series", "x", "y", "group", "text"], records: null,
    rows: traces.flatMap((trace) => trace.x.map((x, at) => [bare(trace.name), x, trace.y[at], trace.groups ? trace.groups[at] : null, bare(trace.text && trace.text[at])])),
  };

  /* ---- figures ---- */
  function layout(more, size) {
    const grid = { gridcolor: "@line", zeroline: false, linecolor: "@line", tickcolor: "@line", automargin: true, fixedrange: true };
    const { legend, ...rest } = more, axes = Object.fromEntries(Object.entries({ xaxis: {}, yaxis: {}, ...rest }).filter(([key]) => /^[xy]axis\d*$/.test(key)).map(([key, own]) => [key, { ...grid, ...own }]));
    return themed({
      paper_bgcolor: "@paper", plot_bgcolor: "@paper", dragmode: false,
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: "@soft" },
      hoverlabel: { bgcolor: "@paper", bordercolor: "@soft", font: { family: getComputedStyle(document.body).fontFamily, color: "@ink", size: 13 }, align: "left" },
      margin: size === "square" ? { l: 10, r: 0, t: 28, b: 10 } : { l: 44, r: 10, t: 28, b: 40 }, hovermode: "closest", showlegend: false,
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", xanchor: "left", font: { size: 12 }, traceorder: "normal", ...legend },
      ...rest, ...axes,
    });
  }
  const lines = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\n", "<br>");
  const summaries = (refs, depth) => refs.map((each) => depth > 1 ? summaries(each, depth - 1) : lines(summary(each)));
  function drawn(trace) {
    const { when, records, groups, hover, ...plain } = trace;
    if (records) plain.customdata = summaries(records, trace.type === "heatmap" ? 2 : 1);
    if (hover && trace.type !== "sankey") plain.hovertemplate = hover + (records ? "<br>%{customdata}" : "") + "<extra></extra>";
    return themed(plain);
  }
  const chosen = (section) => Object.fromEntries(all(section, "[data-choice]").map((select) => [select.dataset.choice, select.value]));
  const fits = (trace, values) => Object.entries(trace.when ?? {}).every(([name, wanted]) => [wanted].flat().includes(values[name]));

  // A sheet's width is not told before it is laid out: figures on paper are as wide as page.css makes room for.
  const onPaper = () => matchMedia("print").matches;

  class Plot {
    constructor(place, figure) {
      Object.assign(this, { place, figure, plot: place.querySelector(".plot"), section: place.closest("section"), busy: null, again: false, begun: false });
      this.details = place.querySelector("details");
      this.details.addEventListener("toggle", () => { if (this.details.open) this.fill(); });
      for (const button of all(place, "[data-save]")) button.addEventListener("click", () => this.save(button.dataset.save));
    }
    traces() { const values = chosen(this.section); return this.figure.traces.filter((trace) => fits(trace, values)); }
    // One drawing at a time, and of those that wait only the last: two in one tick never settle in plotly.
    async draw() {
      this.again = this.begun = true;
      watch.unobserve(this.place);
      this.busy ??= (async () => {
        while (this.again) {
          this.again = false;
          await this.once();
        }
        this.busy = null;
        if (plots.every((plot) => plot.begun && !plot.busy)) root.dataset.ready = "all";
      })();
      return this.busy;
    }
    // Drawn again if it is drawn at all; if not, it will be as things are by then.
    async redraw() { if (this.begun) await this.draw(); else this.empty(); }
    empty() {
      if (this.figure.table) return; // Otherwise its numbers are those of the marks that are shown.
      this.details.querySelector(".scroll").replaceChildren();
      if (this.details.open) this.fill();
    }
    async once() {
      const traces = this.traces();
      this.empty();
      if (this.figure.dense) {
        this.dots ??= new Dots(this.plot, { colour, tell, hide, bare });
        this.dots.show(traces.map((trace) => ({ ...trace, name: bare(trace.name), text: trace.text ?? [] })));
        if (onPaper()) this.dots.draw(); // A print waits for no frame.
      } else {
        const fresh = !this.plot.data, paper = onPaper() ? { width: this.place.closest(".one") ? 680 : 330, height: this.figure.size === "square" ? 330 : this.plot.clientHeight } : {};
        await Plotly.react(this.plot, traces.map(drawn), { ...layout(this.figure.layout, this.figure.size), ...paper }, { responsive: true, displayModeBar: false, doubleClick: "reset" });
        if (this.sized && !paper.width) await Plotly.Plots.resize(this.plot);
        this.sized = Boolean(paper.width);
        if (fresh) this.plot.on("plotly_click", (event) => this.clicked(event.points[0]));
      }
    }
    clicked(point) {
      const trace = this.traces()[point.curveNumber ?? 0], records = trace && trace.records;
      if (!records) return;
      open(Array.isArray(point.pointNumber) ? records[point.pointNumber[0]][point.pointNumber[1]] : records[point.pointNumber]);
    }
    async save(format) {
      const name = this.figure.name + "." + format;
      if (format === "csv") return saved(name, "text/csv;charset=utf-8", csv(tableOf(this.figure, this.traces())));
      if (!this.begun) await this.draw();
      const width = this.plot.clientWidth || 700, height = this.plot.clientHeight || 400;
      const what = this.figure.dense ? { data: this.traces().map((trace) => ({ ...drawn(trace), type: "scatter", mode: "markers", marker: { size: 4, ...trace.marker } })), layout: layout({ showlegend: true, xaxis: { visible: false }, yaxis: { visible: false } }) } : this.plot;
      const address = await Plotly.toImage(what, { format, width, height, scale: format === "png" ? 2 : 1 });
      const comma = address.indexOf(","), content = address.slice(comma + 1);
      const text = address.slice(0, comma).endsWith("base64") ? bytesOf(content) : decodeURIComponent(content);
      saved(name, format === "svg" ? "image/svg+xml" : "image/png", text);
    }
    // The figure as a table, which reads it to those who can't see it; long ones are whole in the CSV.
    fill() {
      const place = this.details.querySelector(".scroll"), table = tableOf(this.figure, this.traces()), most = 400;
      if (place.firstChild) return;
      const grid = made("table"), body = made("tbody");
      grid.append(made("thead"), body);
      grid.tHead.append(line(table.columns, "th"));
      table.rows.slice(0, most).forEach((cells, y) => {
        const row = line(cells.map(shown), "td");
        Array.from(row.cells).forEach((cell, x) => {
          if (typeof cells[x] === "number") cell.className = "n";
          const refs = table.records && table.records[y] ? numbersOf(table.records[y][x]) : [];
          if (refs.length) cell.dataset.r = refs.join(" ");
        });
        body.append(row);
      });
      place.append(grid);
      if (table.rows.length > most) place.append(made("p", "The first " + most + " of " + table.rows.length + " rows; all are in the CSV."));
      reachable(grid);
    }
  }

  const byName = new Map(data.figures.map((figure) => [figure.name, figure]));
  const plots = all(document, "[data-figure]").map((place) => new Plot(place, byName.get(place.dataset.figure)));
  for (const select of all(document, "[data-choice]")) select.addEventListener("change", () => plots.filter((plot) => plot.section === select.closest("section")).forEach((plot) => plot.redraw()));
  for (const place of all(document, "[data-table]")) for (const button of all(place, "[data-save]")) button.addEventListener("click", () => {
    const type = { csv: "text/csv", tex: "application/x-tex", md: "text/markdown" }[button.dataset.save];
    saved(place.dataset.table + "." + button.dataset.save, type + ";charset=utf-8", data.tables[place.dataset.table][button.dataset.save]);
  });

  /* ---- theme: as the system has it, or by the button ---- */
  const themes = ["", "light", "dark"], words = { "": "system", light: "light", dark: "dark" }, button = one("theme");
  const redrawAll = () => Promise.all(plots.map((plot) => plot.redraw()));
  function paint(theme) {
    if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
    button.textContent = "Theme: " + words[theme];
  }
  let theme = "";
  try { theme = themes.includes(localStorage.getItem("interlingua-theme")) ? localStorage.getItem("interlingua-theme") : ""; } catch { /* a page from a file may have no storage */ }
  button.hidden = false;
  paint(theme);
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    try { localStorage.setItem("interlingua-theme", theme); } catch { /* then it is forgotten */ }
    paint(theme);
    redrawAll();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  matchMedia("print").addEventListener("change", redrawAll); // In the colours of paper, and back.

  /* ---- drawing: what is on the screen first, then what is near it; the rest when it comes near, or before printing ---- */
  const waiting = new Set();
  let working = false;
  const away = (plot) => { const box = plot.place.getBoundingClientRect(); return Math.max(box.top - innerHeight, -box.bottom, 0); };
  async function work() {
    if (working) return;
    working = true;
    while (waiting.size) {
      const [next, far] = Array.from(waiting, (plot) => [plot, away(plot)]).reduce((best, each) => (each[1] < best[1] ? each : best));
      if (far > 0) root.dataset.ready ??= "first";
      waiting.delete(next);
      await next.draw();
      await new Promise((go) => setTimeout(go)); // Scrolling and typing come between two figures.
    }
    working = false;
    root.dataset.ready ??= "first";
  }
  const watch = new IntersectionObserver((seen) => {
    // One that has gone by before its turn, as by a jump to a section, is not drawn for it.
    for (const { target, isIntersecting } of seen) waiting[isIntersecting ? "add" : "delete"](plots.find((plot) => plot.place === target));
    work();
  }, { rootMargin: "400px 0px" });
  for (const plot of plots) {
    // A map makes its own legend, which would push down what is below: it is cheap, and made at once.
    if (plot.figure.dense) plot.draw(); else watch.observe(plot.place);
  }
  addEventListener("beforeprint", () => plots.filter((plot) => !plot.begun).forEach((plot) => plot.draw()));
  if (plots.every((plot) => plot.begun)) root.dataset.ready = "all";
})();
