#!/bin/sh
# Makes plotly-interlingua.min.js: plotly.js with the traces our pages draw, and no other. Needs node and npm.
#   sh bundle.sh FOLDER   # FOLDER is for npm's files, and can be removed afterwards
# No trace that draws with WebGL is in it: where there is no GPU those are slower than our canvas (report/templates/dots.js).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1" && cd "$1"
[ -f package.json ] || echo '{"private": true}' > package.json
npm install --no-audit --no-fund plotly.js@4.1.1 esbuild@0.28.2 esbuild-plugin-glsl@1.4.2 \
  esbuild-plugin-environment@0.5.0 esbuild-plugin-inline-css@0.0.1 stream-browserify@3.0.0 buffer@6.0.3
cat > entry.cjs <<'ENTRY'
const Plotly = require("plotly.js/lib/core");
Plotly.register([
  require("plotly.js/lib/bar"),
  require("plotly.js/lib/box"),
  require("plotly.js/lib/heatmap"),
  require("plotly.js/lib/histogram"),
  require("plotly.js/lib/sankey"),
]);
module.exports = Plotly;
ENTRY
cat > bundle.cjs <<'BUNDLE'
const { environmentPlugin } = require("esbuild-plugin-environment");
const { glsl } = require("esbuild-plugin-glsl");
const css = require("esbuild-plugin-inline-css");
require("esbuild").build({
  entryPoints: ["entry.cjs"], outfile: process.argv[2], bundle: true, minify: true, format: "iife", globalName: "Plotly",
  plugins: [css(), glsl({ minify: true }), environmentPlugin({ NODE_DEBUG: false })],
  alias: { stream: "stream-browserify" }, define: { global: "window", "define.amd": "false" }, target: "es2020",
  charset: "utf8", legalComments: "inline",
  banner: { js: "/* plotly.js 4.1.1 (MIT), bar box heatmap histogram sankey scatter; made by bundle.sh */" },
}).catch(() => process.exit(1));
BUNDLE
node bundle.cjs "$here/plotly-interlingua.min.js"
