// The latent map.

function mapSection() {
  const axes = data.map.axes;
  const positions = array(data.map.mean);
  const sd = array(data.map.sd);
  const stage = el("div", { class: "stage" });
  const left = el("div", {});
  const [legend, about, chosen] = [el("div", {}), el("div", {}), el("div", {})];
  const side = el("div", { class: "side" }, legend, about, chosen);
  const tip = el("div", { class: "tip", hidden: true });
  let [muted, selected, ellipses] = [new Set(), [], false];

  const plane = new Plane(left, {
    label: `Latent map of ${many(data.rows, "row")}. Arrow keys move between rows, plus and minus zoom, 0 shows all.`,
    positions, axes,
    on: { hover: tell, select, draw: (context, plane) => { if (ellipses) some(plane).forEach((n) => plane.ellipse(n, css("--faint"))); } },
  });
  plane.box.append(tip);

  /** Rows evenly spaced over those in view, for ellipses. */
  function some(plane) {
    const [w, h] = plane.view.size;
    const inView = [];
    plane.view.x.forEach((x, n) => { if (x > 0 && x < w && plane.view.y[n] > 0 && plane.view.y[n] < h && !(plane.faded && plane.faded[n])) inView.push(n); });
    const step = Math.max(1, Math.ceil(inView.length / 300));
    return inView.filter((_, i) => i % step === 0);
  }

  // What rows can be coloured by.
  const uncertainty = () => Float32Array.from({ length: data.rows }, (_, n) => { let sum = 0; for (let d = 0; d < axes; d++) sum += sd[n * axes + d] ** 2; return Math.sqrt(sum / axes); });
  const times = data.map.times;
  const makers = new Map();
  if (data.map.labels) makers.set("label", [data.map.labelName, () => byLabel(data.map.labelName, data.map.labels)]);
  if (times) makers.set("time", ["time", () => byNumber("time", array(times.at), timeText)]);
  if (times && times.names.length > 1) makers.set("sequence", ["sequence", () => byClass("sequence", Array.from(array(times.sequence), (s) => times.names[s]))]);
  makers.set("plain", ["one colour", plain]);
  makers.set("uncertainty", ["uncertainty", () => byNumber("root mean square sd of the position", uncertainty())]);
  if (data.map.outlier_score) makers.set("outlier score", ["outlier score", () => byNumber("outlier score: fraction of rows that are predicted better", array(data.map.outlier_score))]);
  const columns = data.cells.columns.map((_, i) => [`column ${i}`, columnName(i)]);
  const first = makers.keys().next().value;
  function colour(name) {
    const found = makers.get(name);
    muted = new Set();
    plane.setColours(found ? found[1]() : byNumber(columnName(Number(name.slice(7))), observed(Number(name.slice(7)))));
    fade();
    showLegend();
  }
  const colours = menu("Colour by", [["Rows", [...makers].map(([key, [text]]) => [key, text])], ["Columns", columns]], first, colour);

  function fade() {
    const { codes } = plane.colours;
    const hidden = (n) => muted.has(codes[n]) || plane.later?.(n);
    plane.faded = muted.size || plane.later ? Uint8Array.from(codes, (_, n) => (hidden(n) ? 1 : 0)) : null;
    plane.redraw();
  }

  function showLegend() {
    const c = plane.colours;
    if (c.kind === "plain") return replace(legend);
    if (c.kind === "numbers") {
      const strip = el("canvas", { class: "ramp", width: STEPS, height: 1, role: "img", "aria-label": `from ${c.format(c.low)} to ${c.format(c.high)}` });
      const context = strip.getContext("2d");
      for (let i = 0; i < STEPS; i++) { context.fillStyle = c.looks[i].colour; context.fillRect(i, 0, 1, 1); }
      return replace(legend, el("h3", {}, c.name), strip, el("div", { class: "ends" }, el("span", {}, c.format(c.low)), el("span", {}, c.format(c.high))),
        toggle("Cyclic", Boolean(c.cyclic), (on) => { plane.setColours(cyclic(c, on)); showLegend(); }),
        c.missing ? el("p", { class: "note" }, `grey: ${many(c.missing, "row")} without a value`) : null);
    }
    const entry = (look, i) => {
      const swatch = el("span", { class: look.ring ? "swatch ring" : "swatch" });
      swatch.style[look.ring ? "borderColor" : "background"] = look.colour;
      const button = el("button", { type: "button", "aria-pressed": "true", title: "Show or fade this class", click: () => {
        if (!muted.delete(i)) muted.add(i);
        button.setAttribute("aria-pressed", String(!muted.has(i)));
        button.style.opacity = muted.has(i) ? 0.4 : 1;
        fade();
      } }, swatch, el("span", {}, look.name), el("span", { class: "count" }, String(look.count)));
      return el("li", {}, button);
    };
    replace(legend, el("h3", {}, c.name), el("ul", { class: "legend" }, c.looks.map(entry)));
  }

  function facts(n) {
    const list = [];
    const put = (name, value) => value != null && list.push([name, value]);
    put(data.map.labelName, rows.label(n));
    if (times) put("time", times.texts ? times.texts[n] : timeText(array(times.at)[n]));
    if (times && times.names.length) put("sequence", times.names[array(times.sequence)[n]]);
    for (let d = 0; d < Math.min(axes, 6); d++) put(`x${d + 1}`, `${short(positions[n * axes + d], 3)} ± ${short(sd[n * axes + d], 2)}`);
    if (data.map.betweenModes) put("between modes", `${Math.round(100 * array(data.map.betweenModes)[n])}% of its variance`);
    if (data.map.outlier_score) put("outlier score", short(array(data.map.outlier_score)[n], 2));
    if (plane.colours.kind === "numbers" && !list.some(([name]) => plane.colours.name.startsWith(name))) put(plane.colours.name, plane.colours.text(n));
    return list;
  }

  function tell(n) {
    tip.hidden = n < 0;
    if (n < 0) return replace(about, el("p", { class: "note" }, "Point at a row to see its name, its position and its 90% credible ellipse."));
    const text = plane.colours.text(n);
    replace(tip, el("b", {}, rows.id(n)), text == null ? "" : text);
    plane.view.project();
    const [x, y, w] = [plane.view.x[n], plane.view.y[n], plane.view.size[0]];
    tip.style.left = `${Math.max(4, Math.min(x + 14, w - tip.offsetWidth - 6))}px`;
    tip.style.top = `${Math.max(4, y - tip.offsetHeight - 12)}px`;
    const list = facts(n);
    replace(about, el("h3", {}, `Row ${rows.id(n)}`), el("dl", { class: "facts" }, list.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
    say(`Row ${rows.id(n)}, ${list.map(([name, value]) => `${name} ${value}`).join(", ")}`);
  }

  function select(list) {
    selected = list;
    plane.ringed = new Set(list.length <= 3000 ? list : []);
    plane.redraw();
    if (!list.length) return replace(chosen);
    const shown = list.slice(0, 200);
    const copy = el("button", { type: "button", click: async () => {
      const names = list.map(rows.id).join("\n");
      try { await navigator.clipboard.writeText(names); copy.textContent = "Copied"; } catch { copy.textContent = "Copying is not allowed here"; }
    } }, "Copy names");
    replace(chosen, el("h3", {}, many(list.length, "row")), summary(list),
      el("ol", { class: "names" }, shown.map((n) => el("li", { value: n + 1 }, rows.label(n) == null ? rows.id(n) : `${rows.id(n)} · ${rows.label(n)}`))),
      list.length > shown.length ? el("p", { class: "note" }, `and ${list.length - shown.length} more`) : null,
      el("div", { class: "bar" }, copy, el("button", { type: "button", click: () => select([]) }, "Clear")));
    say(`${many(list.length, "row")} selected`);
  }

  /** Columns in which the chosen rows differ most from all rows, in standard deviations. */
  function summary(list) {
    if (list.length < 3 || list.length === data.rows) return null;
    const scores = data.cells.columns.map((_, i) => {
      const values = observed(i);
      let [sum, square, count] = [0, 0, 0];
      for (const v of values) if (!Number.isNaN(v)) { sum += v; square += v * v; count++; }
      const [mean, spread] = [sum / count, Math.sqrt(Math.max(0, square / count - (sum / count) ** 2))];
      const own = list.map((n) => values[n]).filter((v) => !Number.isNaN(v));
      return [i, spread > 0 && own.length ? (own.reduce((a, b) => a + b, 0) / own.length - mean) / spread : 0];
    }).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 4);
    return el("p", { class: "note" }, "most different: ", scores.map(([i, z], k) => `${k ? ", " : ""}${columnName(i)} (${z > 0 ? "+" : "−"}${Math.abs(z).toFixed(1)} sd)`));
  }

  // Search by name or label.
  const [box, found] = [el("input", { type: "search", placeholder: "Find a row …", "aria-label": "Find a row by name or label", input: search, keydown: (event) => {
    if (event.key === "Enter" && hits.length) { plane.show(hits[next % hits.length]); next++; }
  } }), el("span", { class: "note", role: "status" })];
  let [hits, next] = [[], 0];
  function search() {
    const text = box.value.trim().toLowerCase();
    hits = [];
    next = 0;
    if (text) for (let n = 0; n < data.rows; n++) if (rows.id(n).toLowerCase().includes(text) || (rows.label(n) || "").toLowerCase().includes(text)) hits.push(n);
    // An exact name comes first.
    hits.sort((a, b) => (rows.id(b).toLowerCase() === text) - (rows.id(a).toLowerCase() === text));
    plane.ringed = new Set(text ? hits.slice(0, 3000) : selected);
    found.textContent = text ? `${many(hits.length, "row")}${hits.length ? ": Enter goes to the next" : ""}` : "";
    if (hits.length && hits.length < data.rows && rows.id(hits[0]).toLowerCase() === text) plane.show(hits[0]);
    plane.redraw();
  }

  // Axes.
  const pick = [0, 1, 2];
  let solid = false;
  const names = Array.from({ length: axes }, (_, d) => [d, `x${d + 1}`]);
  const menus = [0, 1, 2].map((i) => menu(["Across", "Up", "Deep"][i], names, i, (d) => { pick[i] = Number(d); plane.setAxes([...pick], solid); }));
  menus[2].hidden = true;
  const shape = choice("Dimensions", [["2", "2-D"], ["3", "3-D"]], "2", (key) => {
    solid = key === "3";
    menus[2].hidden = !solid;
    plane.view.turn = [1, 0, 0, 0, 1, 0, 0, 0, 1];
    plane.setAxes([...pick], solid);
    if (solid) plane.view.rotate(0.6, 0.35);
    plane.redraw();
  });
  const mode = choice("What dragging does", [["pan", "Move", "Drag to move, or to turn in 3-D"], ["lasso", "Lasso", "Draw around rows; also with Shift and dragging"]], "pan", (key) => plane.setMode(key));
  const bar = el("div", { class: "bar" }, colours, axes > 1 ? [axes > 2 ? menus : null, axes > 2 ? shape : null] : null, mode,
    toggle("Ellipses", false, (on) => { ellipses = on; plane.redraw(); }), box, found);

  if (times) left.append(timeBar(plane, fade));
  stage.append(left, side);
  tell(-1);
  colour(first);
  const lead = `Each point is a row at its estimated position${axes > 1 ? "; axes are principal axes and have no units" : "; the height only keeps points apart"}. ${times ? "Lines join rows in order of time." : ""}`;
  const section = card("map", "Latent map", lead, bar, stage, times ? timeCharts() : null);
  return { section, plane, colours: colours.select };
}
