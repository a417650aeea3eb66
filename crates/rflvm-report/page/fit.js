// How well the model describes the table.

function fitSection() {
  const { checks, predictions, missing, forecast, modes } = data.fit;
  const parts = [checksPart(checks), predictionsPart(predictions), missing && missingPart(missing), forecast && forecast.length ? forecastPart(forecast) : null, modes.length > 1 ? modesPart(modes) : null];
  return { section: card("fit", "Fit", "Whether the model generates tables like the observed one, and what it predicts.", parts.filter(Boolean)) };
}

const part = (title, ...children) => el("div", { class: "block" }, el("h3", {}, title), children);

function checksPart(checks) {
  const title = "Posterior predictive checks";
  if (checks.absent) return part(title, el("p", { class: "note" }, sentence(checks.absent)));
  const one = (check) => {
    const values = check.replicated.filter((v) => v != null);
    const domain = padded(extent([values, [check.observed], check.range]), 0.08);
    const bins = 24;
    const counts = new Array(bins).fill(0);
    values.forEach((v) => counts[Math.min(bins - 1, Math.max(0, Math.floor(((v - domain[0]) / (domain[1] - domain[0])) * bins)))]++);
    const isPoor = check.p != null && check.p < 0.05;
    const at = (i) => domain[0] + ((domain[1] - domain[0]) * i) / bins;
    return el("figure", {}, el("h3", {}, check.statistic), chart({
      label: `${check.statistic}: ${check.words}`, width: 260, height: 130, left: 8, x: { domain, ticks: ticks(...domain, 3) }, y: { domain: [0, Math.max(...counts, 1)], ticks: [] },
      draw: (sx, sy) => counts.map((count, i) => mark("rect", { x: sx(at(i)) + 0.5, width: Math.max(0, sx(at(i + 1)) - sx(at(i)) - 1), y: sy(count), height: sy(0) - sy(count), fill: "var(--faint)", "fill-opacity": 0.55 }))
        .concat(check.observed == null ? [] : mark("line", { x1: sx(check.observed), x2: sx(check.observed), y1: sy(Math.max(...counts, 1)), y2: sy(0), stroke: isPoor ? "var(--warm)" : "var(--accent)", "stroke-width": 3 })),
    }), el("figcaption", {}, `${isPoor ? "⚠ " : ""}${checks.checks.length && data.families.length > 1 ? `${check.family}: ` : ""}${check.words}`), check.suggests ? el("figcaption", {}, sentence(check.suggests)) : null);
  };
  return part(title, el("div", { class: "charts small" }, checks.checks.map(one)),
    el("p", { class: "note" }, `Bars: ${many(checks.draws, "table")} drawn from the fit. Line: the observed table. ${sentence(checks.no_advice)}`));
}

function predictionsPart(cells) {
  const title = "Observed and predicted";
  if (cells.absent) return part(title, el("p", { class: "note" }, sentence(cells.absent)));
  const host = el("div", {});
  const present = [...new Set(cells.map((cell) => cell[1]))].sort((a, b) => a - b);
  function show(column) {
    const own = column === "all" ? cells : cells.filter((cell) => cell[1] === Number(column));
    const inside = own.filter(([, , y, , low, high]) => y >= low && y <= high).length;
    // Counts may span orders of magnitude.
    const least = Math.min(...own.flatMap((cell) => [cell[2], cell[3]]));
    const most = Math.max(...own.flatMap((cell) => [cell[2], cell[3]]));
    const isLog = least >= 0 && most > 10 && most > (8 * own.reduce((sum, cell) => sum + cell[2], 0)) / own.length;
    const [to, from] = isLog ? [Math.log1p, Math.expm1] : [(v) => v, (v) => v];
    const domain = padded(extent([[to(least), to(most)]]), 0.03);
    const marks = isLog ? [0, 1, 3, 10, 30, 100, 300, 1e3, 3e3, 1e4, 1e5, 1e6].filter((v) => v >= least && v <= most).map(to) : ticks(...domain, 4);
    const axis = (label) => ({ label, domain, ticks: marks, format: (v) => short(from(v), 3) });
    replace(host, chart({
      label: `Predicted against observed values of ${many(own.length, "cell")}`, width: 460, height: 330, x: axis("predicted mean"), y: axis("observed"),
      draw: (sx, sy) => [mark("line", { x1: sx(domain[0]), y1: sy(domain[0]), x2: sx(domain[1]), y2: sy(domain[1]), stroke: "var(--faint)", "stroke-dasharray": "4 4" }),
        dots(own.map((cell) => to(cell[3])), own.map((cell) => to(cell[2])), sx, sy, { stroke: "var(--accent)", "stroke-opacity": own.length > 800 ? 0.3 : 0.6 })],
    }), el("p", { class: "note" }, `${many(own.length, "cell")}${column === "all" && own.length < data.rows * data.columns.length ? " of rows evenly spaced over the table" : ""}; ${((100 * inside) / own.length).toFixed(0)}% lie inside their 90% intervals. Cells are predicted with themselves in the fit, so more than 90% is usual.${isLog ? " Axes: log(1 + y)." : ""}`));
  }
  show("all");
  return part(title, el("div", { class: "bar" }, menu("Column", [["all", "all columns"], ...present.map((c) => [c, data.columns[c]])], "all", show)), el("figure", { class: "one" }, host));
}

