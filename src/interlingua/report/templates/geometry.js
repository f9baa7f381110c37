(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const styleOf = (by, key) => (Object.hasOwn(data.styles[by], key) ? data.styles[by][key] : { colour: "#8C8C8C", symbol: "circle", name: key });
  const blank = { showgrid: false, showline: false, showticklabels: false, ticks: "", title: { text: "" }, fixedrange: false };

  /* ---- maps ---- */
  function groups(figure, by) {
    const found = new Map();
    figure[by].forEach((key, at) => { if (!found.has(key)) found.set(key, []); found.get(key).push(at); });
    return found;
  }

  function drawMaps() {
    data.maps.forEach((figure, number) => {
      const by = document.querySelector(`input[name="by-${number}"]:checked`).value, found = groups(figure, by);
      figure.hover ??= figure.text.map((text, at) => "<b>" + plain(figure.name[at]) + "</b>, " + plain(styleOf("language", figure.language[at]).name) + ", " + plain(figure.type[at]) + "<br>" + wrapped(text));
      figure.panels.forEach((panel, place) => {
        const many = figure.text.length > 1200;
        const traces = Array.from(found, ([key, rows]) => {
          const own = styleOf(by, key), pick = (list) => rows.map((at) => list[at]);
          return { type: "scatter", mode: "markers", name: plain(own.name), x: pick(panel.x), y: pick(panel.y), text: pick(figure.hover), hovertemplate: "%{text}<extra></extra>", marker: { color: own.colour, symbol: own.symbol, size: many ? 4.5 : 6, opacity: 0.72, line: { width: 0.3, color: colour("paper") } } };
        });
        const frame = { type: "rect", xref: "paper", yref: "paper", x0: 0, x1: 1, y0: 0, y1: 1, line: { color: colour("line"), width: 1 } };
        draw(`map-${number}-${place}`, traces, { margin: { l: 4, r: 4, t: 26, b: 4 }, shapes: [frame], xaxis: blank, yaxis: blank, dragmode: "zoom" }, `map-${number}-${place}-${by}`);
      });
      drawKeys(number, by, found);
    });
  }

  // Marks of the key as plotly draws them, so that shape tells apart what colour does not.
  const SHAPES = { circle: "M1 6a5 5 0 1 0 10 0a5 5 0 1 0-10 0z", square: "M1.5 1.5h9v9h-9z", "triangle-up": "M6 1L11.5 10.5H.5z", diamond: "M6 0L12 6L6 12L0 6z" };
  function drawKeys(number, by, found) {
    const space = "http://www.w3.org/2000/svg";
    one("keys-" + number).replaceChildren(...Array.from(found.keys(), (key) => {
      const own = styleOf(by, key), item = document.createElement("li"), picture = document.createElementNS(space, "svg"), path = document.createElementNS(space, "path");
      picture.setAttribute("viewBox", "0 0 12 12");
      picture.setAttribute("aria-hidden", "true");
      path.setAttribute("d", SHAPES[own.symbol] || SHAPES.circle);
      path.setAttribute("fill", own.colour);
      picture.append(path);
      item.append(picture, own.name);
      return item;
    }));
  }

  /* ---- matrices ---- */
  function drawHeat(id, figure) {
    const trace = structuredClone(figure.data[0]), wide = one(id).clientWidth, small = figure.size > 8 || wide < 400;
    trace.x = trace.x.map(plain);
    trace.y = trace.y.map(plain);
    trace.customdata = trace.customdata.map((row) => row.map(plain));
    trace.colorbar.tickfont = { size: 11 };
    if (trace.texttemplate && small) trace.textfont = { size: 9 };
    draw(id, [trace], { margin: { l: 10, r: 0, t: 28, b: 10 }, xaxis: { showgrid: false, type: "category", dtick: 1 }, yaxis: { showgrid: false, type: "category", autorange: "reversed", dtick: 1 } }, figure.name);
  }

  /* ---- layers ---- */
  function drawLayers() {
    data.layers.forEach((figure, at) => {
      const traces = [];
      Object.entries(figure.lines).forEach(([state, line], index) => {
        const ink = colour(index ? "two" : "one"), edge = { x: line.layers, mode: "lines", line: { width: 0 }, hoverinfo: "skip", showlegend: false };
        if (index === 0) traces.push({ x: line.layers, y: line.null, mode: "lines", showlegend: false, line: { color: colour("soft"), width: 1.5, dash: "dot" }, hovertemplate: "chance: %{y:.3f}<extra></extra>" });
        traces.push({ ...edge, y: line.low }, { ...edge, y: line.high, fill: "tonexty", fillcolor: faint(ink, 0.16) });
        traces.push({ x: line.layers, y: line.value, mode: "lines+markers", name: state, line: { color: ink, width: 2.5, dash: index ? "dash" : "solid" }, marker: { color: ink, size: 6, symbol: index ? "diamond" : "circle" }, hovertemplate: state + ", layer %{x}: %{y:.3f}<extra></extra>" });
      });
      draw("layers-" + at, traces, { showlegend: true, xaxis: { title: { text: "layer" }, showgrid: false, dtick: figure.lines.before && figure.lines.before.layers.length > 14 ? 4 : 1 }, yaxis: { range: [0, 1.03], tickformat: ".0%", nticks: 6 } }, figure.name);
    });
  }

  /* ---- steps ---- */
  function drawSteps() {
    const own = data.steps.runs[one("steps-source").value][one("steps-what").value], title = data.steps.titles[one("steps-what").value];
    const traces = own ? Object.entries(own.lines).map(([code, line]) => {
      const style = styleOf("language", code);
      return { x: own.steps, y: line, mode: "lines+markers", name: plain(style.name), line: { color: style.colour, width: code === one("steps-source").value ? 3.5 : 1.8 }, marker: { color: style.colour, symbol: style.symbol, size: own.steps.length > 60 ? 4 : 6 }, hovertemplate: plain(style.name) + "<br>step %{x}: %{y:.4f}<extra></extra>" };
    }) : [];
    draw("steps-plot", traces, { showlegend: true, xaxis: { title: { text: "step" }, showgrid: false }, yaxis: { title: { text: title }, zeroline: one("steps-what").value === "change", zerolinecolor: colour("soft") } }, "steps");
  }

  function startSteps() {
    fill(one("steps-source"), data.steps.sources.map((code) => [code, styleOf("language", code).name]));
    fill(one("steps-what"), Object.entries(data.steps.titles));
    if (data.steps.sources.includes(data.steps.first)) one("steps-source").value = data.steps.first;
    for (const id of ["steps-source", "steps-what"]) one(id).addEventListener("change", drawSteps);
  }

  /* ---- errors against spelling ---- */
  function drawScatter() {
    const sources = new Map();
    for (const point of data.scatter.points) { if (!sources.has(point.source)) sources.set(point.source, []); sources.get(point.source).push(point); }
    const few = data.scatter.points.length <= 30;
    const traces = Array.from(sources, ([code, points]) => {
      const style = styleOf("language", code);
      return { type: "scatter", mode: few ? "markers+text" : "markers", name: plain(style.name), x: points.map((p) => p.tnld), y: points.map((p) => p.wrong), text: points.map((p) => plain("→" + p.target)), textposition: "middle right", textfont: { size: 10 }, cliponaxis: false, customdata: points.map((p) => plain(style.name + " to " + styleOf("language", p.target).name)), hovertemplate: "%{customdata}<br>TNLD %{x:.3f}, %{y:.1%} wrong<extra></extra>", marker: { color: style.colour, symbol: style.symbol, size: 8 } };
    });
    draw("scatter-plot", traces, { showlegend: true, xaxis: { title: { text: "spelling distance of names (TNLD)" }, showgrid: false }, yaxis: { title: { text: "wrong sentences" }, tickformat: ".0%", rangemode: "tozero" } }, "spelling");
  }

  function drawAll() {
    drawMaps();
    drawLayers();
    for (const kind of ["cosines", "groups", "wrong"]) data[kind].forEach((figure, at) => drawHeat(`${kind}-${at}`, figure));
    if (data.steps) drawSteps();
    if (data.scatter) drawScatter();
  }
  data.maps.forEach((_, number) => document.getElementsByName("by-" + number).forEach((input) => input.addEventListener("change", drawMaps)));
  if (data.steps) startSteps();
  drawAll();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  matchMedia("print").addEventListener("change", drawAll);
})();
