// Whether to trust the fit: convergence, and where the fit comes from.

const VERDICTS = { converged: ["good", "✓"], "run-longer": ["warn", "○"], "chains-disagree": ["bad", "✕"], "cannot-tell": ["warn", "?"] };

function verdict() {
  const { verdict: name, words } = data.trust.diagnostics;
  const [kind, sign] = VERDICTS[name] || ["warn", "?"];
  // "chains disagree: …" has its heading before the colon.
  const [, head, rest] = words.match(/^([^:]{1,40}):\s+(.*)$/s) || [null, words, ""];
  return el("div", { class: `verdict ${kind}` }, el("span", { "aria-hidden": "true" }, sign), el("span", {}, el("b", {}, rest ? `${sentence(head)} ` : sentence(head)), sentence(rest)));
}

function trustSection() {
  const { diagnostics, traces, chains, origin, version, draws } = data.trust;
  const host = el("div", { class: "charts trace" });
  const aside = new Set(diagnostics.chains.filter((chain) => !chain.used).map((chain) => chain.chain));
  const dash = (i) => (aside.has(chains[i]) ? { "stroke-dasharray": "4 3" } : {});

  function show(i) {
    const { name, chains: lists, ranks } = traces[i];
    const values = lists.map(stepped);
    const y = { domain: padded(extent(values)), label: name };
    const trace = chart({ label: `Trace of ${name}`, width: 620, height: 260, left: 78, x: { label: "draw", domain: [0, Math.max(1, draws - 1)] }, y, draw: (sx, sy) => values.map((list, c) => {
      const at = Array.from(list, (_, k) => (k * draws) / list.length);
      return line(at, list, sx, sy, { stroke: PALETTE[c % PALETTE.length], "stroke-width": 1, "stroke-opacity": 0.85, ...dash(c) });
    }) });
    const most = Math.max(...ranks.flat());
    const bars = ranks[0].length;
    const even = ranks.flat().reduce((a, b) => a + b, 0) / (bars * ranks.length);
    const rank = chart({ label: `Rank plot of ${name}`, width: 410, height: 260, x: { label: "rank of the draws of each chain", domain: [0, bars], ticks: [] }, y: { domain: [0, most * 1.05], label: "draws" }, draw: (sx, sy) => ranks.map((list, c) => {
      const path = list.map((count, k) => `${k ? "L" : "M"}${near(sx(k))} ${near(sy(count))}H${near(sx(k + 1))}`).join("");
      return mark("path", { d: path, fill: "none", stroke: PALETTE[c % PALETTE.length], "stroke-width": 1.8, ...dash(c) });
    }).concat(mark("line", { x1: sx(0), x2: sx(bars), y1: sy(even), y2: sy(even), stroke: "var(--faint)", "stroke-dasharray": "4 4" })) });
    replace(host, el("figure", {}, trace), el("figure", {}, rank));
  }

  const picker = menu("Quantity", traces.map((trace, i) => [i, trace.name]), 0, (i) => show(Number(i)));
  const jump = (name) => { const i = traces.findIndex((trace) => trace.name === name); if (i >= 0) { picker.select.value = i; show(i); host.scrollIntoView({ block: "nearest" }); } };
  const known = (name) => traces.some((trace) => trace.name === name);
  const poor = (q) => q.sd > 0 && (q.r_hat == null || q.r_hat > 1.01 || q.ess_bulk < 400 || q.ess_tail < 400);
  const row = (q) => el("tr", { class: poor(q) ? "poor" : null }, el("th", { scope: "row" }, known(q.name) ? el("button", { type: "button", click: () => jump(q.name) }, q.name) : q.name),
    [short(q.mean, 5), short(q.sd, 3), q.ess_bulk == null ? "–" : q.ess_bulk.toFixed(0), q.ess_tail == null ? "–" : q.ess_tail.toFixed(0), q.r_hat == null ? "–" : q.r_hat.toFixed(3)].map((text) => el("td", {}, text)), el("td", {}, poor(q) ? "⚠" : ""));
  const table = el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ["quantity", "mean", "sd", "bulk ESS", "tail ESS", "R̂", ""].map((text) => el("th", { scope: "col" }, text)))), el("tbody", {}, diagnostics.quantities.map(row))));

  show(0);
  const names = chains.map((chain) => `chain ${chain}${aside.has(chain) ? " (set aside)" : ""}`);
  return { section: card("trust", "Trust", "Whether the chains agree, and how to repeat this fit.", verdict(),
    el("div", { class: "block" }, el("div", { class: "bar" }, picker), host, key(names, PALETTE), el("p", { class: "note" }, "Chains that agree overlap in the trace and have flat rank plots (Vehtari et al. 2021); the dashed line is the expected height.")),
    part("Diagnostics", table, el("p", { class: "note" }, "⚠ marks R̂ above 1.01 or fewer than 400 effective draws. lp: log joint density; alpha: concentration of the Dirichlet process; w2: sum of squared frequencies; distance: between some pairs of rows; f_cell: linear predictor of some cells.")), part("Where this fit comes from", source(origin, version)), timings(diagnostics)) };
}

function source(origin, version) {
  const facts = [["rflvm", version], ["seed", origin.seed], ["table", `${many(data.rows, "row")} × ${many(data.columns.length, "column")}, ${data.families.join(" and ")}`], ["draws", `${many(data.trust.chains.length, "chain")} × ${many(data.trust.draws, "draw")}`]];
  return [el("dl", { class: "facts" }, facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))])),
    el("p", { class: "note" }, origin.settings ? "To repeat it, save these settings as config.toml next to the table and run:" : "To repeat it, run:"), el("pre", {}, origin.command),
    origin.settings ? el("details", {}, el("summary", {}, "Settings"), el("pre", {}, origin.settings)) : null];
}

function timings({ seconds_per_sweep: seconds }) {
  const steps = Object.entries(seconds || {}).filter(([, value]) => value > 0);
  if (!steps.length) return null;
  const most = Math.max(...steps.map(([, value]) => value));
  const row = ([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, `${short(1000 * value, 3)} ms`), el("td", {}, mark("svg", { class: "strip", viewBox: "0 0 200 10", role: "presentation" }, mark("rect", { width: Math.max(1, (200 * value) / most), height: 8, y: 1, rx: 2, fill: "var(--accent)", "fill-opacity": 0.7 }))));
  return part("Time per sweep", el("table", { class: "cells" }, el("tbody", {}, steps.sort((a, b) => b[1] - a[1]).map(row))));
}
