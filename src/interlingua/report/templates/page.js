(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const names = data.names;
  const nameOf = (code) => (Object.hasOwn(names, code) ? names[code] : code);

  const average = (lists) => lists[0].map((_, at) => {
    const known = lists.map((list) => list[at]).filter((value) => value !== null);
    return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
  });

  /* ---- layer curves ---- */
  function band(x, low, high, shade) {
    if (!low || !high || low.includes(null) || high.includes(null)) return [];
    const edge = { x, mode: "lines", line: { width: 0 }, hoverinfo: "skip", showlegend: false };
    return [{ ...edge, y: low }, { ...edge, y: high, fill: "tonexty", fillcolor: shade }];
  }

  function chosenLine(line, a, b) {
    const touches = (pair) => a && (pair.target === null ? pair.source === a || pair.source === b : [pair.source, pair.target].includes(a) && (!b || [pair.source, pair.target].includes(b)));
    const pairs = line.pairs.filter(touches);
    if (!pairs.length) return null;
    const each = (key) => (pairs.every((pair) => pair[key]) ? average(pairs.map((pair) => pair[key])) : null);
    return { value: each("value"), low: each("low"), high: each("high") };
  }

  function drawCurves() {
    const a = one("curve-a").value, b = one("curve-b").value, best = one("curves").dataset.best;
    data.curves.forEach((figure, at) => {
      const traces = [];
      let chosen = 0;
      figure.lines.forEach((line, index) => {
        const ink = colour(index ? "two" : "one"), own = chosenLine(line, a, b), top = own || line;
        chosen += own ? 1 : 0;
        if (line.null && index === 0) traces.push({ x: line.layers, y: line.null, mode: "lines", name: "without relation", showlegend: false, line: { color: colour("soft"), width: 1.5, dash: "dot" }, hovertemplate: "without relation: %{y:.3f}<extra></extra>" });
        traces.push(...band(line.layers, top.low, top.high, faint(ink, 0.16)));
        if (own) traces.push({ x: line.layers, y: line.value, mode: "lines", name: "mean of all", showlegend: index === 0, line: { color: faint(ink, 0.45), width: 1.5 }, hovertemplate: "mean of all: %{y:.3f}<extra></extra>" });
        const label = own && figure.lines.length === 1 ? nameOf(a) + (b ? "–" + nameOf(b) : "") : line.name;
        traces.push({ x: line.layers, y: top.value, mode: "lines+markers", name: plain(label), line: { color: ink, width: 2.5, dash: index ? "dash" : "solid" }, marker: { color: ink, size: 6, symbol: index ? "diamond" : "circle" }, hovertemplate: plain(label) + "<br>layer %{x}: %{y:.3f}<extra></extra>" });
      });
      const shapes = best === "" ? [] : [{ type: "line", x0: +best, x1: +best, y0: 0, y1: 1, yref: "paper", layer: "below", line: { color: faint(colour("soft"), 0.45), width: 1 } }];
      draw("curve-" + at, traces, { shapes, showlegend: figure.lines.length > 1 || chosen > 0, xaxis: { title: { text: "layer" }, dtick: figure.lines[0].layers.length > 14 ? 4 : 1, showgrid: false }, yaxis: { rangemode: "normal", nticks: 5 } }, figure.name);
    });
  }

  function startCurves() {
    const codes = Object.keys(names).sort((x, y) => nameOf(x).localeCompare(nameOf(y)));
    for (const id of ["curve-a", "curve-b"]) {
      fill(one(id), codes.map((code) => [code, nameOf(code)]));
      one(id).addEventListener("change", drawCurves);
    }
    one("curve-a").addEventListener("change", () => { if (!one("curve-a").value) { one("curve-b").value = ""; drawCurves(); } });
  }

  /* ---- heat maps ---- */
  function drawHeat() {
    data.heat.forEach((figure, at) => {
      const trace = structuredClone(figure.data[0]);
      trace.x = trace.x.map(plain);
      trace.y = trace.y.map(plain);
      trace.customdata = trace.customdata.map((row) => row.map(plain));
      const wide = one("heat-" + at).clientWidth;
      trace.colorbar.tickfont = { size: 11 };
      draw("heat-" + at, [trace], { margin: { l: 10, r: 0, t: 28, b: 10 }, xaxis: { showgrid: false, type: "category", tickangle: figure.size > 8 || wide < 400 ? -90 : 0, dtick: 1, tickfont: { size: figure.size > 12 ? 11 : 12 } }, yaxis: { showgrid: false, type: "category", autorange: "reversed", dtick: 1, tickfont: { size: figure.size > 12 ? 11 : 12 } } }, figure.name);
    });
  }

  /* ---- map ---- */
  function drawMap() {
    const map = data.map, row = one("map-row").value, on = row !== "", narrow = one("map-plot").clientWidth < 620;
    const marks = (series, keep, marker) => ({
      type: "scatter", mode: "markers", name: plain(series.name), legendgroup: series.language,
      x: series.x.filter(keep), y: series.y.filter(keep), customdata: series.row.filter(keep), text: series.hover.filter(keep),
      hovertemplate: "<b>" + plain(series.name) + "</b><br>%{text}<extra></extra>",
      marker: { color: series.colour, symbol: series.symbol, size: narrow ? 5 : 7, opacity: 0.78, line: { width: 0.4, color: colour("paper") }, ...marker },
    });
    const traces = map.series.map((series) => ({ ...marks(series, () => true, on ? { opacity: 0.13 } : {}), showlegend: !on }));
    for (const series of on ? map.series : []) {
      const own = marks(series, (_, at) => String(series.row[at]) === row, { size: 15, opacity: 1, line: { width: 1.5, color: colour("ink") } });
      traces.push(own.x.length ? own : { ...own, x: [null], y: [null] });
    }
    const blank = { showgrid: false, showline: false, showticklabels: false, ticks: "", title: { text: "" } };
    return draw("map-plot", traces, { showlegend: true, margin: { l: 6, r: 6, t: 28, b: 6 }, legend: narrow ? { orientation: "h", x: 0, y: -0.02, yanchor: "top", itemsizing: "constant", tracegroupgap: 0 } : { orientation: "v", x: 1.01, y: 1, itemsizing: "constant", tracegroupgap: 0 }, xaxis: { ...blank, fixedrange: false }, yaxis: { ...blank, fixedrange: false }, dragmode: narrow ? false : "zoom" }, "map");
  }

  function readRow(row) {
    const place = one("map-reading"), list = document.createElement("ul");
    for (const series of row === "" ? [] : data.map.series) {
      const at = series.row.findIndex((own) => String(own) === row);
      if (at < 0) continue;
      const item = document.createElement("li"), label = document.createElement("span"), text = document.createElement("span");
      label.textContent = series.name;
      text.textContent = series.text[at];
      text.dir = "auto";
      text.lang = series.language;
      item.append(label, text);
      list.append(item);
    }
    place.replaceChildren(list);
  }

  function startMap() {
    for (const series of data.map.series) series.hover = series.text.map((text) => wrapped(text));
    const texts = new Map();
    for (const series of data.map.series) series.row.forEach((row, at) => { if (!texts.has(row)) texts.set(row, series.text[at]); });
    fill(one("map-row"), Array.from(texts, ([row, text]) => [row, text || "row " + row]));
    one("map-row").addEventListener("change", () => { drawMap(); readRow(one("map-row").value); });
    const plot = one("map-plot");
    drawMap().then(() => {
      plot.on("plotly_hover", (event) => { if (one("map-row").value === "") readRow(String(event.points[0].customdata)); });
      plot.on("plotly_click", (event) => { one("map-row").value = String(event.points[0].customdata); drawMap(); readRow(one("map-row").value); });
    });
  }

  /* ---- histograms ---- */
  const pairOf = (entry) => entry.source + "\t" + entry.target;
  function drawHistogram() {
    const entry = data.histograms.entries.find((own) => pairOf(own) === one("hist-pair").value && String(own.layer) === one("hist-layer").value);
    const caption = one("hist-caption");
    if (!entry) { draw("hist-plot", [], {}, "distances"); caption.textContent = "Not measured for this pair at this layer."; return; }
    const bins = entry.related.length, step = (entry.end - entry.start) / bins, x = entry.related.map((_, at) => entry.start + (at + 0.5) * step);
    const hill = (counts, name, ink, dash) => {
      const total = counts.reduce((sum, count) => sum + count, 0) || 1;
      return { x, y: counts.map((count) => count / total), name, mode: "lines", fill: "tozeroy", fillcolor: faint(ink, 0.22), line: { shape: "hvh", color: ink, width: 2, dash }, hovertemplate: name + "<br>distance %{x:.2f}: %{y:.1%}<extra></extra>" };
    };
    draw("hist-plot", [hill(entry.related, "related", colour("one"), "solid"), hill(entry.unrelated, "unrelated", colour("two"), "dash")], { showlegend: true, xaxis: { title: { text: data.histograms.distance.toLowerCase() }, showgrid: false }, yaxis: { tickformat: ".0%", nticks: 4, rangemode: "tozero", title: { text: "share of word pairs" } } }, "distances");
    caption.textContent = nameOf(entry.source) + "–" + nameOf(entry.target) + ", layer " + entry.layer + ": a related pair is closer than an unrelated one with probability " + entry.auc.toFixed(2) + " (0.50 is a coin toss).";
  }

  function startHistogram() {
    const entries = data.histograms.entries, best = one("curves") ? one("curves").dataset.best : "";
    fill(one("hist-pair"), [...new Map(entries.map((entry) => [pairOf(entry), nameOf(entry.source) + "–" + nameOf(entry.target)]))]);
    fill(one("hist-layer"), [...new Set(entries.map((entry) => entry.layer))].map((layer) => [layer, layer]));
    if (entries.some((entry) => String(entry.layer) === best)) one("hist-layer").value = best;
    for (const id of ["hist-pair", "hist-layer"]) one(id).addEventListener("change", drawHistogram);
  }

  const drawAll = () => {
    if (data.curves.length) drawCurves();
    if (data.heat.length) drawHeat();
    if (data.map) drawMap();
    if (data.histograms) drawHistogram();
  };
  if (data.curves.length) startCurves();
  if (data.histograms) startHistogram();
  if (data.curves.length) drawCurves();
  if (data.heat.length) drawHeat();
  if (data.map) startMap();
  if (data.histograms) drawHistogram();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  matchMedia("print").addEventListener("change", drawAll);
})();
