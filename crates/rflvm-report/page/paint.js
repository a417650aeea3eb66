// Drawing a plane: grid, points, and what lies above them.

/** Quantile of the χ² distribution with 2 degrees of freedom at 90%: the size of an ellipse. */
const CREDIBLE = 4.605;

Plane.prototype.radius = function () {
  return Math.max(1.6, Math.min(4.5, 100 / Math.sqrt(this.view.x.length)));
};

/** The pixels of a small picture that are not transparent: colours as one number, and places in an image of some width. */
function dot({ data, width: side }, width) {
  const all = new Uint32Array(data.buffer);
  const used = [...all.keys()].filter((i) => all[i] >>> 24);
  return { colours: Uint32Array.from(used, (i) => all[i]), across: used.map((i) => i % side), places: Int32Array.from(used, (i) => Math.floor(i / side) * width + (i % side)) };
}

/** Colour c over colour d. */
function over(c, d) {
  const share = (c >>> 24) / 255;
  const mix = (shift) => { const under = (d >>> shift) & 255; return Math.round(under + (((c >>> shift) & 255) - under) * share) << shift; };
  const opaque = (d >>> 24) + (255 - (d >>> 24)) * share;
  return ((Math.round(opaque) << 24) | mix(16) | mix(8) | mix(0)) >>> 0;
}

/** The picture of each colour, and of a row that is faded. */
Plane.prototype.makeSprites = function () {
  const radius = this.radius() * this.density;
  const side = 2 * Math.ceil(radius + 2);
  const looks = this.colours.looks.concat({ colour: css("--rim"), faded: true });
  const picture = el("canvas", { width: side * looks.length, height: side });
  const context = picture.getContext("2d", { willReadFrequently: true });
  const rim = css("--point-rim");
  looks.forEach((look, i) => {
    const [x, y] = [i * side + side / 2, side / 2];
    context.beginPath();
    context.arc(x, y, look.ring ? radius * 0.8 : radius, 0, 2 * Math.PI);
    if (look.ring) {
      context.lineWidth = radius * 0.55;
      context.strokeStyle = look.colour;
      context.stroke();
    } else {
      context.fillStyle = look.colour;
      context.fill();
      if (!look.faded && radius > 3) {
        context.lineWidth = 0.7 * this.density;
        context.strokeStyle = rim;
        context.stroke();
      }
    }
  });
  const layer = el("canvas", { width: this.canvas.width, height: this.canvas.height });
  const image = layer.getContext("2d").createImageData(layer.width, layer.height);
  const dots = looks.map((_, i) => dot(context.getImageData(i * side, 0, side, side), layer.width));
  this.sprites = { dots, side, layer, image, pixels: new Uint32Array(image.data.buffer), faded: looks.length - 1 };
};

Plane.prototype.draw = function () {
  const { context, view, density } = this;
  if (!this.sprites) this.makeSprites();
  view.project();
  const [w, h] = view.size;
  context.setTransform(density, 0, 0, density, 0, 0);
  context.fillStyle = css("--paper");
  context.fillRect(0, 0, w, h);
  if (view.solid) this.drawAxes();
  else this.drawGrid();
  if (this.on.under) this.on.under(context, this);
  this.drawPoints();
  context.setTransform(density, 0, 0, density, 0, 0);
  const ink = css("--ink");
  this.ringed.forEach((n) => this.ring(n, ink, 1.2));
  if (this.on.draw) this.on.draw(context, this);
  if (this.hover >= 0) {
    this.ellipse(this.hover, css("--accent"), true);
    this.ring(this.hover, ink, 2);
  }
  if (this.lasso) {
    context.beginPath();
    this.lasso.forEach(([x, y]) => context.lineTo(x, y));
    context.closePath();
    context.fillStyle = css("--accent");
    context.globalAlpha = 0.12;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = css("--accent");
    context.setLineDash([5, 4]);
    context.stroke();
    context.setLineDash([]);
  }
};

Plane.prototype.drawPoints = function () {
  const { context, view, density, faded } = this;
  const { dots, side, layer, image, pixels, faded: grey } = this.sprites;
  const { x, y } = view;
  const codes = this.colours.codes;
  const [w, h, half] = [layer.width, layer.height, side / 2];
  pixels.fill(0);
  const one = (n, code) => {
    const [px, py] = [Math.round(x[n] * density - half), Math.round(y[n] * density - half)];
    if (!(px > -side && py > -side && px < w && py < h)) return;
    const { colours, places, across } = dots[code];
    const start = py * w + px;
    const isInside = px >= 0 && px + side <= w;
    for (let k = 0; k < places.length; k++) {
      if (!isInside && (px + across[k] < 0 || px + across[k] >= w)) continue;
      const at = start + places[k];
      const colour = colours[k];
      // Places above or below the image have no pixel, and writing there does nothing.
      pixels[at] = colour >>> 24 === 255 || !pixels[at] ? colour : over(colour, pixels[at]);
    }
  };
  let order = null;
  if (view.solid) {
    order = this.order && this.order.length === x.length ? this.order : (this.order = Uint32Array.from(x, (_, n) => n));
    order.sort((a, b) => view.depth[a] - view.depth[b]);
  }
  // Faded rows lie below the others.
  if (faded) for (let n = 0; n < x.length; n++) if (faded[n]) one(n, grey);
  for (let i = 0; i < x.length; i++) {
    const n = order ? order[i] : i;
    if (!(faded && faded[n])) one(n, codes[n]);
  }
  layer.getContext("2d").putImageData(image, 0, 0);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.drawImage(layer, 0, 0);
};

