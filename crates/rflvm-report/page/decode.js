// Decode: what the model expects at a point of the latent plane, computed here from a thinned posterior.

class Decoder {
  constructor(held) {
    this.frequencies = held.frequencies;
    this.groups = held.groups;
    this.scale = array(held.scale);
    this.columns = this.scale.length;
    this.draws = held.draws.map((draw) => ({ w: array(draw.w), phase: array(draw.phase), weights: array(draw.weights), unit: draw.weights.unit, level: array(draw.level) }));
  }

  /** E[y | x] of every column under one draw. */
  one(draw, x) {
    const [count, columns, dim] = [this.frequencies, this.columns, x.length];
    const features = new Float64Array(2 * count + dim);
    for (let l = 0; l < count; l++) {
      let angle = draw.phase[l];
      for (let d = 0; d < dim; d++) angle += draw.w[l * dim + d] * x[d];
      features[l] = Math.sin(angle);
      features[count + l] = Math.cos(angle);
    }
    features.set(x, 2 * count);
    const f = new Float64Array(columns);
    for (let m = 0; m < features.length; m++) {
      const [h, start] = [features[m] * draw.unit, m * columns];
      for (let j = 0; j < columns; j++) f[j] += h * draw.weights[start + j];
    }
    for (let j = 0; j < columns; j++) f[j] = f[j] * this.scale[j] + draw.level[j];
    this.groups.forEach((group) => this.link(group, f));
    return f;
  }

  link({ link, columns, factors }, f) {
    let sum = 0;
    const most = link === "softmax" ? columns.reduce((a, j) => Math.max(a, f[j]), -Infinity) : 0;
    if (link === "softmax") for (const j of columns) sum += Math.exp(f[j] - most);
    columns.forEach((j, i) => {
      if (link === "exp") f[j] = Math.exp(f[j]);
      else if (link === "logistic") f[j] = factors[i] / (1 + Math.exp(-f[j]));
      else if (link === "softmax") f[j] = (factors[i] * Math.exp(f[j] - most)) / sum;
      else f[j] *= factors[i];
    });
  }

  /** Mean, standard deviation and 5% and 95% quantiles over the draws. */
  at(x, most = Infinity) {
    const draws = this.draws.slice(0, most).map((draw) => this.one(draw, x));
    const result = { mean: new Float64Array(this.columns), sd: new Float64Array(this.columns), draws };
    for (let j = 0; j < this.columns; j++) {
      let [sum, square] = [0, 0];
      for (const draw of draws) sum += draw[j];
      const mean = (result.mean[j] = sum / draws.length);
      for (const draw of draws) square += (draw[j] - mean) ** 2;
      result.sd[j] = Math.sqrt(square / draws.length);
    }
    return result;
  }

  /** Quantiles of one column at a result. */
  interval(result, j) {
    const sorted = result.draws.map((draw) => draw[j]).sort((a, b) => a - b);
    const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
    return [at(0.05), at(0.95)];
  }

  /** What the model expects over the rows: mean, standard deviation, least and largest of each column. */
  usual(positions, axes) {
    const count = Math.min(150, positions.length / axes);
    const all = Array.from({ length: count }, (_, i) => {
      const n = Math.floor(((2 * i + 1) * (positions.length / axes)) / (2 * count));
      return this.at(positions.slice(n * axes, (n + 1) * axes), 4).mean;
    });
    return Array.from({ length: this.columns }, (_, j) => {
      const values = all.map((mean) => mean[j]);
      const mean = values.reduce((a, b) => a + b, 0) / count;
      return { mean, sd: Math.sqrt(values.reduce((a, v) => a + (v - mean) ** 2, 0) / count), low: Math.min(...values), high: Math.max(...values) };
    });
  }
}

/** Columns that are listed at once. */
const LISTED = 14;

