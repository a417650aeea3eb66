// The learned kernel, and its frequencies.

function kernelSection() {
  const lead = "How similar the model takes two rows to be, by their distance in the map. A kernel that falls quickly draws fine detail; the spectral density is its Fourier transform.";
  if (data.kernel.absent) return { section: card("kernel", "Kernel", `Not in this report: ${data.kernel.absent}.`) };
  const { kernel, density, clusters, frequencies } = data.kernel;
  const axes = kernel.length - 1;
  // With a single axis, all directions repeat it.
  const shown = axes === 1 ? 1 : Math.min(axes, 6) + 1;
  const which = axes === 1 ? [0] : [...Array(shown - 1).keys(), axes];
  const names = which.map((i) => (i < axes ? `x${i + 1}` : "all directions"));
  const size = { width: 520, height: 250 };
  const curves = (title, list, label, x, y) => el("figure", {}, el("h3", {}, title), chart({
    ...size, label, x: { label: x, domain: [0, Math.max(...which.map((i) => list[i].at.at(-1)))] }, y: { label: y, domain: padded(extent(which.flatMap((i) => [list[i].low, list[i].high]))) },
    draw: (sx, sy) => which.flatMap((i, k) => [band(list[i].at, list[i].low, list[i].high, sx, sy, { fill: PALETTE[k] }), line(list[i].at, list[i].mean, sx, sy, { stroke: PALETTE[k] })]),
  }), names.length > 1 ? key(names, PALETTE) : null);
  const parts = [
    curves("Kernel", kernel, "The learned kernel against distance", "distance |δ|", "k(δ)"),
    curves("Spectral density", density, "Spectral density against frequency", "frequency |w|", "density"),
  ];
  if (frequencies && axes > 1) {
    const [a, b] = frequencies.axes;
    // Both axes have the same unit, and the chart is wider than high.
    const reach = Math.max(...b.map(Math.abs), ...a.map((v) => Math.abs(v) / 2)) * 1.08 || 1;
    const groups = [...new Set(frequencies.cluster)];
    parts.push(el("figure", {}, el("h3", {}, "Frequencies of one draw"), chart({
      ...size, label: `Frequencies of one draw, in ${many(groups.length, "cluster")}`, x: { label: "w along x1", domain: [-2.25 * reach, 2.25 * reach] }, y: { label: "w along x2", domain: [-reach, reach] },
      draw: (sx, sy) => groups.map((z, k) => { const own = frequencies.cluster.map((c, l) => (c === z ? l : -1)).filter((l) => l >= 0); return dots(own.map((l) => a[l]), own.map((l) => b[l]), sx, sy, { stroke: PALETTE[k % PALETTE.length], "stroke-width": 7 }); }),
    }), el("figcaption", {}, `${many(groups.length, "cluster")}, one colour each. w and −w are the same frequency.`)));
  }
  if (clusters.length > 1) {
    const all = clusters.reduce((sum, [, count]) => sum + count, 0);
    const domain = [Math.min(...clusters.map(([k]) => k)) - 0.6, Math.max(...clusters.map(([k]) => k)) + 0.6];
    parts.push(el("figure", {}, el("h3", {}, "Number of clusters"), chart({
      ...size, label: "Posterior of the number of clusters", x: { label: "clusters", domain }, y: { label: "probability", domain: [0, Math.max(...clusters.map(([, count]) => count)) / all] },
      draw: (sx, sy) => clusters.map(([k, count]) => mark("rect", { x: sx(k - 0.4), width: sx(k + 0.4) - sx(k - 0.4), y: sy(count / all), height: sy(0) - sy(count / all), fill: "var(--accent)" })),
    })));
  }
  return { section: card("kernel", "Kernel", lead, el("div", { class: "charts wide" }, parts), el("p", { class: "note" }, "Lines: posterior mean. Bands: 5% to 95% of the draws.")) };
}
