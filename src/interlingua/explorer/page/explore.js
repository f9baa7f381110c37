// The page: state in the address's fragment, requests to this machine, figures drawn from answers.
import { byId, make, number, options, visible } from "./elements.js";
import { curve } from "./layers.js";
import { pairFigure } from "./figure.js";

const DEFAULTS = {
  source: "", target: "", source_language: "", target_language: "", row: -1, layer: -1, centred: true, flow: true, links: true,
  statistical: true, weighing: "attribution", linking: "argmax", of: "source", head: "", label: "", source_second: "", target_second: "",
};
const TEXTS = ["source", "target", "source_language", "target_language", "weighing", "linking", "head", "label", "source_second", "target_second"];
const state = { ...DEFAULTS };
const latest = { pair: null, head: null };
const READ = "Point at a word, or reach it with Tab and the arrow keys.";
let setup = null;

// --- state in the address ---

function remember() {
  const told = Object.entries(state).filter(([name, value]) => value !== DEFAULTS[name]);
  history.replaceState(null, "", `#${new URLSearchParams(told.map(([name, value]) => [name, String(value)]))}`);
}

function recall() {
  Object.assign(state, DEFAULTS);
  for (const [name, text] of new URLSearchParams(location.hash.slice(1))) {
    if (!(name in DEFAULTS)) continue;
    const kind = typeof DEFAULTS[name];
    if (kind === "boolean") state[name] = text === "true";
    else if (kind === "number") state[name] = Number.isSafeInteger(Number(text)) ? Number(text) : DEFAULTS[name];
    else state[name] = text;
  }
}

// --- requests ---

const running = {};
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

