"use strict";
/* What every page with figures draws by: colours of the page, safe texts, one layout, one drawing at a time. */
const one = (id) => document.getElementById(id);
const colour = (key) => getComputedStyle(document.documentElement).getPropertyValue("--" + key).trim();
const faint = (hex, alpha) => hex + Math.round(alpha * 255).toString(16).padStart(2, "0");
// Plotly reads a few tags and entities in texts; and an isolate keeps right-to-left text from turning the label.
const plain = (text) => "\u2068" + String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;") + "\u2069";
const segmenter = typeof Intl.Segmenter === "function" ? new Intl.Segmenter() : null;
const graphemes = (text) => (segmenter ? Array.from(segmenter.segment(text), (part) => part.segment) : Array.from(text));

// Lines of about `width` letters, broken at spaces; a longer word (Chinese and Thai have no spaces) between graphemes.
function wrapped(text, width = 52) {
  const lines = [""];
  for (const word of text.split(/(?<=\s)/)) {
    if (lines.at(-1) && lines.at(-1).length + word.length > width) lines.push("");
    for (const part of word.length > width ? graphemes(word) : [word]) {
      if (lines.at(-1).length >= width) lines.push("");
      lines[lines.length - 1] += part;
    }
  }
  return lines.map((line) => plain(line.trimEnd())).join("<br>");
}

function layout(more) {
  const grid = { gridcolor: colour("line"), zeroline: false, linecolor: colour("line"), tickcolor: colour("line"), automargin: true, fixedrange: true };
  const { xaxis, yaxis, ...rest } = more;
  return {
    paper_bgcolor: colour("paper"), plot_bgcolor: colour("paper"),
    font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: colour("soft") },
    hoverlabel: { bgcolor: colour("paper"), bordercolor: colour("line"), font: { color: colour("ink"), size: 13 }, align: "auto" },
    margin: { l: 44, r: 10, t: 28, b: 40 }, hovermode: "closest", showlegend: false,
    legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", xanchor: "left", font: { size: 12 }, traceorder: "normal" },
    xaxis: { ...grid, ...xaxis }, yaxis: { ...grid, ...yaxis }, ...rest,
  };
}

function config(name) {
  const save = (format, title, icon) => ({ name: "save-" + format, title, icon, click: (plot) => Plotly.downloadImage(plot, { format, filename: name, scale: format === "png" ? 2 : 1, width: plot.clientWidth, height: plot.clientHeight }) });
  return { responsive: true, displaylogo: false, scrollZoom: false, doubleClick: "reset", modeBarButtons: [[save("svg", "Save as SVG", Plotly.Icons.disk), save("png", "Save as PNG", Plotly.Icons.camera)]] };
}
const modebar = () => ({ modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("soft"), activecolor: colour("ink") } });

// One drawing of a plot at a time, and of those that wait only the last: two in one tick never settle in plotly.
const waiting = {}, busy = {};
function draw(id, traces, more, name) {
  waiting[id] = () => Plotly.react(id, traces, layout({ ...modebar(), ...more }), config(name));
  busy[id] ??= (async () => {
    while (waiting[id]) {
      const next = waiting[id];
      waiting[id] = null;
      await next();
    }
    busy[id] = null;
  })();
  return busy[id];
}

function fill(select, options) {
  for (const [value, text] of options) {
    const option = document.createElement("option");
    option.value = value;
    option.textContent = text;
    select.append(option);
  }
}

