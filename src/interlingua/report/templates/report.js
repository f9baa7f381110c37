"use strict";
// A page of a report: contents, folding, tables that sort, records behind numbers, downloads, theme.
// Charts are drawn by charts.js, which this script mounts; data-r="g3" names a group of records, data-r="3 17" records.
(async () => {
  const root = document.documentElement, main = document.querySelector("main");
  const one = (id) => document.getElementById(id);
  const all = (selector, where = document) => Array.from(where.querySelectorAll(selector));
  const create = (tag, text, more = {}) => Object.assign(document.createElement(tag), text === undefined ? {} : { textContent: text }, more);
  const page = (window.interlingua ??= {});
  root.classList.add("js");
  const remembered = {
    get(key) { try { return localStorage.getItem("interlingua-" + key); } catch { return null; } }, // A file may have no storage.
    set(key, value) { try { localStorage.setItem("interlingua-" + key, value); } catch { /* then it is forgotten */ } },
  };

  /* ---- theme: as the system has it, light or dark ---- */
  const themes = ["system", "light", "dark"], themeButton = one("theme");
  let theme = themes.includes(remembered.get("theme")) ? remembered.get("theme") : "system", charts = null;
  function paint() {
    if (theme === "system") delete root.dataset.theme; else root.dataset.theme = theme;
    themeButton.textContent = "Theme: " + theme;
    charts?.redraw();
  }
  themeButton.hidden = false;
  themeButton.addEventListener("click", () => { theme = themes[(themes.indexOf(theme) + 1) % 3]; remembered.set("theme", theme); paint(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts?.redraw());
  paint();

  /* ---- contents: the section that is read is marked; on small screens the list opens by a button ---- */
  const menu = one("menu"), list = one("toc"), links = all("#toc a"), sections = links.map((link) => one(link.hash.slice(1)));
  const openMenu = (open) => { menu.setAttribute("aria-expanded", open); list.classList.toggle("closed", !open); };
  menu.hidden = false;
  openMenu(false);
  menu.addEventListener("click", () => openMenu(menu.getAttribute("aria-expanded") === "false"));
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && menu.getAttribute("aria-expanded") === "true") { openMenu(false); menu.focus(); } });
  list.addEventListener("click", () => openMenu(false));
  function mark() {
    const end = innerHeight + scrollY >= root.scrollHeight - 2 && scrollY > 0;
    let at = 0;
    sections.forEach((section, place) => { if (section.getBoundingClientRect().top < 140) at = place; });
    if (end) at = sections.length - 1;
    links.forEach((link, place) => { if (place === at) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current"); });
    one("here").textContent = at ? links[at].textContent : "Contents";
  }
  let marking = 0;
  const markSoon = () => { marking ||= requestAnimationFrame(() => { marking = 0; mark(); }); };
  addEventListener("scroll", markSoon, { passive: true });
  addEventListener("resize", markSoon);
  mark();

  /* ---- sections: what was folded stays folded on pages of the same command; a link or a print opens them ---- */
  const key = "folds-" + document.title.split("–").pop().trim(), folds = new Map();
  try { for (const [name, open] of Object.entries(JSON.parse(remembered.get(key)) ?? {})) folds.set(name, open); } catch { /* not ours */ }
  const folded = all("main section > details");
  let printing = false;
  for (const details of folded) {
    const name = details.parentElement.id;
    if (typeof folds.get(name) === "boolean") details.open = folds.get(name);
    details.firstElementChild.addEventListener("click", () => setTimeout(() => {
      folds.set(name, details.open);
      remembered.set(key, JSON.stringify(Object.fromEntries(folds)));
    }));
    details.addEventListener("toggle", markSoon);
  }
  function reveal() {
    let target = null;
    try { target = one(decodeURIComponent(location.hash.slice(1))); } catch { return; }
    const details = target && (target.closest("details") ?? target.querySelector(":scope > details"));
    if (details && !details.open) { details.open = true; target.scrollIntoView(); }
  }
  addEventListener("hashchange", reveal);
  list.addEventListener("click", () => setTimeout(reveal));
  reveal();
  let before = [];
  addEventListener("beforeprint", () => {
    if (printing) return;
    printing = true;
    before = folded.filter((details) => !details.open);
    for (const details of before) details.open = true;
    charts?.drawAll();
  });
  addEventListener("afterprint", () => { printing = false; for (const details of before) details.open = false; });

  /* ---- tips ---- */
  const tip = one("tip"), hide = () => { tip.hidden = true; };
  function show(text, x, y) {
    if (!text) return hide();
    tip.textContent = text;
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - width - 8)) + "px";
    tip.style.top = (y + 18 + height > innerHeight ? Math.max(4, y - height - 12) : y + 18) + "px";
  }
  page.tip = { show, hide };

  /* ---- copying a command ---- */
  for (const button of all("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const code = button.previousElementSibling;
      try { await navigator.clipboard.writeText(code.textContent); button.textContent = "Copied"; } catch {
        getSelection().selectAllChildren(code); // A page from a file may not write: the text is selected instead.
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }

  /* ---- tables: a click on a heading sorts, a third one restores the order; arrows walk through the numbers ---- */
  const collator = new Intl.Collator("en", { numeric: true });
  const valueOf = (cell) => cell.dataset.v === undefined ? null : Number(cell.dataset.v);
  function compare(a, b, down) {
    const [x, y] = [valueOf(a), valueOf(b)], [s, t] = [a.textContent, b.textContent];
    if (x !== null && y !== null) return down ? y - x : x - y;
    if ((x === null) !== (y === null)) return x === null ? 1 : -1; // What is missing is last, either way.
    return down ? collator.compare(t, s) : collator.compare(s, t);
  }
  for (const table of all("main .table table")) {
    const body = table.tBodies[0], rows = Array.from(body.rows), heads = Array.from(table.tHead.rows[0].cells);
    if (rows.length > 1) heads.forEach((head, column) => {
      const button = create("button", undefined, { type: "button" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort"), numeric = head.classList.contains("n");
        const order = numeric ? ["descending", "ascending", null] : ["ascending", "descending", null];
        const next = order[(order.indexOf(now) + 1) % 3];
        for (const other of heads) other.removeAttribute("aria-sort");
        if (next) head.setAttribute("aria-sort", next);
        const sorted = next ? rows.toSorted((a, b) => compare(a.cells[column], b.cells[column], next === "descending")) : rows;
        body.append(...sorted);
      });
    });
    reachable(table);
  }
  function reachable(table) { all("tbody button", table).forEach((button, at) => { button.tabIndex = at ? -1 : 0; }); }
  const ways = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
  document.addEventListener("keydown", (event) => {
    const button = event.target instanceof Element ? event.target.closest("tbody button") : null;
    if (!button || !ways[event.key]) return;
    event.preventDefault();
    const cell = button.closest("td, th"), table = cell.closest("table"), [down, right] = ways[event.key];
    for (let y = cell.parentElement.rowIndex + down, x = cell.cellIndex + right; ; y += down, x += right) {
      const next = table.rows[y]?.cells[x];
      if (!next || !y) return;
      const inner = next.querySelector("button");
      if (inner) { button.tabIndex = -1; inner.tabIndex = 0; inner.focus(); return; }
    }
  });

  /* ---- data ---- */
  if (typeof DecompressionStream === "undefined") { one("failed").hidden = false; root.dataset.ready = "no"; return; }
  const packed = Uint8Array.from(atob(one("data").textContent), (letter) => letter.charCodeAt(0));
  const data = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();

  /* ---- records ---- */
  const { columns, groups } = data.records, fields = Object.keys(columns);
  const field = (name, place) => { const column = columns[name]; return Array.isArray(column) ? column[place] : column.values[column.places[place]]; };
  const record = (place) => Object.fromEntries(fields.map((name) => [name, field(name, place)]));
  function placesOf(text) {
    return text.split(" ").filter(Boolean).flatMap((part) => {
      if (part[0] === "g") return placesOf(groups[Number(part.slice(1))]);
      const [first, last = first] = part.split("-").map(Number);
      return Array.from({ length: last - first + 1 }, (_, at) => first + at);
    });
  }
  const number = (value) => typeof value !== "number" ? "–" : (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)))).replace("-", "−");
  const words = (value) => value === null || value === undefined ? "" : typeof value === "number" ? number(value) : Array.isArray(value) ? value.map(words).join(", ")
    : typeof value === "object" ? Object.entries(value).map(([name, inner]) => name + " " + words(inner)).join(", ") : String(value);
  const mean = (values) => values.every((value) => typeof value === "number") ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
  const names = { ci_low: "95 % interval", null_value: "chance level", n: "items", trained_on: "fine-tuned on" };
  const named = (name) => names[name] ?? name.replaceAll("_", " ");
  function summary(places) {
    const [value, low, high, none] = ["value", "ci_low", "ci_high", "null_value"].map((name) => mean(places.map((place) => field(name, place))));
    const counts = places.map((place) => field("n", place));
    const least = Math.min(...counts), most = Math.max(...counts);
    return [number(value) + (low === null || high === null ? "" : ` (95 % interval ${number(low)} to ${number(high)})`),
      none === null ? "" : "chance level " + number(none), most ? "n = " + (least === most ? most : least + " to " + most) : "",
      places.length > 1 ? "mean of " + places.length + " records" : ""].filter(Boolean);
  }
  function facts(pairs) {
    const dl = create("dl");
    for (const [term, text] of pairs) {
      const div = create("div"), dd = create("dd");
      dd.append(create("bdi", text));
      div.append(create("dt", term), dd);
      dl.append(div);
    }
    return dl;
  }
  const interval = (found) => found.ci_low === null || found.ci_high === null ? "" : number(found.ci_low) + " to " + number(found.ci_high);
  const LEFT_OUT = ["value", "ci_low", "ci_high", "measure", "metric"];
  function grid(heads, rows) {
    const table = create("table"), head = create("thead"), body = create("tbody"), line = (cells, tag) => {
      const row = create("tr");
      for (const cell of cells) row.append(create(tag, cell));
      return row;
    };
    head.append(line(heads, "th"));
    body.append(...rows.map((row) => line(row, "td")));
    table.append(head, body);
    const scroll = create("div", undefined, { className: "scroll", tabIndex: 0 });
    scroll.append(table);
    return scroll;
  }
  const MOST = 200;
  function open(places) {
    if (!places.length) return;
    hide();
    const records = places.slice(0, MOST).map(record), first = records[0], body = one("record-body");
    one("record-h").textContent = places.length === 1 ? [first.measure, first.metric].filter((text, at, both) => text && both.indexOf(text) === at).join(", ") : places.length + " records";
    const said = (name) => words(first[name]);
    if (places.length === 1) {
      const rest = fields.filter((name) => !LEFT_OUT.includes(name) && said(name));
      body.replaceChildren(facts([["value", String(first.value).replace("-", "−")], ["95 % interval", interval(first) || "–"], ...rest.map((name) => [named(name), said(name)])]));
    } else {
      const shown = fields.filter((name) => !["value", "ci_low", "ci_high", "items", "step"].includes(name));
      const differs = shown.filter((name) => records.some((found) => words(found[name]) !== said(name)));
      const same = shown.filter((name) => !differs.includes(name) && said(name));
      const parts = [create("p", summary(places).join(", ") + (places.length > MOST ? `; the first ${MOST} are listed` : ""), { className: "lead" }),
        grid([...differs.filter((name) => !["digests", "versions", "details"].includes(name)).map(named), "value", "95 % interval"],
          records.map((found) => [...differs.filter((name) => !["digests", "versions", "details"].includes(name)).map((name) => words(found[name]) || "–"), number(found.value), interval(found) || "–"])),
        facts(same.map((name) => [named(name), said(name)]))];
      body.replaceChildren(...parts);
    }
    if (!one("record").open) one("record").showModal();
    one("record").scrollTop = 0;
  }
  one("record-close").addEventListener("click", () => one("record").close());
  one("record").addEventListener("click", (event) => { if (event.target === one("record")) one("record").close(); });
  page.records = { open: (text) => open(placesOf(text)), summary: (text) => summary(placesOf(text)).join("\n") };

  const told = (element) => element.dataset.tip ?? (element.classList.contains("term") ? one(element.hash.slice(1))?.querySelector("dd").textContent : page.records.summary(element.dataset.r));
  const near = (event) => event.target instanceof Element ? event.target.closest("[data-tip], [data-r], .term") : null;
  document.addEventListener("pointerover", (event) => { const found = near(event); if (found) show(told(found), event.clientX, event.clientY); });
  document.addEventListener("pointermove", (event) => { const found = near(event); if (found && !tip.hidden && event.pointerType === "mouse") show(told(found), event.clientX, event.clientY); });
  document.addEventListener("pointerout", (event) => { if (near(event)) hide(); });
  document.addEventListener("focusin", (event) => { const found = near(event); if (found && found.matches(":focus-visible")) { const box = found.getBoundingClientRect(); show(told(found), box.left, box.bottom); } });
  document.addEventListener("focusout", hide);
  document.addEventListener("click", (event) => { const found = event.target instanceof Element ? event.target.closest("[data-r]") : null; if (found?.dataset.r) open(placesOf(found.dataset.r)); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    const found = event.target instanceof Element && event.target.tagName !== "BUTTON" ? event.target.closest("[data-r]") : null;
    if (found && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); open(placesOf(found.dataset.r)); }
  });

  /* ---- files ---- */
  page.save = (name, type, content) => {
    const link = create("a", undefined, { href: URL.createObjectURL(new Blob([content], { type })), download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };
  const types = { csv: "text/csv", tex: "application/x-tex", md: "text/markdown" };
  for (const place of all("[data-table]")) {
    for (const button of all("[data-save]", place)) button.addEventListener("click", () => {
      const name = place.dataset.table, format = button.dataset.save;
      page.save(name + "." + format, types[format] + ";charset=utf-8", data.tables[name][format]);
    });
    for (const save of all(".save", place)) save.hidden = false;
  }

  charts = page.charts?.mount(document, data.charts) ?? null;
  root.dataset.ready = "all";
})();