async function ask(route, asked, complain = say) {
  running[route]?.abort();
  const mine = (running[route] = new AbortController());
  document.body.classList.add("waiting");
  try {
    for (let again = 0; ; again += 1) {
      const begun = performance.now();
      const reply = await fetch(`/api/${route}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked), signal: mine.signal });
      const found = await reply.json();
      if (reply.ok) {
        complain("");
        byId("took").textContent = `Answered in ${Math.round(performance.now() - begun)} ms.`;
        return found;
      }
      (reply.status === 400 ? complain : say)(found.error ?? `The server answers ${reply.status}.`);
      if (reply.status !== 503 || again >= 5) return null;
      await pause(1000);
    }
  } catch (error) {
    if (error.name !== "AbortError") say("The server does not answer. Is interlingua explore still running?");
    return null;
  } finally {
    if (running[route] === mine) document.body.classList.remove("waiting");
  }
}

function say(words) {
  byId("message").textContent = visible(words);
  byId("message").hidden = !words;
}

const texts = () => ({ source: state.source, target: state.target, source_language: state.source_language, target_language: state.target_language, row: state.row });
const ready = () => state.source.trim() && state.target.trim();

async function askPair() {
  if (!ready()) {
    say("");
    return withoutPair("Fill in both sentences.");
  }
  const found = await ask("pair", { ...texts(), centred: state.centred, weighing: state.weighing, linking: state.linking }, (words) => {
    say(words);
    if (words) withoutPair("");
  });
  if (found) {
    latest.pair = found;
    drawDoubts(found.doubts);
    drawAll();
  }
}

async function askNear() {
  if (!state[state.of].trim()) return withoutNear();
  const asked = { text: state[state.of], language: state[`${state.of}_language`], row: state.row, layer: state.layer, centred: state.centred };
  const found = await ask("neighbours", asked, (words) => {
    say(words);
    if (words) withoutNear();
  });
  if (found) drawNear(found);
}

async function askHead() {
  const head = setup.heads.find((each) => each.name === state.head);
  if (!head) return;
  if (!ready()) return withoutHead("Fill in both sentences.");
  if (head.reads.length > 1 && !(state.source_second.trim() && state.target_second.trim())) {
    return withoutHead(`${head.name} reads a ${head.reads.join(" and a ")}: fill in the second of both.`);
  }
  const found = await ask("head", { ...texts(), head: state.head, label: state.label, source_second: state.source_second, target_second: state.target_second }, (words) => {
    say("");
    if (words) withoutHead(words);
  });
  if (found) drawHead((latest.head = found));
}

// What can't be read is told where its figure would stand; one of other texts must not stay there, nor come late.
function withoutPair(words) {
  running.pair?.abort();
  latest.pair = null;
  byId("said").textContent = words;
  drawDoubts([]);
  byId("reading").textContent = READ;
  for (const name of ["curves", "pairs"]) byId(name).replaceChildren();
}

function withoutNear() {
  running.neighbours?.abort();
  byId("near").replaceChildren();
}

function withoutHead(words) {
  running.head?.abort();
  latest.head = null;
  byId("head_said").textContent = visible(words);
  byId("head_reading").textContent = "";
  byId("head_pair").replaceChildren();
}

const timers = {};
function soon(name, call, milliseconds = 250) {
  clearTimeout(timers[name]);
  timers[name] = setTimeout(call, milliseconds);
}

function refresh(milliseconds = 0) {
  remember();
  soon("pair", askPair, milliseconds);
  soon("near", askNear, milliseconds + 30);
  soon("head", askHead, milliseconds + 60);
}

// --- drawing ---

const layerOf = (found) => Math.min(state.layer, found.layers.length - 1);
const heading = (place) => (setup.models.length > 1 ? make("h3", {}, make("bdi", {}, visible(setup.models[place].name))) : null);
const named = (code) => setup.languages.find((each) => each.code === code)?.name ?? "any language";

function drawAll() {
  const curves = byId("curves"), pairs = byId("pairs");
  if (!latest.pair) return;
  byId("layer_name").textContent = `Layer ${state.layer}`;
  byId("layer").value = state.layer;
  byId("layer").setAttribute("aria-valuetext", `Layer ${state.layer} of ${byId("layer").max}; 0 is the embedding output`);
  const boxes = latest.pair.models.map((_, place) => make("div", {}, heading(place)));
  curves.replaceChildren(...boxes);
  latest.pair.models.forEach((found, place) => boxes[place].append(curve(found, layerOf(found), Math.floor(boxes[place].clientWidth), choose)));
  byId("said").textContent = latest.pair.models.map(inWords).join(" ");
  const figures = latest.pair.models.map((found) => {
    const level = found.layers[layerOf(found)];
    const sides = found.words.map((words, side) => words.map((word, at) => ({ ...word, value: level[side ? "target" : "source"][at] })));
    return pairFigure({
      sides, flows: state.flow ? level.flows : [], links: state.links ? level.links : [],
      statistical: state.statistical && latest.pair.statistical ? latest.pair.statistical : [], say: (words) => (byId("reading").textContent = words),
    });
  });
  pairs.replaceChildren(...figures.map((figure, place) => make("div", {}, heading(place), figure.element, summed(latest.pair.models[place]))));
  figures.forEach((figure) => figure.paint());
}

// A typed text that is not in the language beside it is judged by the wrong means: said, and mended by a click.
function drawDoubts(doubts) {
  const items = doubts.map((each) => {
    const item = make("li", {}, visible(each.message));
    if (each.language) {
      const button = make("button", { type: "button" }, `Choose ${named(each.language)}`);
      button.addEventListener("click", () => {
        state[`${each.side}_language`] = byId(`${each.side}_language`).value = each.language;
        refresh();
      });
      item.append(button);
    }
    return item;
  });
  byId("doubts").replaceChildren(...items);
  byId("doubts").hidden = !items.length;
}

function summed(found) {
  const level = found.layers[layerOf(found)];
  const rest = Math.abs(level.rest[0]) > 5e-4 || Math.abs(level.rest[1]) > 5e-4 ? ` Tokens of no word add ${number(level.rest[0], 3)} and ${number(level.rest[1], 3)}.` : "";
  return make("p", { class: "note" }, `Cosine ${number(level.explained, 3)}; transport ${number(level.transport, 3)}; ${level.links.length} links.${rest}`);
}

function inWords(found, place) {
  const at = layerOf(found), level = found.layers[at];
  const who = setup.models.length > 1 ? `${visible(setup.models[place].name)}: at` : "At";
  const cosine = `${who} layer ${at} the cosine is ${number(level.cosine)}.`;
  if (!found.band_pairs) return cosine;
  const low = found.unrelated[at], high = found.translations[at];
  const standing = {
    both: "Not clear: some unrelated sentences are as close, and some translations no closer.",
    unrelated: "No closer than unrelated sentences are.",
    translations: "As close as translations are, and closer than unrelated sentences.",
    neither: "Closer than unrelated sentences, and not as close as translations.",
  }[level.standing];
  return `${cosine} ${standing} Nine in ten unrelated sentences of ${named(state.source_language)} and ${named(state.target_language)} lie from ${number(low[0])} to ${number(low[2])}, translations from ${number(high[0])} to ${number(high[2])}.`;
}

function drawNear(found) {
  const tables = found.models.map((model, place) => {
    const rows = model.languages.map((group) => {
      const items = group.found.map((near) => make("li", { class: near.row === found.row ? "own" : "" }, make("span", {}, number(near.cosine)), make("bdi", {}, visible(near.text))));
      const rank = group.rank === null ? "" : make("span", { title: `The translation is number ${group.rank} of ${group.of}` }, `${group.rank}`, make("span", { class: "soft" }, ` / ${group.of}`));
      return make("tr", {}, make("th", { class: "language", scope: "row" }, visible(named(group.language))), make("td", {}, make("ul", {}, ...items)), make("td", { class: "rank" }, rank));
    });
    const head = ["Language", "Nearest sentences, with their cosine", found.row === null ? "" : "Rank"];
    const classes = ["language", "", "rank"];
    const cells = head.map((name, at) => make("th", { scope: "col", class: classes[at] }, name));
    const about = found.row === null ? "" : make("p", { class: "note" }, "In bold, the translation itself. Rank: its place among all sentences of its language, the nearest first.");
    return make("div", {}, heading(place), make("table", { class: "near" }, make("thead", {}, make("tr", {}, ...cells)), make("tbody", {}, ...rows)), about);
  });
  byId("near").replaceChildren(...tables);
}

function drawHead(found) {
  const sides = ["source", "target"].map((name) => {
    const side = found[name];
    return side.units.map((text, at) => ({ text, pieces: [], whole: true, value: side.attributions[at], opens: at > 0 && side.side[at] !== side.side[at - 1] }));
  });
  const figure = pairFigure({ sides, flows: found.flows, links: [], statistical: [], say: (words) => (byId("head_reading").textContent = words) });
  const likely = (side) => Object.entries(side.said).map(([name, share]) => `${visible(name)} ${number(100 * share, 0)} %`).join(", ");
  const said = likely(found.source) ? ` First: ${likely(found.source)}. Translation: ${likely(found.target)}.` : "";
  byId("head_said").textContent = `Explained: ${visible(found.source.explained)}. Consistency ${number(found.score)}; random attributions reach ${number(found.random)} on these texts. Completeness gap ${number(100 * found.source.gap, 1)} and ${number(100 * found.target.gap, 1)} % over ${found.steps} steps.${said}`;
  const notes = found.notes.length ? make("p", { class: "note" }, visible(found.notes.join("; "))) : null;
  byId("head_pair").replaceChildren(make("div", {}, figure.element, notes));
  figure.paint();
}

function choose(layer) {
  state.layer = layer;
  remember();
  drawAll();
  soon("near", askNear, 120);
}

// --- the corpus ---

function place() {
  byId("place").textContent = state.row >= 0 ? `row ${state.row + 1} of ${setup.corpus.rows}` : "typed, no row of the corpus";
}

function pick(row) {
  Object.assign(state, { row: row.row, source: row.source, target: row.target });
  byId("source").value = row.source;
  byId("target").value = row.target;
  place();
  refresh();
}

async function rowsFrom(start, more = {}) {
  if (!state.source_language || !state.target_language) {
    say("Choose a language of the corpus for both sentences.");
    return null;
  }
  return ask("rows", { source_language: state.source_language, target_language: state.target_language, start, ...more });
}

async function go(step) {
  const count = setup.corpus.rows;
  const start = state.row < 0 ? 0 : state.row + step;
  const found = await rowsFrom(((start % count) + count) % count, { count: 1 });
  if (found?.rows.length) pick(found.rows[0]);
}

async function look() {
  const words = byId("find").value;
  const list = byId("found");
  list.hidden = !words.trim();
  if (list.hidden) return;
  const found = await rowsFrom(0, { find: words.trim() });
  if (!found) return;
  const items = found.rows.map((row) => {
    const choice = make("button", { type: "button", onclick: () => { list.hidden = true; pick(row); } }, make("bdi", {}, visible(row.source)), make("bdi", {}, visible(row.target)));
    return make("li", {}, choice);
  });
  list.replaceChildren(...(items.length ? items : [make("li", { class: "soft" }, "No row has it.")]));
}

// --- wiring ---

function show() {
  for (const name of TEXTS) byId(name).value = state[name];
  for (const name of ["source_language", "target_language"]) {
    if (byId(name).value !== state[name]) byId(name).value = state[name] = "";
  }
  byId("centred").checked = state.centred;
  for (const name of ["flow", "links", "statistical"]) byId(`show_${name}`).checked = state[name];
  byId(`of_${state.of === "target" ? "target" : "source"}`).checked = true;
  showHead();
  place();
}

function showHead() {
  const head = setup.heads.find((each) => each.name === state.head);
  byId("seconds").hidden = !head || head.reads.length < 2;
  byId("label_choice").hidden = !head?.labels.length;
  if (!head) return;
  options(byId("label"), [["", "what it says of the first"], ...head.labels.map((name) => [name, name])]);
  if (!head.labels.includes(state.label)) state.label = "";
  byId("label").value = state.label;
  byId("second_name").textContent = head.reads[1] ? head.reads[1][0].toUpperCase() + head.reads[1].slice(1) : "";
}

function wire() {
  for (const name of ["source", "target"]) {
    byId(name).addEventListener("input", (event) => {
      state[name] = event.target.value;
      state.row = -1;
      place();
      refresh(250);
    });
  }
  for (const name of ["source_second", "target_second"]) {
    byId(name).addEventListener("input", (event) => {
      state[name] = event.target.value;
      remember();
      soon("head", askHead, 400);
    });
  }
  for (const name of ["source_language", "target_language"]) {
    byId(name).addEventListener("change", async (event) => {
      state[name] = event.target.value;
      if (state.row < 0 || !state.source_language || !state.target_language) return refresh();
      const found = await rowsFrom(state.row, { count: 1 });
      if (found?.rows.length) pick(found.rows[0]);
    });
  }
  for (const name of ["weighing", "linking"]) byId(name).addEventListener("change", (event) => { state[name] = event.target.value; refresh(); });
  for (const name of ["flow", "links", "statistical"]) byId(`show_${name}`).addEventListener("change", (event) => { state[name] = event.target.checked; remember(); drawAll(); });
  for (const name of ["source", "target"]) byId(`of_${name}`).addEventListener("change", () => { state.of = name; remember(); askNear(); });
  byId("centred").addEventListener("change", (event) => { state.centred = event.target.checked; refresh(); });
  byId("layer").addEventListener("input", (event) => choose(Number(event.target.value)));
  byId("head").addEventListener("change", (event) => { state.head = event.target.value; showHead(); remember(); askHead(); });
  byId("label").addEventListener("change", (event) => { state.label = event.target.value; remember(); askHead(); });
  byId("previous").addEventListener("click", () => go(-1));
  byId("next").addEventListener("click", () => go(1));
  byId("random").addEventListener("click", () => { state.row = Math.floor(Math.random() * setup.corpus.rows); go(0); });
  byId("swap").addEventListener("click", swap);
  byId("find").addEventListener("input", () => soon("find", look, 200));
  byId("copy").addEventListener("click", copy);
  addEventListener("hashchange", () => { recall(); settle(); show(); refresh(); });
  addEventListener("resize", () => soon("draw", () => { drawAll(); if (latest.head) drawHead(latest.head); }, 120));
}

function swap() {
  for (const name of ["", "_language", "_second"]) {
    [state[`source${name}`], state[`target${name}`]] = [state[`target${name}`], state[`source${name}`]];
  }
  show();
  refresh();
}

async function copy() {
  remember();
  try {
    await navigator.clipboard.writeText(location.href);
    byId("copied").textContent = "Copied. The token is not in it.";
  } catch {
    byId("copied").textContent = "The address of this page is the permalink; the token is not in it.";
  }
}

// A layer of the model, and languages where none were said: the state is whole.
function settle() {
  const deepest = Math.max(...setup.models.map((model) => model.layers)) - 1;
  byId("layer").max = deepest;
  if (state.layer < 0 || state.layer > deepest) state.layer = Math.round((3 * deepest) / 4);
  if (!setup.heads.some((head) => head.name === state.head)) state.head = setup.heads[0]?.name ?? "";
}

async function start() {
  const reply = await fetch("/api/setup");
  if (!reply.ok) return say("Open the address that interlingua printed: it holds a token.");
  setup = await reply.json();
  const names = setup.models.map((model) => visible(model.name));
  document.title = `${names.join(" and ")}, explored`;
  byId("title").replaceChildren(...names.flatMap((name, at) => [at ? " and " : null, make("bdi", {}, name)]).filter((part) => part !== null));
  byId("about").textContent = `${visible(setup.corpus.name)}: ${setup.corpus.rows} rows in ${setup.languages.length} languages`;
  const languages = [...setup.languages.map(({ code, name }) => [code, `${name} (${code})`]), ["", "another language"]];
  options(byId("source_language"), languages);
  options(byId("target_language"), languages);
  options(byId("weighing"), setup.weighings.map((name) => [name, name === "even" ? "all the same" : "by attribution"]));
  options(byId("linking"), setup.linkings.map((name) => [name, name]));
  options(byId("head"), setup.heads.map((head) => [head.name, `${head.name} (${head.task})`]));
  for (const name of ["source", "target", "source_second", "target_second"]) byId(name).maxLength = setup.longest;
  for (const id of ["curves", "pairs", "near"]) byId(id).classList.toggle("compared", setup.models.length > 1);
  byId("heads").hidden = !setup.heads.length;
  byId("statistical_choice").hidden = !setup.aligner;
  byId("notes").textContent = visible(setup.notes.join("; "));
  recall();
  settle();
  wire();
  show();
  if (ready()) return refresh();
  Object.assign(state, { source_language: setup.languages[0].code, target_language: setup.languages[1].code });
  show();
  return go(0);
}

start();
