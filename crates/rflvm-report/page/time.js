// Paths over time: lines on the map, a slider, and a chart of each axis.

/** Rows of each sequence in order of time. */
function sequences() {
  const times = data.map.times;
  const [at, of] = [array(times.at), array(times.sequence)];
  const lists = Array.from({ length: Math.max(1, times.names.length) }, () => []);
  of.forEach((s, n) => lists[s].push(n));
  lists.forEach((list) => list.sort((a, b) => at[a] - at[b]));
  return lists;
}

/** A slider that shows rows up to a time, and lines that join them. */
function timeBar(plane, fade) {
  const at = array(data.map.times.at);
  const moments = Float32Array.from(new Set(at)).sort();
  const lists = sequences();
  let [last, playing] = [moments.length - 1, 0];
  const slider = el("input", { type: "range", min: 0, max: last, value: last, "aria-label": "Show rows up to this time", input: () => show(Number(slider.value)) });
  const text = el("output", {});
  const play = el("button", { type: "button", click: () => (playing ? stop() : start()) }, "Play");
  const newest = (list, limit) => { let found = -1; for (const n of list) if (at[n] <= limit) found = n; return found; };
  plane.on.under = (context) => {
    const [x, y, limit] = [plane.view.x, plane.view.y, moments[last]];
    context.lineWidth = 1.2;
    context.strokeStyle = css("--faint");
    context.globalAlpha = 0.7;
    context.beginPath();
    for (const list of lists) list.filter((n) => at[n] <= limit).forEach((n, i) => (i ? context.lineTo(x[n], y[n]) : context.moveTo(x[n], y[n])));
    context.stroke();
    context.globalAlpha = 1;
  };
  const above = plane.on.draw;
  plane.on.draw = (context, plane) => {
    above(context, plane);
    if (last < moments.length - 1) for (const list of lists) { const n = newest(list, moments[last]); if (n >= 0) { plane.ellipse(n, css("--warm"), true); plane.ring(n, css("--warm"), 2); } }
  };
  function show(i) {
    last = i;
    const limit = moments[last];
    plane.later = last < moments.length - 1 ? (n) => at[n] > limit : null;
    text.textContent = timeText(limit);
    document.querySelectorAll(".now").forEach((mark) => mark.dispatchEvent(new CustomEvent("now", { detail: limit })));
    fade();
  }
  function start() {
    if (last === moments.length - 1) slider.value = 0;
    play.textContent = "Pause";
    const step = Math.max(1, moments.length / 300);
    let place = Number(slider.value);
    playing = setInterval(() => {
      place = Math.min(place + step, moments.length - 1);
      slider.value = Math.round(place);
      show(Math.round(place));
      if (place >= moments.length - 1) stop();
    }, 33);
  }
  function stop() {
    clearInterval(playing);
    playing = 0;
    play.textContent = "Play";
  }
  text.textContent = timeText(moments[last]);
  return el("div", { class: "timeline" }, play, slider, text);
}

/** Each axis against time, with bands of 90%. */
function timeCharts() {
  const [at, mean, sd, axes] = [array(data.map.times.at), array(data.map.mean), array(data.map.sd), data.map.axes];
  const lists = sequences().slice(0, PALETTE.length);
  const one = (d) => {
    const of = (list, k) => list.map((n) => mean[n * axes + d] + k * 1.645 * sd[n * axes + d]);
    const y = { domain: padded(extent(lists.flatMap((list) => [of(list, -1), of(list, 1)]))), label: `x${d + 1}` };
    const x = { domain: extent([at]), format: timeText, label: "time" };
    if (data.map.times.origin != null) x.ticks = ticks(...x.domain, 3);
    return el("figure", {}, chart({ label: `x${d + 1} over time, with bands of 90%`, x, y, draw: (sx, sy) => {
      const now = mark("line", { class: "now", y1: 8, y2: 194, stroke: "var(--warm)", "stroke-width": 1.5, visibility: "hidden" });
      now.addEventListener("now", (event) => { now.setAttribute("visibility", "visible"); now.setAttribute("x1", sx(event.detail)); now.setAttribute("x2", sx(event.detail)); });
      return lists.map((list, s) => {
        const when = list.map((n) => at[n]);
        return [band(when, of(list, -1), of(list, 1), sx, sy, { fill: PALETTE[s] }), line(when, of(list, 0), sx, sy, { stroke: PALETTE[s] })];
      }).flat().concat(now);
    } }));
  };
  const names = data.map.times.names.slice(0, lists.length);
  return el("div", { class: "block" }, el("h3", {}, "Paths"), el("div", { class: "charts" }, Array.from({ length: Math.min(axes, 6) }, (_, d) => one(d))),
    names.length > 1 ? key(names, PALETTE) : null, el("p", { class: "note" }, "Bands: 90% of the posterior at each time."));
}