function decodeSection(map) {
  const lead = "Move the pointer over the plane to see what the model expects there.";
  if (data.decode.absent) return { section: card("decode", "Decode", `Not in this report: ${data.decode.absent}.`) };
  const [axes, positions, decoder] = [data.map.axes, array(data.map.mean), new Decoder(data.decode)];
  const x = new Float64Array(axes);
  const [host, panel] = [el("div", {}), el("div", {})];
  let [usual, order, isHeld] = [null, "unusual", false];
  const plane = new Plane(host, {
    label: "Latent plane. Arrow keys move the point that is decoded.", positions, axes,
    on: {
      point: (a, b) => { if (!isHeld) go(a, b); },
      move: (dx, dy) => go(x[plane.view.axes[0]] + (dx * 12) / plane.view.zoom, x[plane.view.axes[1]] - (dy * 12) / plane.view.zoom),
      draw: cross,
    },
  });
  plane.setMode("point");
  plane.setColours(map.plane.colours);
  map.colours.addEventListener("change", () => plane.setColours(map.plane.colours));

  function cross(context) {
    const [px, py] = plane.view.place(x[plane.view.axes[0]], axes > 1 ? x[plane.view.axes[1]] : 0);
    context.strokeStyle = css("--warm");
    context.lineWidth = 1.5;
    context.beginPath();
    context.arc(px, py, 7, 0, 2 * Math.PI);
    for (const [a, b] of [[-14, -4], [4, 14]]) { context.moveTo(px + a, py); context.lineTo(px + b, py); context.moveTo(px, py + a); context.lineTo(px, py + b); }
    context.stroke();
  }

  function go(a, b) {
    x[plane.view.axes[0]] = a;
    if (axes > 1) x[plane.view.axes[1]] = b;
    show();
    plane.redraw();
  }

  const place = el("p", { class: "note", role: "status" });
  const body = el("div", {});
  function show() {
    const result = decoder.at(x);
    place.textContent = `at ${Array.from(x, (v, d) => `x${d + 1} = ${short(v, 3)}`).join(", ")}; from ${many(decoder.draws.length, "posterior draw")}`;
    if (data.image) pictures(result);
    else bars(result);
  }

  function bars(result) {
    if (!usual) usual = decoder.usual(positions, axes);
    // A column whose expected value is hardly known is not taken to be unusual.
    const score = order === "largest" ? (j) => result.mean[j] : (j) => Math.abs(result.mean[j] - usual[j].mean) / (Math.hypot(usual[j].sd, result.sd[j]) || 1);
    const listed = Array.from(result.mean, (_, j) => j).sort((a, b) => score(b) - score(a)).slice(0, LISTED);
    const top = Math.max(...listed.map((j) => decoder.interval(result, j)[1]));
    const entry = (j) => {
      const [low, high] = decoder.interval(result, j);
      const [from, to] = order === "largest" ? [Math.min(0, ...listed.map((k) => usual[k].low)), top] : padded([Math.min(low, usual[j].low), Math.max(high, usual[j].high)]);
      const at = (v) => near(4 + 192 * Math.min(1, Math.max(0, (v - from) / (to - from || 1))));
      const strip = mark("svg", { class: "strip", viewBox: "0 0 200 14", role: "img", "aria-label": `${short(low)} to ${short(high)}, usually ${short(usual[j].mean)}` },
        mark("rect", { x: at(usual[j].low), width: Math.max(1, at(usual[j].high) - at(usual[j].low)), y: 5, height: 4, rx: 2, fill: "var(--grid)" }),
        mark("line", { x1: at(usual[j].mean), x2: at(usual[j].mean), y1: 2, y2: 12, stroke: "var(--faint)", "stroke-width": 1.5 }),
        mark("line", { x1: at(low), x2: at(high), y1: 7, y2: 7, stroke: "var(--accent)", "stroke-width": 3, "stroke-linecap": "round", "stroke-opacity": 0.45 }),
        mark("circle", { cx: at(result.mean[j]), cy: 7, r: 4, fill: "var(--accent)" }));
      return el("tr", {}, el("th", { scope: "row" }, breakable(columnName(j))), el("td", {}, strip), el("td", {}, short(result.mean[j], 3)), el("td", { class: "wider" }, `${short(low, 3)} … ${short(high, 3)}`));
    };
    replace(body, el("table", { class: "decoded" }, el("thead", {}, el("tr", {}, ["column", "over all rows", "expected", "90%"].map((text, i) => el("th", { scope: "col", class: i === 3 ? "wider" : null }, text)))), el("tbody", {}, listed.map(entry))));
  }

  // Pictures.
  let [uncertain, brightest] = [false, 0];
  function brightness() {
    const values = [];
    data.cells.columns.forEach((_, i) => { const all = observed(i); for (let n = 0; n < all.length; n += Math.ceil(all.length / 50)) if (!Number.isNaN(all[n])) values.push(all[n]); });
    values.sort((a, b) => a - b);
    return values[Math.floor(0.995 * (values.length - 1))] || 1;
  }
  function picture(values, most, isColoured) {
    const [height, width] = data.image;
    const canvas = el("canvas", { width, height, role: "img" });
    const context = canvas.getContext("2d");
    data.cells.kept.forEach((column, i) => {
      const share = Math.min(1, Math.max(0, values[i] / most));
      const grey = Math.round(255 * share);
      context.fillStyle = isColoured ? viridis(share) : `rgb(${grey},${grey},${grey})`;
      context.fillRect(column % width, Math.floor(column / width), 1, 1);
    });
    return canvas;
  }
  function pictures(result) {
    brightest ||= brightness();
    const [a, b] = plane.view.axes;
    let [nearest, least] = [0, Infinity];
    for (let n = 0; n < data.rows; n++) {
      const far = (positions[n * axes + a] - x[a]) ** 2 + (axes > 1 ? (positions[n * axes + b] - x[b]) ** 2 : 0);
      if (far < least) [nearest, least] = [n, far];
    }
    const row = data.cells.columns.map((_, i) => pixel(i, nearest));
    // A single draw far out must not darken the rest.
    const most = Math.min(result.sd.reduce((top, v) => Math.max(top, v), 0), brightest) || 1;
    replace(body, el("div", { class: "pictures" },
      el("figure", { class: "expected" }, picture(result.mean, brightest), el("figcaption", {}, "expected here")),
      uncertain ? el("figure", { class: "uncertain" }, picture(result.sd, most, true), el("figcaption", {}, `uncertainty of each pixel: sd over the draws, 0 to ${short(most, 3)}`)) : null,
      el("figure", { class: "nearest" }, picture(row, brightest), el("figcaption", {}, `nearest row: ${rows.id(nearest)}${rows.label(nearest) == null ? "" : `, ${data.map.labelName} ${rows.label(nearest)}`}`))));
  }
  /** One cell, without unpacking its column. */
  function pixel(i, n) {
    const held = data.cells.columns[i];
    if (held.codes) { const code = array(held.codes)[n]; return code === 255 ? 0 : held.values[code]; }
    const step = array(held.steps)[n];
    return step === 65535 ? 0 : held.steps.low + step * held.steps.unit;
  }

  // The axes across the plane, and sliders along the others.
  const names = Array.from({ length: axes }, (_, d) => [d, `x${d + 1}`]);
  const pick = [0, 1];
  const sliders = el("div", { class: "bar" });
  function others() {
    const [low, high] = extent([positions]);
    replace(sliders, names.filter(([d]) => !pick.includes(d)).map(([d, text]) => el("label", {}, text, el("input", { type: "range", min: low, max: high, step: (high - low) / 200, value: x[d], "aria-label": `${text} of the point`, input: (event) => { x[d] = Number(event.target.value); show(); } }))));
  }
  const menus = [0, 1].map((i) => menu(["Across", "Up"][i], names, i, (d) => { pick[i] = Number(d); plane.setAxes([...pick, 2], false); others(); show(); }));
  const bar = el("div", { class: "bar" }, axes > 2 ? menus : null,
    data.image ? toggle("Uncertainty", false, (on) => { uncertain = on; show(); })
      : choice("Which columns", [["unusual", "Most unusual here"], ["largest", "Largest"]], order, (key) => { order = key; show(); }),
    toggle("Hold the point", false, (on) => { isHeld = on; }));
  panel.append(place, body);
  if (axes > 2) others();
  const legend = data.image ? null : el("p", { class: "note" }, "Dot and line: expected value and its 90% interval at the point. Grey: the range over all rows, with a tick at the mean.");
  const hint = el("p", { class: "note" }, `${data.image ? "The uncertainty" : "The interval"} is that of the expected value, not of a new cell, which varies more.${data.decode.has_column_processes ? " The column processes over time are left out: this is the part of the latent position alone." : ""}`);
  const section = card("decode", "Decode", lead, bar, axes > 2 ? sliders : null, el("div", { class: "decode" }, host, el("div", {}, panel, legend, hint)));
  setTimeout(show, 0);
  return { section, plane, decoder };
}