Plane.prototype.drawGrid = function () {
  const { context, view } = this;
  const [w, h] = view.size;
  const [low, high] = [view.back(0, h), view.back(w, 0)];
  context.lineWidth = 1;
  context.font = "11px system-ui, sans-serif";
  const [ink, soft, grid] = [css("--ink"), css("--faint"), css("--grid")];
  const name = (d) => (d < view.dim ? `x${d + 1}` : "");
  for (const v of ticks(low[0], high[0], w / 90)) {
    const x = Math.round(view.place(v, 0)[0]) + 0.5;
    context.strokeStyle = grid;
    context.beginPath(); context.moveTo(x, 0); context.lineTo(x, h); context.stroke();
    context.fillStyle = soft;
    context.textAlign = "center";
    if (x > 40 && x < w - 34) context.fillText(short(v), x, h - 6);
  }
  if (view.axes[1] < view.dim) {
    for (const v of ticks(low[1], high[1], h / 80)) {
      const y = Math.round(view.place(0, v)[1]) + 0.5;
      context.strokeStyle = grid;
      context.beginPath(); context.moveTo(0, y); context.lineTo(w, y); context.stroke();
      context.fillStyle = soft;
      context.textAlign = "left";
      if (y > 34 && y < h - 24) context.fillText(short(v), 6, y - 3);
    }
  }
  context.fillStyle = ink;
  context.font = "600 12px system-ui, sans-serif";
  context.textAlign = "right";
  context.fillText(name(view.axes[0]), w - 8, h - 6);
  context.textAlign = "left";
  context.fillText(name(view.axes[1]), 6, 15);
};

Plane.prototype.drawAxes = function () {
  const { context, view } = this;
  const length = view.reach() * 0.55;
  context.font = "600 12px system-ui, sans-serif";
  context.textAlign = "center";
  view.axes.forEach((d, i) => {
    const unit = [0, 0, 0];
    unit[i] = length;
    const [from, to] = [view.place(...unit.map((v) => -v)), view.place(...unit)];
    context.strokeStyle = css("--rim");
    context.beginPath(); context.moveTo(from[0], from[1]); context.lineTo(to[0], to[1]); context.stroke();
    context.fillStyle = css("--ink");
    context.fillText(`x${d + 1}`, to[0], to[1] - 4);
  });
};

Plane.prototype.ring = function (n, colour, width) {
  const { context, view } = this;
  context.beginPath();
  context.arc(view.x[n], view.y[n], this.radius() + 2.5, 0, 2 * Math.PI);
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke();
};

/** Covariance of row n between two axes. */
function covariance(n, a, b) {
  const axes = data.map.axes;
  const sd = (d) => array(data.map.sd)[n * axes + d];
  if (a >= axes || b >= axes) return 0;
  if (a === b) return sd(a) ** 2;
  const [i, j] = a < b ? [a, b] : [b, a];
  const pairs = (axes * (axes - 1)) / 2;
  const place = i * axes - (i * (i + 1)) / 2 + (j - i - 1);
  return ((array(data.map.correlation)[n * pairs + place] - 128) / 127) * sd(a) * sd(b);
}

/** The 90% credible ellipse of a row, as the screen sees it. */
Plane.prototype.ellipse = function (n, colour, isFilled) {
  const { context, view } = this;
  const used = view.solid ? [0, 1, 2] : [0, 1];
  const rows = view.solid ? [view.turn.slice(0, 3), view.turn.slice(3, 6)] : [[1, 0], [0, 1]];
  const across = (p, q) => used.reduce((sum, i) => sum + used.reduce((s, j) => s + rows[p][i] * rows[q][j] * covariance(n, view.axes[i], view.axes[j]), 0), 0);
  const [xx, xy, yy] = [across(0, 0), across(0, 1), across(1, 1)];
  const [mid, gap] = [(xx + yy) / 2, Math.hypot((xx - yy) / 2, xy)];
  const size = (v) => Math.sqrt(Math.max(0, v) * CREDIBLE) * view.zoom;
  context.beginPath();
  context.ellipse(view.x[n], view.y[n], size(mid + gap), size(mid - gap), -0.5 * Math.atan2(2 * xy, xx - yy), 0, 2 * Math.PI);
  context.strokeStyle = colour;
  context.lineWidth = 1.4;
  if (isFilled) {
    context.globalAlpha = 0.15;
    context.fillStyle = colour;
    context.fill();
    context.globalAlpha = 1;
  }
  context.stroke();
};