function missingPart({ total, cells, absent }) {
  const title = "Missing cells";
  if (absent || cells.absent) return part(title, el("p", { class: "note" }, sentence(absent || cells.absent)));
  // Columns have their own units.
  const spans = new Map();
  for (const [, column, , , q05, q95] of cells) spans.set(column, extent([spans.get(column) || [], [q05, q95]]));
  const entry = ([n, column, , mean, q05, q95]) => {
    const [low, high] = spans.get(column);
    const at = (v) => near(4 + (192 * (v - low)) / (high - low));
    return el("tr", {}, el("th", { scope: "row" }, rows.id(n)), el("td", {}, data.columns[column]), el("td", {}, short(mean, 4)), el("td", {}, `${short(q05, 4)} … ${short(q95, 4)}`),
    el("td", {}, mean == null ? "" : mark("svg", { class: "strip", viewBox: "0 0 200 12", role: "img", "aria-label": `${short(q05)} to ${short(q95)}` },
      mark("line", { x1: at(q05), x2: Math.max(at(q95), at(q05) + 0.5), y1: 6, y2: 6, stroke: "var(--accent)", "stroke-width": 3, "stroke-opacity": 0.45, "stroke-linecap": "round" }), mark("circle", { cx: at(mean), cy: 6, r: 3.5, fill: "var(--accent)" }))));
  };
  return part(title, el("div", { class: "scroll" }, el("table", { class: "cells" }, el("thead", {}, el("tr", {}, ["row", "column", "mean", "90%", ""].map((text) => el("th", { scope: "col" }, text)))), el("tbody", {}, cells.map(entry)))),
    el("p", { class: "note" }, `${many(total, "cell")} missing${total > cells.length ? `; the first ${cells.length} are listed, and imputed.csv has all` : ""}. Where a mean does not exist, the median is in its place. Intervals are of the cell itself; bars have one scale per column.`));
}

function forecastPart(forecast) {
  const host = el("div", {});
  let [sequence, column] = [0, 0];
  function show() {
    const { past, future, columns } = forecast[sequence];
    const { seen, mean, low, high } = columns[column];
    const start = Math.max(0, past.length - 120);
    const [when, cells] = [past.slice(start), seen.slice(start)];
    const y = { label: data.columns[column], domain: padded(extent([cells, low, high])) };
    const x = { label: "time", domain: extent([when, future]), format: timeText };
    if (data.map.times.origin != null) x.ticks = ticks(...x.domain, 4);
    replace(host, chart({ label: `Forecast of ${data.columns[column]}`, width: 640, height: 260, x, y, draw: (sx, sy) => [
      line(when, cells, sx, sy, { stroke: "var(--faint)", "stroke-width": 1 }), dots(when, cells, sx, sy, { stroke: "var(--ink)" }),
      band(future, low, high, sx, sy, { fill: "var(--warm)" }), line(future, mean, sx, sy, { stroke: "var(--warm)", "stroke-width": 2 }),
    ] }));
  }
  show();
  const names = forecast.map((one, i) => [i, one.name ?? `sequence ${i + 1}`]);
  return part("Forecasts", el("div", { class: "bar" }, forecast.length > 1 ? menu("Sequence", names, 0, (i) => { sequence = Number(i); show(); }) : null,
    menu("Column", forecast[0].columns.map((_, i) => [i, data.columns[i]]), 0, (i) => { column = Number(i); show(); })), host,
  el("p", { class: "note" }, "Points: observed rows. Line and band: mean and 90% interval of new cells at the next times."));
}

/** The modes that were found before the chains started, in the colours of the latent map. */
function modesPart(modes) {
  const colours = data.map.labels ? byLabel("", data.map.labels) : data.map.times ? byNumber("", array(data.map.times.at)) : plain();
  const one = (mode, i) => {
    const [axes, positions] = [mode.axes, array(mode.positions)];
    const step = Math.max(1, Math.ceil(data.rows / 1500));
    const chosen = Array.from({ length: Math.ceil(data.rows / step) }, (_, k) => k * step);
    const coordinate = (n, d) => (d < axes ? positions[n * axes + d] : 0);
    const [xs, ys] = [0, 1].map((d) => chosen.map((n) => coordinate(n, d)));
    const [sx0, sy0] = [extent([xs]), extent([ys])];
    const reach = 0.54 * Math.max(sx0[1] - sx0[0], sy0[1] - sy0[0]);
    const domain = ([low, high]) => [(low + high) / 2 - reach, (low + high) / 2 + reach];
    const codes = [...new Set(chosen.map((n) => colours.codes[n]))];
    return el("figure", {}, el("h3", {}, i === 0 ? "Map 1, which the chains sample" : `Map ${i + 1}`), chart({
      label: `Map ${i + 1}`, width: 260, height: 250, left: 8, x: { domain: domain(sx0), ticks: [] }, y: { domain: domain(sy0), ticks: [] },
      draw: (sx, sy) => codes.map((code) => { const own = chosen.map((n, k) => (colours.codes[n] === code ? k : -1)).filter((k) => k >= 0); return dots(own.map((k) => xs[k]), own.map((k) => ys[k]), sx, sy, { stroke: colours.looks[code].colour, "stroke-width": 3.5 }); }),
    }), el("figcaption", {}, `log evidence ${short(mode.evidence - modes[0].evidence, 3)} ± ${short(mode.error, 2)} relative to the first; continuity ${short(mode.continuity, 3)}, trustworthiness ${short(mode.trustworthiness, 3)}; from ${mode.start}`));
  };
  const told = data.trust.diagnostics.modes;
  return part("Modes that were found", el("div", { class: "charts small modes" }, modes.map(one)), told && told.words ? el("p", { class: "note" }, sentence(told.words)) : null);
}
