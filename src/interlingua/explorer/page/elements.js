// Elements made of text nodes and attributes alone: no text is ever read as HTML.
const SVG = "http://www.w3.org/2000/svg";
// Control characters and bidirectional overrides act on nothing when they are written out (report/wording.py).
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufeff]/g;

export const byId = (id) => document.getElementById(id);

export function visible(text) {
  return text.replace(HIDDEN, (letter) => `[U+${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") element.setAttribute("class", value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const make = (tag, attributes, ...children) => filled(document.createElement(tag), attributes, children);
export const draw = (tag, attributes, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);

export function number(value, digits = 2) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

export function options(select, entries) {
  select.replaceChildren(...entries.map(([value, name]) => make("option", { value }, visible(name))));
}
