"use strict";
// Charts of a page: menus, insertion when near the screen, downloads. They are drawn in Python (kit/svg.py).
//
// The contract with the page (kit/page.py, report.js):
//   Python  kit.svg.chart_css() goes into the page's <style>, after the page's own; it defines the chart colours of both
//           themes beside --paper --ink --soft --line (chosen by data-theme=light|dark on <html>, else by the system).
//           charts = kit.figure.PageCharts(group), where group(records) is what data-r calls these records, "" for none.
//           charts.figure(chart, alone=…) -> HTML of a <figure class="chart" data-chart="NAME"> (safe, escaped), where
//           `alone` says that it is the only chart of its section; charts.to_dict() goes into the page's data.charts.
//           The scripts pdf.js, dots.js and charts.js stand before report.js, in this order.
//   page    calls window.interlingua.charts.mount(document, data.charts) once, and has window.interlingua.tip =
//           {show(text, x, y), hide()}. Its listeners on the document serve every [data-tip] (the whole text of a tip, in
//           place of a summary of records) and every [data-r] (opened by click or Enter), marks of charts included.
//           mount returns {drawAll(), redraw()}: for beforeprint, and for a change of theme (maps on a canvas need it).
//           <html data-charts="all"> once every chart has been inserted.
window.interlingua ??= {};
window.interlingua.charts = (() => {
  const create = (tag, more = {}) => Object.assign(document.createElement(tag), more);
  const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const unzipped = (bytes) => new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  function save(name, type, content) {
    const link = create("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  /* ---- numbers and tables, as kit/wording.py and kit/exports.py write them ---- */
  const MINUS = "−", SPACE = "\u00a0";
  // Halves go to the even digit, as Python has it; only a multiple of 2^-(digits + 1) can be one.
  function rounded(value, digits) {
    const scaled = value * 10 ** digits, isHalf = Number.isInteger(value * 2 ** (digits + 1)) && Math.abs(scaled % 1) === 0.5;
    return isHalf ? (2 * Math.round(scaled / 2) / 10 ** digits).toFixed(digits) : value.toFixed(digits);
  }
  function fixed(value, digits) {
    const text = rounded(value, digits);
    return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", MINUS);
  }
  function share(value) {
    const percent = 100 * value;
    if (percent >= 0.0995 && percent <= 99.9) return rounded(percent, 1) + SPACE + "%";
    if (percent === 0 || percent === 100 || (Math.abs(percent) >= 1 && Math.abs(percent) <= 99)) return rounded(percent, 0) + SPACE + "%";
    const one = rounded(percent, 1);
    return (one !== "0.0" && one !== "100.0" ? one : rounded(percent, 2)) + SPACE + "%";
  }
  function format(value, display) {
    if (value === null || value === undefined) return "–";
    if (display === "percent") return share(value);
    if (display === "points") return (Math.round(1000 * value) > 0 ? "+" : "") + fixed(100 * value, 1);
    if (display === "p_value") return value < 0.001 ? "p < 0.001" : "p = " + value.toFixed(value < 0.1 ? 3 : 2);
    if (display === "count") return Math.round(value).toLocaleString("en");
    return fixed(value, display === "decimal3" ? 3 : 2);
  }
  // A cell is a text, a number, or [records, value, low, high, null value, p, adjusted p].
  function shown(cell, [, display, interval]) {
    if (Array.isArray(cell)) {
      const [, value, low, high] = cell, kind = display === "text" ? "number" : display, unit = (text) => text.replace(SPACE + "%", "");
      const bounds = interval && low != null && high != null ? ` [${unit(format(low, kind))}, ${unit(format(high, kind))}]` : "";
      return format(value, kind) + bounds;
    }
    if (typeof cell !== "number") return cell ?? "–";
    return display === "text" ? (Number.isInteger(cell) ? String(cell) : format(cell, "number")) : format(cell, display);
  }
  const EXTRA = ["ci_low", "ci_high", "null_value", "p", "p_adjusted"];
  const FORMULA = /^[\s\x00-\x1f\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠]|^[\t\r\n]/, PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  function quoted(cell) {
    if (cell === null || cell === undefined) return "";
    const text = typeof cell === "string" && FORMULA.test(cell) && !PLAIN.test(cell) ? "'" + cell : String(cell);
    return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  }
  function csv(table) {
    const heads = [], columns = [];
    table.columns.forEach(([title], at) => {
      const cells = table.rows.map((row) => row[at]);
      heads.push(title);
      columns.push(cells.map((cell) => Array.isArray(cell) ? cell[1] : cell));
      EXTRA.forEach((name, place) => {
        const numbers = cells.map((cell) => Array.isArray(cell) ? cell[place + 2] ?? null : null);
        if (numbers.some((number) => number !== null)) { heads.push(title + " " + name); columns.push(numbers); }
      });
    });
    return [heads, ...table.rows.map((_, y) => columns.map((column) => column[y]))].map((row) => row.map(quoted).join(",") + "\r\n").join("");
  }
  const numeric = (table, at) => table.columns[at][1] !== "text" || (table.rows.some((row) => row[at] !== null) && table.rows.every((row) => typeof row[at] !== "string"));
  const markdownText = (text) => text.replaceAll("\n", " ").replaceAll("\\", "\\\\").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replace(/[|*_`[\]]/g, "\\$&");
  function markdown(table, { title, note }) {
    const line = (cells) => "| " + cells.map(markdownText).join(" | ") + " |";
    const rule = "| " + table.columns.map((_, at) => numeric(table, at) ? "---:" : "---").join(" | ") + " |";
    return ["**" + markdownText(title) + "**", "", ...(note ? [markdownText(note), ""] : []), line(table.columns.map(([name]) => name)), rule,
      ...table.rows.map((row) => line(row.map((cell, at) => shown(cell, table.columns[at])))), ""].join("\n");
  }
  const TEX = { "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "&": "\\&", "%": "\\%", $: "\\$", "#": "\\#", _: "\\_", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}", "–": "--", "−": "$-$", "\u00a0": "~" };
  const texText = (text) => text.replaceAll("\n", " ").replace(/[\\{}&%$#_~^<>|–−\u00a0]/g, (letter) => TEX[letter]);
  function latex(table, { title, note }, name) {
    const line = (cells) => { const row = cells.map(texText).join(" & "); return ("[*".includes(row.trimStart()[0] ?? " ") ? "{}" : "") + row + " \\\\"; };
    const sides = table.columns.map((_, at) => numeric(table, at) ? "r" : "l").join("");
    return ["\\begin{table}", "\\centering", `\\caption{${texText(note ? title.replace(/\.+$/, "") + ". " + note : title)}}`, `\\label{tab:${name.replace(/[^A-Za-z0-9-]+/g, "-")}}`,
      `\\begin{tabular}{${sides}}`, "\\toprule", line(table.columns.map(([head]) => head)), "\\midrule",
      ...table.rows.map((row) => line(row.map((cell, at) => shown(cell, table.columns[at])))), "\\bottomrule", "\\end{tabular}", "\\end{table}", ""].join("\n");
  }

  /* ---- one chart, or those of its menus ---- */
  const MOST_ROWS = 400;
  class Figure {
    constructor(place, data, shared) {
      Object.assign(this, { place, data, shared, name: place.dataset.chart, begun: false });
      this.heading = place.querySelector("h3 bdi");
      this.caption = place.querySelector("figcaption bdi");
      this.drawing = place.querySelector(".drawing");
      this.choice = (Object.keys(data.states)[0] ?? "").split(",");
      this.selects = data.menus.map(([label, options], at) => {
        const select = create("select");
        select.append(...options.map((text, value) => create("option", { textContent: text, value })));
        select.value = this.choice[at];
        select.addEventListener("change", () => this.choose(at));
        const box = create("label", { textContent: label });
        box.append(select);
        place.querySelector(".menus").append(box);
        return select;
      });
      const buttons = create("p", { className: "save", textContent: "Save as" });
      for (const [kind, text] of [["svg", "SVG"], ["pdf", "PDF"], ["csv", "CSV"], ["tex", "LaTeX"], ["md", "Markdown"]]) {
        const button = create("button", { type: "button", textContent: text, title: `Download ${kind === "svg" || kind === "pdf" ? "the figure" : "its numbers"} as ${text}` });
        button.dataset.save = kind;
        button.addEventListener("click", () => this.save(kind));
        buttons.append(button);
      }
      place.append(buttons);
      if (!this.state.map) {
        this.numbers = create("details", { className: "numbers" });
        this.numbers.append(create("summary", { textContent: "Numbers of this chart" }), create("div", { className: "scroll", tabIndex: 0 }));
        this.numbers.addEventListener("toggle", () => { if (this.numbers.open) this.list(); });
        place.append(this.numbers);
      }
      this.shape();
    }

    get state() { return this.data.states[this.choice.join(",")]; }
    // Of a combination that does not exist, the first one with the option just chosen is shown.
    choose(at) {
      const wanted = this.selects.map((select) => select.value), keys = Object.keys(this.data.states);
      const fits = keys.includes(wanted.join(",")) ? wanted.join(",") : keys.find((key) => key.split(",")[at] === wanted[at]);
      if (fits !== undefined) this.choice = fits.split(",");
      this.selects.forEach((select, place) => { select.value = this.choice[place]; });
      this.heading.textContent = this.state.title;
      this.caption.textContent = this.state.note;
      this.shape();
      if (this.begun) this.draw();
      if (this.numbers?.open) this.list();
    }

    svg() {
      const room = this.drawing.clientWidth, wide = Number(/width="(\d+)"/.exec(this.state.wide)[1]);
      return room && room < 0.92 * wide && !matchMedia("print").matches ? this.state.narrow : this.state.wide;
    }
    // The place of a chart that is not drawn yet is as high as the chart will be, so that nothing moves.
    shape() {
      if (this.state.map || this.begun) { this.drawing.style.aspectRatio = this.drawing.style.maxWidth = ""; return; }
      const [, width, height] = /width="(\d+)" height="(\d+)"/.exec(this.svg());
      this.drawing.style.aspectRatio = `${width}/${height}`;
      this.drawing.style.maxWidth = 1.12 * width + "px";
    }
    draw() {
      this.begun = true;
      this.shape();
      if (this.state.map) return this.drawMap();
      this.drawn = this.svg();
      const parsed = new DOMParser().parseFromString(this.drawn, "image/svg+xml").documentElement, svg = document.importNode(parsed, true);
      svg.querySelector("title").remove(); // Browsers would show it as a tip of their own.
      svg.setAttribute("aria-label", this.state.title);
      svg.style.maxWidth = 1.12 * Number(svg.getAttribute("width")) + "px";
      for (const mark of svg.querySelectorAll("[data-m]")) {
        const [tip, records] = this.state.marks[Number(mark.dataset.m)];
        mark.removeAttribute("data-m");
        mark.dataset.tip = tip;
        if (records) mark.dataset.r = records;
      }
      this.drawing.replaceChildren(svg);
    }
    drawMap() {
      const { map } = this.state, texts = this.shared.texts;
      this.dots ??= new Dots(this.drawing);
      this.dots.show(map, map.groups.map((group) => ({ ...group, text: group.text.map((at) => texts[at]) })));
    }
    refit() { if (this.begun && !this.state.map && this.drawn !== this.svg()) this.draw(); }

    list() {
      const { table } = this.state, grid = create("table"), row = (cells, tag) => {
        const line = create("tr");
        cells.forEach((cell, at) => {
          const place = create(tag), column = table.columns[at], text = tag === "th" ? cell : shown(cell, column), inner = create(Array.isArray(cell) && cell[0] ? "button" : "bdi", { textContent: text });
          if (inner.tagName === "BUTTON") { inner.type = "button"; inner.dataset.r = cell[0]; }
          if (numeric(table, at)) place.className = "n";
          place.append(inner);
          line.append(place);
        });
        return line;
      };
      const head = create("thead"), body = create("tbody");
      head.append(row(table.columns.map(([title]) => title), "th"));
      body.append(...table.rows.slice(0, MOST_ROWS).map((cells) => row(cells, "td")));
      grid.append(head, body);
      const more = table.rows.length > MOST_ROWS ? [create("p", { className: "note", textContent: `The first ${MOST_ROWS} of ${table.rows.length} rows; all are in the CSV file.` })] : [];
      this.numbers.querySelector(".scroll").replaceChildren(grid, ...more);
    }

    table() {
      const { map, table } = this.state, texts = this.shared.texts;
      if (!map) return table;
      const columns = [["group", "text", false], ["row", "count", false], ["x", "decimal3", false], ["y", "decimal3", false], ["text", "text", false]];
      return { columns, rows: map.groups.flatMap((group) => group.x.map((x, at) => [group.name, group.rows[at] ?? at, x, group.y[at], texts[group.text[at]]])) };
    }
    async save(kind) {
      const options = this.selects.map((select) => select.selectedOptions[0].textContent).join("-").replace(/[^\p{L}\p{M}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
      const name = this.name + (options ? "_" + options : "");
      if (kind === "csv") return save(name + ".csv", "text/csv;charset=utf-8", csv(this.table()));
      if (kind === "md") return save(name + ".md", "text/markdown;charset=utf-8", markdown(this.table(), this.state));
      if (kind === "tex") return save(name + ".tex", "application/x-tex;charset=utf-8", latex(this.table(), this.state, name));
      if (this.state.map && !this.begun) this.draw();
      const drawn = resolved(this.state.map ? this.dots.svg(this.state) : this.state.wide, this.shared), font = await this.shared.fontFile;
      if (kind === "pdf") return save(name + ".pdf", "application/pdf", await window.interlingua.pdf(drawn, font, this.state.title));
      const base64 = btoa(Array.from(new Uint8Array(font), (byte) => String.fromCharCode(byte)).join(""));
      const face = `<style>@font-face{font-family:'Noto Sans';src:url(data:font/ttf;base64,${base64})}</style>`;
      return save(name + ".svg", "image/svg+xml", drawn.replace(">", ">" + face));
    }
  }
  // As `resolve` of kit/svg.py: the colours of the light theme in place of classes.
  function resolved(svg, { styles, colours }) {
    return svg.replace(/ data-(?:r|m|tip)="[^"]*"/g, "").replace(/ class="([^"]*)"/g, (_, names) => {
      const style = Object.assign({}, ...names.split(" ").map((name) => styles[name]));
      return Object.entries(style).map(([key, value]) => ` ${key}="${value[0] === "@" ? colours[value.slice(1)] : value}"`).join("");
    });
  }

  function mount(root, data) {
    const fontFile = unzipped(bytesOf(data.font)), shared = { ...data, fontFile };
    fontFile.then((bytes) => document.fonts.add(new FontFace("Noto Sans", bytes)));
    const figures = Array.from(root.querySelectorAll("[data-chart]"), (place) => new Figure(place, data.charts[place.dataset.chart], shared));
    const done = () => { if (figures.every((figure) => figure.begun)) document.documentElement.dataset.charts = "all"; };
    const watch = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting) {
        watch.unobserve(entry.target);
        const figure = figures.find((one) => one.place === entry.target);
        if (!figure.begun) figure.draw();
      }
      done();
    }, { rootMargin: "600px 0px" });
    // A map makes its own legend, whose height is not known before: it is cheap, and made at once.
    for (const figure of figures) if (figure.state.map) figure.draw(); else watch.observe(figure.place);
    done();
    let waiting = 0;
    addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(() => figures.forEach((figure) => figure.refit()), 150); });
    return {
      drawAll() { for (const figure of figures) if (figure.begun) figure.refit(); else figure.draw(); done(); },
      redraw() { for (const figure of figures) figure.dots?.ask(); },
    };
  }
  return { mount };
})();
