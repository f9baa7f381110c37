"use strict";
// Up to 50,000 marks on a canvas, dot by dot. plotly.js takes half a second a frame for as many where there is no GPU
// (WebGL, in software), and the usual WebGL libraries build functions from text, which the page's policy forbids.
class Dots {
  constructor(place, page) {
    Object.assign(this, { place, page, series: [], hidden: new Set(), view: null, group: null, pinned: false, frame: 0 });
    this.box = document.createElement("div");
    this.box.className = "dots";
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("aria-label", "Map: drag to move, + and - to zoom, 0 to see all, arrows to move");
    const zoom = document.createElement("div");
    zoom.className = "zoom";
    for (const [text, name, act] of [["+", "Zoom in", () => this.zoom(0.7)], ["−", "Zoom out", () => this.zoom(1 / 0.7)], ["All", "See all", () => this.reset()]]) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: text, title: name });
      button.addEventListener("click", act);
      zoom.append(button);
    }
    this.box.append(this.canvas, zoom);
    this.legend = Object.assign(document.createElement("div"), { className: "legend" });
    this.reading = Object.assign(document.createElement("div"), { className: "reading" });
    this.reading.setAttribute("aria-live", "polite");
    place.replaceChildren(this.box);
    place.removeAttribute("role");
    place.after(this.legend, this.reading);
    this.listen();
    new ResizeObserver(() => this.ask()).observe(this.canvas);
  }

  show(series) {
    const other = series.length !== this.series.length || series.some((each, at) => each.x !== this.series[at].x);
    this.series = series;
    if (other) {
      // Other marks, or the same in other series: what was hidden or kept says nothing of them.
      Object.assign(this, { hidden: new Set(), group: null, pinned: false });
      this.reset();
      this.list();
      this.read();
    }
    this.ask();
  }

  list() {
    this.legend.replaceChildren(...this.series.map((each, at) => {
      const button = Object.assign(document.createElement("button"), { type: "button" }), sign = document.createElement("canvas");
      button.setAttribute("aria-pressed", "true");
      sign.width = sign.height = 24;
      sign.style.cssText = "width:12px;height:12px";
      const pen = sign.getContext("2d");
      pen.fillStyle = each.marker.color;
      Dots.path(pen, each.marker.symbol, 12, 12, 11);
      pen.fill();
      button.append(sign, Object.assign(document.createElement("bdi"), { textContent: each.name }));
      button.addEventListener("click", () => {
        if (!this.hidden.delete(at)) this.hidden.add(at);
        button.setAttribute("aria-pressed", String(!this.hidden.has(at)));
        this.ask();
      });
      return button;
    }));
  }

  static path(pen, symbol, x, y, r) {
    const corners = { square: [4, 0.125], "triangle-up": [3, 0.25], "triangle-down": [3, 0.75], diamond: [4, 0.25], pentagon: [5, 0.25], hexagon: [6, 0], star: [10, 0.25], cross: [12, 0.125], x: [12, 0] }[symbol];
    pen.beginPath();
    if (!corners) { pen.arc(x, y, r * 0.9, 0, 7); return; }
    const [count, turn] = corners;
    for (let at = 0; at < count; at++) {
      const far = symbol === "star" ? (at % 2 ? 0.45 : 1) : symbol === "cross" || symbol === "x" ? (at % 3 === 1 ? 0.38 : 1) : 1;
      const angle = -(turn + at / count) * 2 * Math.PI;
      pen.lineTo(x + far * r * Math.cos(angle), y + far * r * Math.sin(angle));
    }
    pen.closePath();
  }

  // How much of each pixel a mark covers, 0 to 256.
  stamp(symbol, size) {
    this.stamps ??= new Map();
    const key = symbol + size;
    if (!this.stamps.has(key)) {
      const side = size | 1, sheet = new OffscreenCanvas(side, side), pen = sheet.getContext("2d");
      Dots.path(pen, symbol, side / 2, side / 2, side / 2);
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
    const paper = rgb(this.page.colour("paper")), { data } = this.image, { view } = this;
    this.words.fill((255 << 24) | (paper[2] << 16) | (paper[1] << 8) | paper[0]);
    const count = this.series.reduce((sum, each) => sum + each.x.length, 0);
    const size = Math.round((count > 20000 ? 5 : count > 4000 ? 6 : 8) * scale), step = { x: wide / view.wide, y: tall / view.tall };
    const marks = (series, stamp, ink, keep) => {
      const { side, cover } = stamp, half = side >> 1, { x, y, groups } = series;
      for (let at = 0; at < x.length; at++) {
        if (keep !== undefined && groups[at] !== keep) continue;
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
    const faint = this.group !== null && this.pinned, ink = rgb(this.page.colour("ink"));
    const shown = this.series.filter((_, at) => !this.hidden.has(at)), colours = shown.map((each) => rgb(each.marker.color));
    const pale = (colour) => (faint ? colour.map((part, at) => Math.round(paper[at] + (part - paper[at]) * 0.2)) : colour);
    shown.forEach((each, at) => marks(each, this.stamp(each.marker.symbol, size), pale(colours[at])));
    if (this.group !== null) shown.forEach((each, at) => {
      if (!each.groups) return;
      marks(each, this.stamp(each.marker.symbol, Math.round(17 * scale)), ink, this.group);
      marks(each, this.stamp(each.marker.symbol, Math.round(12 * scale)), colours[at], this.group);
    });
    this.pen.putImageData(this.image, 0, 0);
  }

  nearest(x, y) {
    const { clientWidth: wide, clientHeight: tall } = this.canvas, { view } = this;
    let best = null, least = 14 * 14;
    this.series.forEach((series, number) => {
      if (this.hidden.has(number)) return;
      for (let at = 0; at < series.x.length; at++) {
        const dx = ((series.x[at] - view.x) / view.wide + 0.5) * wide - x, dy = ((view.y - series.y[at]) / view.tall + 0.5) * tall - y, far = dx * dx + dy * dy;
        if (far < least) { least = far; best = { series, at }; }
      }
    });
    return best;
  }

  read() {
    const list = document.createElement("ul");
    for (const series of this.group === null ? [] : this.series) (series.groups ?? []).forEach((group, at) => {
      if (group !== this.group || list.children.length >= 60) return;
      const item = document.createElement("li"), text = Object.assign(document.createElement("span"), { textContent: this.page.bare(series.text[at]), dir: "auto" });
      item.append(Object.assign(document.createElement("bdi"), { textContent: series.name }), text);
      list.append(item);
    });
    this.reading.replaceChildren(list);
  }
  point(found, pinned) {
    const group = found && found.series.groups ? found.series.groups[found.at] : null;
    if (this.pinned && !pinned) return;
    if (group === this.group && pinned === this.pinned) return;
    Object.assign(this, { group, pinned: pinned && group !== null });
    this.read();
    this.ask();
  }

  listen() {
    const { canvas } = this;
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
      if (found) this.page.tell(found.series.name + "\n" + this.page.bare(found.series.text[found.at]), event.clientX, event.clientY); else this.page.hide();
      this.point(found, false);
    });
    canvas.addEventListener("pointerup", (event) => { if (!moved) this.point(this.nearest(...place(event)), true); from = null; });
    canvas.addEventListener("pointercancel", () => { from = null; });
    canvas.addEventListener("pointerleave", () => { this.page.hide(); this.point(null, false); });
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
}
