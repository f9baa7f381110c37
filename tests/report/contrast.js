() => {
  const parse = (text) => {
    const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
    return text.startsWith("color(srgb") ? [255 * r, 255 * g, 255 * b, a] : [r, g, b, a];
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a)];
  const linear = (part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const contrast = (one, two) => {
    const [low, high] = [luminance(one), luminance(two)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const ground = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour[3]) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((under, layer) => over(layer, under), [255, 255, 255]);
  };
  const bad = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim(), element = walker.currentNode.parentElement;
    const hidden = !element.checkVisibility() || element.closest("script, style, noscript, svg, dialog, .skip, .again");
    if (!text || hidden) continue;
    const style = getComputedStyle(element), under = ground(element), size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const found = contrast(over(parse(style.color), under), under);
    if (found < (isLarge ? 3 : 4.5)) bad.push([text.slice(0, 40), Math.round(100 * found) / 100]);
  }
  // Charts: texts on the cell they stand in, else on the page; marks that open records, but for cells with a number in them.
  for (const svg of document.querySelectorAll(".chart svg")) {
    const cells = Array.from(svg.querySelectorAll("rect[data-tip]"), (rect) => [rect.getBoundingClientRect(), parse(getComputedStyle(rect).fill)]);
    const paper = ground(svg.parentElement);
    for (const text of svg.querySelectorAll("text")) {
      const box = text.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
      const cell = cells.find(([own]) => own.left <= x && x <= own.right && own.top <= y && y <= own.bottom);
      const found = contrast(parse(getComputedStyle(text).fill), cell ? cell[1] : paper);
      if (found < 4.5) bad.push([text.textContent, Math.round(100 * found) / 100]);
    }
    for (const mark of svg.querySelectorAll("path[data-tip]")) {
      const style = getComputedStyle(mark), paints = [style.fill, style.stroke].filter((paint) => /^rgb/.test(paint) && parse(paint)[3] > 0);
      const found = Math.max(...paints.map((paint) => contrast(over(parse(paint), paper), paper)));
      if (paints.length && found < 3) bad.push([mark.dataset.tip, Math.round(100 * found) / 100]);
    }
  }
  return bad;
}
