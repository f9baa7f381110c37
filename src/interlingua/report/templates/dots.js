"use strict";
// A map of up to 50,000 points on a canvas, dot by dot: SVG takes a second per frame for as many, and the usual WebGL
// libraries build functions from text, which the page's policy forbids. Colours and shapes are those of kit/svg.py.
class Dots {
  static COLOURS = 6;
  static SHAPES = [[], [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]], [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]], [[0, -1.2], [1.15, 0.85], [-1.15, 0.85]], [[0, 1.2], [1.15, -0.85], [-1.15, -0.85]],
    [[-0.4, -1.2], [0.4, -1.2], [0.4, -0.4], [1.2, -0.4], [1.2, 0.4], [0.4, 0.4], [0.4, 1.2], [-0.4, 1.2], [-0.4, 0.4], [-1.2, 0.4], [-1.2, -0.4], [-0.4, -0.4]]];
  static shape(number) { return (number + Math.floor(number / Dots.COLOURS)) % Dots.SHAPES.length; }

  constructor(place) {
    Object.assign(this, { place, series: [], chosen: new Set(), view: null, group: null, pinned: false, frame: 0 });
    this.box = document.createElement("div");
    this.box.className = "map";
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "Map: drag to move, + and - to zoom, 0 to see all, arrows to move");
    const zoom = document.createElement("div");
    zoom.className = "zoom";
    for (const [text, name, act] of [["+", "Zoom in", () => this.zoom(0.7)], ["−", "Zoom out", () => this.zoom(1 / 0.7)], ["All", "See all", () => this.reset()]]) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: text, title: name });
      button.addEventListener("click", act);
      zoom.append(button);
    }
    this.box.append(this.canvas, zoom);
    this.axes = Object.assign(document.createElement("div"), { className: "axes" });
    this.legend = Object.assign(document.createElement("div"), { className: "keys" });
    this.reading = Object.assign(document.createElement("div"), { className: "reading" });
    this.reading.setAttribute("aria-live", "polite");
    place.replaceChildren(this.legend, this.box, this.axes, this.reading);
    this.listen();
    new ResizeObserver(() => this.ask()).observe(this.canvas);
  }

  show(map, series) {
    const names = (many) => many.map((one) => one.name).join("\n"), same = names(series) === names(this.series);
    this.series = series;
    // Other groups, or the same in other places: what was pinned says nothing of them; chosen languages stay chosen.
    Object.assign(this, { group: null, pinned: false, chosen: map.chosen?.length ? new Set(map.chosen) : same ? this.chosen : new Set() });
    this.axes.replaceChildren(...[map.x && "→ " + map.x, map.y && "↑ " + map.y].map((text) => Object.assign(document.createElement("span"), { textContent: text || "" })));
    this.reset();
    this.list();
    this.read();
  }

  // A click on a name brings its points out, and the others are grey; further clicks add and remove.
  list() {
    this.legend.replaceChildren(...this.series.map((series, at) => {
      const button = Object.assign(document.createElement("button"), { type: "button", title: "Bring out; the others are grey" }), sign = document.createElement("canvas");
      const mark = () => {
        button.setAttribute("aria-pressed", String(this.chosen.has(at)));
        this.legend.classList.toggle("some", this.chosen.size > 0);
      };
      sign.width = sign.height = 24;
      sign.style.cssText = "width:12px;height:12px";
      const pen = sign.getContext("2d");
      pen.fillStyle = this.colour("c" + this.number(at) % Dots.COLOURS);
      Dots.path(pen, Dots.shape(this.number(at)), 12, 12, 8);
      pen.fill();
      button.append(sign, Object.assign(document.createElement("bdi"), { textContent: series.name }));
      button.addEventListener("click", () => {
        if (!this.chosen.delete(at)) this.chosen.add(at);
        mark();
        this.ask();
      });
      mark();
      return button;
    }));
  }

  colour(name) { return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim(); }
  number(at) { return this.series[at].color ?? at; }
  isChosen(at) { return !this.chosen.size || this.chosen.has(at); }

  static path(pen, shape, x, y, r) {
    pen.beginPath();
    const corners = Dots.SHAPES[shape];
    if (!corners.length) pen.arc(x, y, r, 0, 7);
    for (const [right, down] of corners) pen.lineTo(x + r * right, y + r * down);
    pen.closePath();
  }

  // How much of each pixel a mark covers, 0 to 256.
  stamp(shape, size) {
    this.stamps ??= new Map();
    const key = shape + " " + size;
    if (!this.stamps.has(key)) {
      const side = size | 1, sheet = new OffscreenCanvas(side, side), pen = sheet.getContext("2d");
      Dots.path(pen, shape, side / 2, side / 2, side / 2.6);
      pen.fill();
      const cover = pen.getImageData(0, 0, side, side).data;
      this.stamps.set(key, { side, cover: Uint16Array.from({ length: side * side }, (_, at) => (cover[4 * at + 3] * 200) >> 8) });
    }
    return this.stamps.get(key);
  }

  reset() {
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const { x, y } of this.series) for (let at = 0; at < x.length; at++) {
      if (x[at] < left) left = x[at];
      if (x[at] > right) right = x[at];
      if (y[at] < low) low = y[at];
      if (y[at] > high) high = y[at];
    }
    const wide = (right - left || 1) * 1.06, tall = (high - low || 1) * 1.06;
    this.view = { x: (left + right) / 2, y: (low + high) / 2, wide, tall };
    this.ask();
  }
  zoom(by, at) {
    const { view } = this, [x, y] = at ?? [0.5, 0.5];
    view.x += (x - 0.5) * view.wide * (1 - by);
    view.y -= (y - 0.5) * view.tall * (1 - by);
    view.wide *= by;
    view.tall *= by;
    this.ask();
  }
  ask() { this.frame ||= requestAnimationFrame(() => { this.frame = 0; this.draw(); }); }

  draw() {
    const scale = Math.min(devicePixelRatio || 1, 2), wide = Math.round(this.canvas.clientWidth * scale), tall = Math.round(this.canvas.clientHeight * scale);
    if (!wide || !tall || !this.view) return;
    if (this.canvas.width !== wide || this.canvas.height !== tall || !this.image) {
      Object.assign(this.canvas, { width: wide, height: tall });
      this.pen = this.canvas.getContext("2d", { willReadFrequently: true });
      this.image = this.pen.createImageData(wide, tall);
      this.words = new Uint32Array(this.image.data.buffer);
    }
    const rgb = (text) => { this.pen.fillStyle = text; const hex = this.pen.fillStyle; return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)); };
    const paper = rgb(this.colour("paper")), { data } = this.image, { view } = this;
    this.words.fill((255 << 24) | (paper[2] << 16) | (paper[1] << 8) | paper[0]);
    const count = this.series.reduce((sum, each) => sum + each.x.length, 0);
    const size = Math.round((count > 20000 ? 6 : count > 4000 ? 8 : 10) * scale), step = { x: wide / view.wide, y: tall / view.tall };
    const marks = (series, stamp, ink, keep) => {
      const { side, cover } = stamp, half = side >> 1, { x, y, rows } = series;
      for (let at = 0; at < x.length; at++) {
        if (keep !== undefined && rows[at] !== keep) continue;
        const left = Math.round((x[at] - view.x) * step.x + wide / 2) - half, top = Math.round((view.y - y[at]) * step.y + tall / 2) - half;
        if (!(left > -side && top > -side && left < wide && top < tall)) continue;
        for (let row = 0; row < side; row++) {
          const py = top + row;
          if (py < 0 || py >= tall) continue;
          for (let column = 0; column < side; column++) {
            const px = left + column, part = cover[row * side + column];
            if (!part || px < 0 || px >= wide) continue;
            const place = 4 * (py * wide + px);
            data[place] += ((ink[0] - data[place]) * part) >> 8;
            data[place + 1] += ((ink[1] - data[place + 1]) * part) >> 8;
            data[place + 2] += ((ink[2] - data[place + 2]) * part) >> 8;
          }
        }
      }
    };
    const ink = rgb(this.colour("ink")), line = rgb(this.colour("line")), faint = this.group !== null && this.pinned;
    const colours = this.series.map((_, at) => this.isChosen(at) ? rgb(this.colour("c" + this.number(at) % Dots.COLOURS)) : line);
    const pale = (colour) => (faint ? colour.map((part, at) => Math.round(paper[at] + (part - paper[at]) * 0.2)) : colour);
    const order = this.series.map((_, at) => at).sort((one, other) => this.isChosen(one) - this.isChosen(other)); // Grey lies below.
    for (const at of order) marks(this.series[at], this.stamp(Dots.shape(this.number(at)), size), pale(colours[at]));
    if (this.group !== null) for (const at of order) if (this.isChosen(at)) {
      marks(this.series[at], this.stamp(Dots.shape(this.number(at)), Math.round(20 * scale)), ink, this.group);
      marks(this.series[at], this.stamp(Dots.shape(this.number(at)), Math.round(14 * scale)), colours[at], this.group);
    }
    this.pen.putImageData(this.image, 0, 0);
  }

  nearest(x, y) {
    const { clientWidth: wide, clientHeight: tall } = this.canvas, { view } = this;
    let best = null, least = 14 * 14;
    this.series.forEach((series, number) => {
      if (!this.isChosen(number)) return;
      for (let at = 0; at < series.x.length; at++) {
        const dx = ((series.x[at] - view.x) / view.wide + 0.5) * wide - x, dy = ((view.y - series.y[at]) / view.tall + 0.5) * tall - y, far = dx * dx + dy * dy;
        if (far < least) { least = far; best = { series, at }; }
      }
    });
    return best;
  }

  read() {
    const list = document.createElement("ul");
    for (const series of this.group === null ? [] : this.series) series.rows.forEach((group, at) => {
      if (group !== this.group || list.children.length >= 60) return;
      const item = document.createElement("li"), text = Object.assign(document.createElement("span"), { textContent: series.text[at], dir: "auto" });
      item.append(Object.assign(document.createElement("bdi"), { textContent: series.name }), text);
      list.append(item);
    });
    this.reading.replaceChildren(list);
  }
  point(found, pinned) {
    const group = found?.series.rows[found.at] ?? null;
    if (this.pinned && !pinned) return;
    if (group === this.group && pinned === this.pinned) return;
    Object.assign(this, { group, pinned: pinned && group !== null });
    this.read();
    this.ask();
  }

  listen() {
    const { canvas } = this, { tip } = window.interlingua;
    let from = null, moved = false;
    const place = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    canvas.addEventListener("pointerdown", (event) => { from = place(event); moved = false; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = place(event);
      if (from) {
        const [dx, dy] = [x - from[0], y - from[1]];
        moved ||= Math.abs(dx) + Math.abs(dy) > 4;
        if (!moved) return;
        this.view.x -= (dx / canvas.clientWidth) * this.view.wide;
        this.view.y += (dy / canvas.clientHeight) * this.view.tall;
        from = [x, y];
        this.ask();
        return;
      }
      const found = this.nearest(x, y);
      if (found) tip?.show(found.series.name + "\n" + found.series.text[found.at], event.clientX, event.clientY); else tip?.hide();
      this.point(found, false);
    });
    canvas.addEventListener("pointerup", (event) => { if (!moved) this.point(this.nearest(...place(event)), true); from = null; });
    canvas.addEventListener("pointercancel", () => { from = null; });
    canvas.addEventListener("pointerleave", () => { tip?.hide(); this.point(null, false); });
    // A wheel moves the page, unless the map was clicked into or Ctrl is held.
    canvas.addEventListener("wheel", (event) => {
      if (document.activeElement !== canvas && !event.ctrlKey) return;
      event.preventDefault();
      const [x, y] = place(event);
      this.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 300), [x / canvas.clientWidth, y / canvas.clientHeight]);
    }, { passive: false });
    const keys = { "+": () => this.zoom(0.8), "=": () => this.zoom(0.8), "-": () => this.zoom(1.25), 0: () => this.reset(), Escape: () => this.point(null, true), ArrowLeft: () => { this.view.x -= this.view.wide / 12; }, ArrowRight: () => { this.view.x += this.view.wide / 12; }, ArrowUp: () => { this.view.y += this.view.tall / 12; }, ArrowDown: () => { this.view.y -= this.view.tall / 12; } };
    canvas.addEventListener("keydown", (event) => { if (keys[event.key]) { event.preventDefault(); keys[event.key](); this.ask(); } });
  }

  // The map as the canvas shows it, as an SVG element of the kind that kit/svg.py draws.
  svg({ title, map }) {
    const wide = 620, tall = Math.round(wide * this.canvas.clientHeight / this.canvas.clientWidth), short = (number) => String(Math.round(number * 10) / 10), escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;"), parts = [];
    const mark = (shape, x, y, r, style) => parts.push(Dots.SHAPES[shape].length ? `<path d="M${Dots.SHAPES[shape].map(([right, down]) => short(x + r * right) + " " + short(y + r * down)).join("L")}Z" class="${style}"/>` : `<circle cx="${short(x)}" cy="${short(y)}" r="${r}" class="${style}"/>`);
    const pen = this.legend.querySelector("canvas").getContext("2d"), shown = this.series.map((_, at) => at).filter((at) => this.isChosen(at));
    pen.font = "12px 'Noto Sans', system-ui, sans-serif";
    let x = 0, y = 12;
    for (const at of shown) {
      const { width } = pen.measureText(this.series[at].name);
      if (x && x + 14 + width > wide) { x = 0; y += 18; }
      mark(Dots.shape(this.number(at)), x + 4, y - 4, 3.2, "f" + this.number(at) % Dots.COLOURS);
      parts.push(`<text x="${short(x + 14)}" y="${y}" class="t">${escape(this.series[at].name)}</text>`);
      x += width + 30;
    }
    const top = y + 14, { view } = this, radius = this.series.reduce((sum, one) => sum + one.x.length, 0) > 4000 ? 1.5 : 2.2;
    for (const at of this.series.map((_, place) => place).sort((one, other) => this.isChosen(one) - this.isChosen(other))) {
      const style = this.isChosen(at) ? "f" + this.number(at) % Dots.COLOURS : "gl";
      this.series[at].x.forEach((value, place) => {
        const px = ((value - view.x) / view.wide + 0.5) * wide, py = top + ((view.y - this.series[at].y[place]) / view.tall + 0.5) * tall;
        if (px >= 0 && px <= wide && py >= top && py <= top + tall) mark(Dots.shape(this.number(at)), px, py, radius, style);
      });
    }
    let foot = top + tall;
    for (const text of [map.x && "→ " + map.x, map.y && "↑ " + map.y].filter(Boolean)) { foot += 17; parts.push(`<text x="0" y="${foot}" class="s">${escape(text)}</text>`); }
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-3 -3 ${wide + 6} ${foot + 12}" width="${wide + 6}" height="${foot + 12}" role="img" font-family="'Noto Sans',system-ui,sans-serif" font-size="12"><title>${escape(title)}</title>${parts.join("")}</svg>`;
  }
}
