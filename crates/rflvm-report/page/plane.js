// The latent plane: a canvas with the rows, which can be moved, zoomed, turned, pointed at and lassoed.
//
// Points are copies of small pictures, one per colour, written pixel by pixel. That draws 20,000 of them in a few milliseconds without a
// graphics card, where drawImage takes ten times as long, paths longer still, and WebGL is not always there.

class Plane {
  /** `on` has hover(n), point(x, y), select(list), and draw(context, plane) for what lies above the points; all optional. */
  constructor(host, { label, positions, axes, on = {} }) {
    this.view = new View(positions, axes);
    this.on = on;
    this.mode = "pan";
    this.colours = plain();
    this.hover = -1;
    this.faded = null;
    this.ringed = new Set();
    this.lasso = null;
    this.canvas = el("canvas", { tabindex: 0, role: "application", "aria-label": label, "aria-roledescription": "scatter plot" });
    this.box = el("div", { class: "plane pans" }, this.canvas, this.buttons());
    host.append(this.box);
    this.context = this.canvas.getContext("2d");
    listen(this);
    new ResizeObserver(() => this.resize()).observe(this.box);
    this.resize();
  }

  buttons() {
    const middle = () => [this.view.size[0] / 2, this.view.size[1] / 2];
    const button = (text, label, act) => el("button", { type: "button", "aria-label": label, title: label, click: () => { act(); this.redraw(); } }, text);
    return el("div", { class: "zoom" },
      button("+", "Zoom in", () => this.view.scale(1.4, ...middle())),
      button("−", "Zoom out", () => this.view.scale(1 / 1.4, ...middle())),
      button("⤢", "Show all rows", () => this.view.fit()));
  }

  resize() {
    const [w, h] = [this.box.clientWidth, this.box.clientHeight];
    if (!w || !h) return;
    const was = this.view.size;
    this.density = Math.min(3, window.devicePixelRatio || 1);
    [this.canvas.width, this.canvas.height] = [Math.round(w * this.density), Math.round(h * this.density)];
    this.view.size = [w, h];
    // The first size shows everything; later ones keep what is shown.
    if (was[0] === 1) this.view.fit();
    else this.view.zoom *= Math.min(w / was[0], h / was[1]);
    this.sprites = null;
    this.redraw();
  }

  setAxes(axes, solid) {
    Object.assign(this.view, { axes, solid });
    this.view.fit();
    this.redraw();
  }

  setColours(colours) {
    this.colours = colours;
    this.sprites = null;
    this.redraw();
  }

  setMode(mode) {
    this.mode = mode;
    this.box.classList.toggle("pans", mode === "pan");
  }

  /** The row at a place, or -1. */
  pick(px, py, reach = 12) {
    const { x, y } = this.view;
    let [best, least] = [-1, reach * reach];
    for (let n = 0; n < x.length; n++) {
      const far = (x[n] - px) ** 2 + (y[n] - py) ** 2;
      if (far < least && !(this.faded && this.faded[n])) [best, least] = [n, far];
    }
    return best;
  }

  /** The rows inside a polygon of places. */
  inside(polygon) {
    const { x, y } = this.view;
    const found = [];
    for (let n = 0; n < x.length; n++) {
      let odd = false;
      for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
        const [[ax, ay], [bx, by]] = [polygon[i], polygon[j]];
        if (ay > y[n] !== by > y[n] && x[n] < ((bx - ax) * (y[n] - ay)) / (by - ay) + ax) odd = !odd;
      }
      if (odd) found.push(n);
    }
    return found;
  }

  setHover(n) {
    if (n === this.hover) return;
    this.hover = n;
    if (this.on.hover) this.on.hover(n);
    this.redraw();
  }

  /** The nearest row in a direction from the current one, for the keyboard. */
  step(dx, dy) {
    const { x, y } = this.view;
    const from = this.hover < 0 ? [this.view.size[0] / 2, this.view.size[1] / 2] : [x[this.hover], y[this.hover]];
    let [best, least] = [-1, Infinity];
    for (let n = 0; n < x.length; n++) {
      if (n === this.hover) continue;
      const [along, aside] = [(x[n] - from[0]) * dx + (y[n] - from[1]) * dy, Math.abs((x[n] - from[0]) * dy) + Math.abs((y[n] - from[1]) * dx)];
      const far = along + 2 * aside;
      if ((along > 0.5 || this.hover < 0) && Math.abs(far) < least) [best, least] = [n, Math.abs(far)];
    }
    if (best >= 0) this.setHover(best);
  }

  /** Moves the view so that a row is in the middle. */
  show(n) {
    this.view.project();
    this.view.pan(this.view.size[0] / 2 - this.view.x[n], this.view.size[1] / 2 - this.view.y[n]);
    this.hover = -1;
    this.setHover(n);
  }

  redraw() {
    if (this.due) return;
    this.due = requestAnimationFrame(() => { this.due = 0; this.draw(); });
  }
}

