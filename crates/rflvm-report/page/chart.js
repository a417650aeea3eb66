// Small charts as SVG: axes with round numbers, and marks on them.

function ticks(low, high, count = 5) {
  const raw = (high - low) / count;
  if (!(raw > 0) || !Number.isFinite(raw)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((m) => m * power >= raw * 0.999) * power;
  const all = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) all.push(Number((i * step).toPrecision(12)));
  return all;
}

function extent(lists) {
  let [low, high] = [Infinity, -Infinity];
  for (const list of lists) for (const v of list) if (v != null && v < Infinity && v > -Infinity) { if (v < low) low = v; if (v > high) high = v; }
  if (low > high) return [0, 1];
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

function padded([low, high], share = 0.05) {
  return [low - share * (high - low), high + share * (high - low)];
}

/** A chart: `x` and `y` are { domain, label, format, ticks }; `draw` gets two scales and returns marks. */
function chart({ label, x, y, width: wish = 380, height = 230, left = 46, draw }) {
  // On a narrow screen it is drawn narrow, so that its text stays as large as the text around it.
  const width = Math.min(wish, Math.max(260, document.documentElement.clientWidth - 62));
  const [top, right, bottom] = [8, 10, x.label ? 36 : 22];
  const sx = (v) => left + ((v - x.domain[0]) / (x.domain[1] - x.domain[0])) * (width - left - right);
  const sy = (v) => height - bottom - ((v - y.domain[0]) / (y.domain[1] - y.domain[0])) * (height - top - bottom);
  const across = (x.ticks || ticks(...x.domain, 5)).map((v) => [
    mark("line", { x1: sx(v), x2: sx(v), y1: top, y2: height - bottom, stroke: "var(--grid)" }),
    mark("text", { x: sx(v), y: height - bottom + 14, "text-anchor": "middle" }, (x.format || short)(v)),
  ]);
  const up = (y.ticks || ticks(...y.domain, 4)).map((v) => [
    mark("line", { x1: left, x2: width - right, y1: sy(v), y2: sy(v), stroke: "var(--grid)" }),
    mark("text", { x: left - 6, y: sy(v) + 4, "text-anchor": "end" }, (y.format || short)(v)),
  ]);
  const names = [
    x.label && mark("text", { x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle", fill: "var(--ink)" }, x.label),
    y.label && mark("text", { x: 0, y: 0, transform: `translate(11 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle", fill: "var(--ink)" }, y.label),
  ];
  const body = mark("g", {}, draw(sx, sy));
  const svg = mark("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, mark("title", {}, label), across, up, body, names);
  svg.style.maxWidth = `${width * 1.2}px`;
  return svg;
}

const near = (v) => Math.round(v * 100) / 100;

function line(xs, ys, sx, sy, attributes) {
  let path = "";
  let pen = "M";
  for (let i = 0; i < xs.length; i++) {
    if (ys[i] == null || Number.isNaN(ys[i])) { pen = "M"; continue; }
    path += `${pen}${near(sx(xs[i]))} ${near(sy(ys[i]))}`;
    pen = "L";
  }
  return mark("path", { d: path, fill: "none", "stroke-width": 1.6, "stroke-linejoin": "round", ...attributes });
}

function band(xs, lows, highs, sx, sy, attributes) {
  const there = Array.from(xs, (x, i) => `${near(sx(x))} ${near(sy(highs[i]))}`);
  const back = Array.from(xs, (x, i) => `${near(sx(x))} ${near(sy(lows[i]))}`).reverse();
  return mark("path", { d: `M${there.concat(back).join("L")}Z`, "fill-opacity": 0.18, stroke: "none", ...attributes });
}

/** Many dots as one path. */
function dots(xs, ys, sx, sy, attributes) {
  let path = "";
  for (let i = 0; i < xs.length; i++) if (ys[i] != null && xs[i] != null) path += `M${near(sx(xs[i]))} ${near(sy(ys[i]))}h0`;
  return mark("path", { d: path, fill: "none", "stroke-linecap": "round", "stroke-width": 4, ...attributes });
}

/** Names of lines, below a chart. */
function key(names, colours) {
  return el("p", { class: "note key" }, names.map((name, i) => {
    const swatch = el("span", { class: "swatch" });
    swatch.style.background = colours[i];
    return el("span", {}, swatch, name);
  }));
}
