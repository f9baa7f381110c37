"use strict";
// A chart as PDF: vectors, and text in an embedded TrueType font that can be searched and copied.
//
// It reads the elements that kit/svg.py draws: path (M, L, C, Z, h0), rect, circle, text with translate and rotate(-90).
// A text with a letter that the font lacks (Arabic, Devanagari, Chinese …) is set by the browser, which shapes it, and
// embedded as a picture of 8 dots per pixel; everything else is vector.
window.interlingua ??= {};
window.interlingua.pdf = async (svgText, fontBuffer, title) => {
  const svg = new DOMParser().parseFromString(svgText, "image/svg+xml").documentElement;
  const [left, top, width, height] = svg.getAttribute("viewBox").split(" ").map(Number), POINT = 0.75;
  const font = readFont(fontBuffer), used = new Map(), pictures = [], states = new Map(), out = [];
  const short = (number) => String(Math.round(number * 100) / 100);
  const rgb = (hex) => [1, 3, 5].map((at) => short(parseInt(hex.slice(at, at + 2), 16) / 255)).join(" ");

  for (const element of svg.children) {
    const get = (name, otherwise = "") => element.getAttribute(name) ?? otherwise;
    const fill = get("fill", "#000000"), stroke = get("stroke", "none");
    if (element.tagName === "text") { await setText(element, get, fill); continue; }
    const shape = { path: () => path(get("d")), rect: () => `${["x", "y", "width", "height"].map((name) => short(Number(get(name)))).join(" ")} re`, circle: () => circle(Number(get("cx")), Number(get("cy")), Number(get("r"))) }[element.tagName]?.();
    if (!shape) continue;
    out.push("q");
    const opacity = Number(get("fill-opacity", "1"));
    if (opacity < 1) out.push(`/${state(opacity)} gs`);
    if (fill !== "none") out.push(`${rgb(fill)} rg`);
    if (stroke !== "none") {
      const cap = get("stroke-linecap") === "round" ? 1 : 0, join = get("stroke-linejoin") === "round" ? 1 : 0;
      out.push(`${rgb(stroke)} RG ${Number(get("stroke-width", "1"))} w ${cap} J ${join} j [${get("stroke-dasharray")}] 0 d`);
    }
    out.push(shape, fill !== "none" && stroke !== "none" ? "B" : stroke !== "none" ? "S" : fill !== "none" ? "f" : "n", "Q");
  }

  function path(commands) {
    return commands.replace(/([MLCZh])([^MLCZh]*)/g, (_, kind, rest) => {
      const numbers = rest.trim().split(/[ ,]+/).filter(Boolean);
      if (kind === "h") return " "; // h0: a dot, drawn by the round cap of a line of no length.
      return kind === "Z" ? " h" : ` ${numbers.join(" ")} ${{ M: "m", L: "l", C: "c" }[kind]}`;
    }).replace(/(\S+ \S+) m {2}/g, "$1 m $1 l ").trim();
  }
  function circle(x, y, r) {
    const k = 0.5523 * r, point = (...numbers) => numbers.map(short).join(" ");
    return `${point(x - r, y)} m ${point(x - r, y - k, x - k, y - r, x, y - r)} c ${point(x + k, y - r, x + r, y - k, x + r, y)} c ${point(x + r, y + k, x + k, y + r, x, y + r)} c ${point(x - k, y + r, x - r, y + k, x - r, y)} c h`;
  }
  function state(opacity) {
    if (!states.has(opacity)) states.set(opacity, "G" + states.size);
    return states.get(opacity);
  }

  async function setText(element, get, fill) {
    const text = element.textContent.replace(/[\u2066-\u2069]/g, ""), size = Number(get("font-size", svg.getAttribute("font-size"))), codes = Array.from(text, (letter) => letter.codePointAt(0));
    if (!text.trim()) return;
    const moved = /translate\(([-\d.]+) ([-\d.]+)\) rotate\(-90\)/.exec(get("transform")), glyphs = codes.map((code) => font.glyph(code));
    const known = glyphs.every(Boolean), picture = known ? null : await rasterized(text, size, fill);
    const wide = known ? glyphs.reduce((sum, glyph) => sum + font.advance(glyph), 0) / font.em * size : picture.wide;
    const x = Number(get("x", "0")) - { start: 0, middle: wide / 2, end: wide }[get("text-anchor", "start")], y = Number(get("y", "0"));
    // The page is upside down for text: y grows downwards in a drawing.
    const place = moved ? `q 0 -1 1 0 ${moved[1]} ${moved[2]} cm` : `q 1 0 0 1 ${short(x)} ${short(y)} cm`;
    if (known) {
      glyphs.forEach((glyph, at) => used.set(glyph, codes[at]));
      const hex = glyphs.map((glyph) => glyph.toString(16).padStart(4, "0")).join("");
      out.push(place, `${rgb(fill)} rg BT /F ${size} Tf 1 0 0 -1 0 0 Tm <${hex}> Tj ET Q`);
    } else {
      pictures.push(picture);
      out.push(place, `${short(picture.wide)} 0 0 ${short(-picture.tall)} 0 ${short(picture.below)} cm /P${pictures.length - 1} Do Q`);
    }
  }
  // Letters as coverage (a soft mask), so that they keep their colour and lie on anything.
  async function rasterized(text, size, fill) {
    const times = 8, canvas = document.createElement("canvas"), pen = canvas.getContext("2d"), name = `${size * times}px system-ui, sans-serif`;
    pen.font = name;
    const measured = pen.measureText(text), wide = Math.max(measured.width, 1), tall = size * times * 1.6;
    Object.assign(canvas, { width: Math.min(Math.ceil(wide), 8000), height: Math.ceil(tall) });
    Object.assign(pen, { font: name, fillStyle: "#000", textBaseline: "alphabetic" });
    pen.fillText(text, 0, tall * 0.7);
    const { data } = pen.getImageData(0, 0, canvas.width, canvas.height), cover = new Uint8Array(canvas.width * canvas.height);
    for (let at = 0; at < cover.length; at++) cover[at] = data[4 * at + 3];
    return { cover, columns: canvas.width, rows: canvas.height, wide: canvas.width / times, tall: canvas.height / times, below: canvas.height * 0.3 / times, fill };
  }

  /* ---- the file ---- */
  const objects = [], latin = (text) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const add = (body) => objects.push(body);
  async function stream(dictionary, bytes) {
    const packed = typeof CompressionStream === "undefined" ? bytes : new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"))).arrayBuffer());
    const filter = packed === bytes ? "" : "/Filter/FlateDecode";
    return [latin(`<<${dictionary}${filter}/Length ${packed.length}>>stream\n`), packed, latin("\nendstream")];
  }
  const hexText = (text) => "<feff" + Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16).padStart(4, "0")).join("") + ">";
  const content = `${POINT} 0 0 ${-POINT} ${short(-left * POINT)} ${short((height + top) * POINT)} cm\n${out.join("\n")}`;
  const FIRST = 10; // The number of the first picture's object.
  const resources = `/Font<</F 5 0 R>>/ExtGState<<${Array.from(states, ([opacity, name]) => `/${name}<</ca ${opacity}>>`).join("")}>>/XObject<<${pictures.map((_, at) => `/P${at} ${FIRST + 2 * at} 0 R`).join("")}>>`;
  add("<</Type/Catalog/Pages 2 0 R>>");
  add("<</Type/Pages/Kids[3 0 R]/Count 1>>");
  add(`<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${short(width * POINT)} ${short(height * POINT)}]/Contents 4 0 R/Resources<<${resources}>>>>`);
  add(await stream("", latin(content)));
  add("<</Type/Font/Subtype/Type0/BaseFont/NotoSans/Encoding/Identity-H/DescendantFonts[6 0 R]/ToUnicode 9 0 R>>");
  const scale = 1000 / font.em, widths = Array.from(used.keys()).sort((a, b) => a - b).map((glyph) => `${glyph}[${Math.round(font.advance(glyph) * scale)}]`).join("");
  add(`<</Type/Font/Subtype/CIDFontType2/BaseFont/NotoSans/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/CIDToGIDMap/Identity/FontDescriptor 7 0 R/DW 1000/W[${widths}]>>`);
  add(`<</Type/FontDescriptor/FontName/NotoSans/Flags 32/FontBBox[${font.box.map((side) => Math.round(side * scale)).join(" ")}]/ItalicAngle 0/Ascent ${Math.round(font.ascent * scale)}/Descent ${Math.round(font.descent * scale)}/CapHeight 714/StemV 80/FontFile2 8 0 R>>`);
  add(await stream(`/Length1 ${fontBuffer.byteLength}`, new Uint8Array(fontBuffer)));
  const four = (number) => number.toString(16).padStart(4, "0"), pairs = Array.from(used, ([glyph, code]) => `<${four(glyph)}> <${four(code)}>`), blocks = [];
  for (let at = 0; at < pairs.length; at += 100) blocks.push(`${Math.min(100, pairs.length - at)} beginbfchar\n${pairs.slice(at, at + 100).join("\n")}\nendbfchar`);
  add(await stream("", latin(`/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) /Supplement 0>> def /CMapName /Adobe-Identity-UCS def /CMapType 2 def 1 begincodespacerange <0000> <ffff> endcodespacerange\n${blocks.join("\n")}\nendcmap CMapName currentdict /CMap defineresource pop end end`)));
  for (const [at, picture] of pictures.entries()) {
    const colour = [1, 3, 5].map((place) => parseInt(picture.fill.slice(place, place + 2), 16)), size = `/Type/XObject/Subtype/Image/Width ${picture.columns}/Height ${picture.rows}/BitsPerComponent 8`;
    add(await stream(`${size}/ColorSpace/DeviceRGB/SMask ${FIRST + 2 * at + 1} 0 R`, Uint8Array.from({ length: 3 * picture.cover.length }, (_, place) => colour[place % 3])));
    add(await stream(`${size}/ColorSpace/DeviceGray`, picture.cover));
  }
  add(`<</Title ${hexText(title)}/Producer(interlingua)>>`);
  const parts = [latin("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")], places = [];
  let length = parts[0].length;
  const write = (bytes) => { parts.push(bytes); length += bytes.length; };
  objects.forEach((body, at) => {
    places.push(length);
    write(latin(`${at + 1} 0 obj\n`));
    for (const part of Array.isArray(body) ? body : [latin(body)]) write(part);
    write(latin("\nendobj\n"));
  });
  const table = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
  write(latin(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<</Size ${objects.length + 1}/Root 1 0 R/Info ${objects.length} 0 R>>\nstartxref\n${length}\n%%EOF\n`));
  return new Blob(parts, { type: "application/pdf" });

  // What a PDF asks of a TrueType font: glyphs by character (cmap, format 4), their widths, and its size.
  function readFont(buffer) {
    const view = new DataView(buffer), tables = {};
    for (let at = 0; at < view.getUint16(4); at++) {
      const entry = 12 + 16 * at, tag = String.fromCharCode(...new Uint8Array(buffer, entry, 4));
      tables[tag] = view.getUint32(entry + 8);
    }
    const { head, hhea, hmtx, cmap } = tables, long = view.getUint16(hhea + 34);
    let map = 0;
    for (let at = 0; at < view.getUint16(cmap + 2); at++) {
      const place = cmap + view.getUint32(cmap + 4 + 8 * at + 4);
      if (view.getUint16(place) === 4) map = place;
    }
    const count = view.getUint16(map + 6) / 2, ends = map + 14, starts = ends + 2 * count + 2, deltas = starts + 2 * count, ranges = deltas + 2 * count;
    function glyph(code) {
      for (let at = 0; at < count; at++) {
        if (view.getUint16(ends + 2 * at) < code) continue;
        const start = view.getUint16(starts + 2 * at), range = view.getUint16(ranges + 2 * at);
        if (start > code) return 0;
        const found = range ? view.getUint16(ranges + 2 * at + range + 2 * (code - start)) : code;
        return found ? (found + view.getUint16(deltas + 2 * at)) & 0xffff : 0;
      }
      return 0;
    }
    return {
      glyph, em: view.getUint16(head + 18), ascent: view.getInt16(hhea + 4), descent: view.getInt16(hhea + 6),
      box: [36, 38, 40, 42].map((at) => view.getInt16(head + at)),
      advance: (number) => view.getUint16(hmtx + 4 * Math.min(number, long - 1)),
    };
  }
};