/** Pointer, wheel and keyboard of a plane. */
function listen(plane) {
  const { canvas, view } = plane;
  const pointers = new Map();
  const place = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  let [pinch, moved] = [0, 0];
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
    moved = 0;
    if (plane.mode === "lasso" || event.shiftKey) plane.lasso = [place(event)];
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = place(event);
    const before = pointers.get(event.pointerId);
    if (!before) {
      plane.setHover(plane.pick(...now));
      if (plane.on.point && !view.solid) plane.on.point(...view.back(...now));
      return;
    }
    pointers.set(event.pointerId, now);
    moved += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
    if (pointers.size === 2) {
      const [a, b] = [...pointers.values()];
      const apart = Math.hypot(a[0] - b[0], a[1] - b[1]);
      if (pinch) view.scale(apart / pinch, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
      pinch = apart;
    } else if (plane.lasso) plane.lasso.push(now);
    else if (plane.mode === "point") { if (plane.on.point) plane.on.point(...view.back(...now)); }
    else if (view.solid) view.rotate((now[0] - before[0]) * 0.01, (now[1] - before[1]) * 0.01);
    else view.pan(now[0] - before[0], now[1] - before[1]);
    plane.redraw();
  });
  const end = (event) => {
    pointers.delete(event.pointerId);
    pinch = 0;
    if (plane.lasso && plane.lasso.length > 2 && plane.on.select) plane.on.select(plane.inside(plane.lasso));
    else if (moved < 4 && event.type === "pointerup") {
      plane.setHover(plane.pick(...place(event), event.pointerType === "touch" ? 24 : 12));
      if (plane.on.point && !view.solid) plane.on.point(...view.back(...place(event)));
    }
    plane.lasso = null;
    plane.redraw();
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", (event) => { if (!pointers.size && event.pointerType === "mouse" && document.activeElement !== canvas) plane.setHover(-1); });
  canvas.addEventListener("wheel", (event) => {
    // Scrolling the page must remain possible with the pointer over a plane.
    if (document.activeElement !== canvas && !event.ctrlKey && !event.metaKey) return hint(plane);
    event.preventDefault();
    view.scale(Math.exp(-event.deltaY * 0.0015), ...place(event));
    plane.redraw();
  }, { passive: false });
  const keys = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  canvas.addEventListener("keydown", (event) => {
    const way = keys[event.key];
    if (way && event.shiftKey) { if (view.solid) view.rotate(way[0] * 0.1, way[1] * 0.1); else view.pan(-way[0] * 40, -way[1] * 40); }
    else if (way && plane.on.move) plane.on.move(...way);
    else if (way) plane.step(...way);
    else if (event.key === "+" || event.key === "=") view.scale(1.25, view.size[0] / 2, view.size[1] / 2);
    else if (event.key === "-") view.scale(0.8, view.size[0] / 2, view.size[1] / 2);
    else if (event.key === "0") view.fit();
    else if (event.key === "Escape") plane.setHover(-1);
    else return;
    event.preventDefault();
    plane.redraw();
  });
}

function hint(plane) {
  if (plane.hinted) return;
  plane.hinted = el("div", { class: "hint" }, "Click the map, or hold Ctrl, to zoom with the wheel");
  plane.box.append(plane.hinted);
  setTimeout(() => plane.hinted.remove(), 2500);
}
