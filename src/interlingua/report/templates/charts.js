"use strict";
// Charts of a page: menus, insertion when near the screen, downloads. They are drawn in Python (kit/svg.py).
//
// The contract with the page (kit/page.py, page.js):
//   Python  kit.svg.chart_css() goes into the page's <style>, after page.css; it defines the chart colours of both themes
//           beside page.css's --paper --ink --soft --line (chosen by data-theme=light|dark on <html>, else by the system).
//           kit.figure.charts_payload(charts, number=…) -> dict goes into the page's data as data.charts, where `charts`
//           are all Chart and ChartMenu of the page and `number(record)` is the record's number on the page.
//           The scripts pdf.js, dots.js and charts.js stand before page.js, in this order.
//   HTML    <figure class="chart" data-chart="NAME"></figure> for a chart, left empty: this script fills in the heading
//           (<h3>), menus, drawing, caption, downloads and table. NAME is Chart.name or ChartMenu.name.
//   page.js calls window.interlingua.charts.mount(root, data.charts) once, root = document, and has itself
//           window.interlingua.tip = {show(text, x, y), hide()}. Its listeners on the document serve every
//           [data-tip] (whole text of a tip, with \n: shown as it is, in place of the summary of records) and every
//           [data-r="3 17"] (numbers of records: opened by click or Enter) wherever they are, marks of charts included.
//   Printing: mount returns {drawAll(), redraw()}; page.js calls drawAll() on beforeprint, redraw() when the theme changed
//           (only maps on a canvas need it; the SVGs follow the CSS variables).
//           document.documentElement.dataset.charts is "all" when every chart has been inserted.
window.interlingua ??= {};
