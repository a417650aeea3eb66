// How positions become places on the screen: two axes, or three that can be turned; pan and zoom.

class View {
  constructor(positions, axes) {
    this.positions = positions;
    this.dim = axes;
    this.axes = [0, 1, 2];
    this.solid = false;
    this.turn = [1, 0, 0, 0, 1, 0, 0, 0, 1];
    this.size = [1, 1];
    const count = positions.length / axes;
    [this.x, this.y, this.depth] = [0, 1, 2].map(() => new Float32Array(count));
    // With a single axis, the height only keeps points apart.
    this.spread = Float32Array.from({ length: count }, (_, n) => ((n * 0.618034) % 1) - 0.5);
    this.centre = [0, 0];
    this.zoom = 1;
  }

  /** Coordinate d of row n; beyond the last axis there is only the spread. */
  at(n, d) {
    return d < this.dim ? this.positions[n * this.dim + d] : d === this.dim && this.dim === 1 ? this.spread[n] * this.reach() * 0.3 : 0;
  }

  reach() {
    if (this.length) return this.length;
    const [low, high] = extent([this.positions]);
    return (this.length = high - low);
  }

  /** Shows all rows. */
  fit() {
    if (this.solid) {
      // The largest distance from the origin, so that nothing leaves the frame when it turns.
      let far = 0;
      for (let n = 0; n < this.x.length; n++) far = Math.max(far, Math.hypot(...this.axes.map((d) => this.at(n, d))));
      this.centre = [0, 0];
      this.zoom = Math.min(...this.size) / 2.15 / (far || 1);
      return;
    }
    const spans = [0, 1].map((i) => {
      let [low, high] = [Infinity, -Infinity];
      for (let n = 0; n < this.x.length; n++) { const v = this.at(n, this.axes[i]); if (v < low) low = v; if (v > high) high = v; }
      return [low, high];
    });
    this.centre = spans.map(([low, high]) => (low + high) / 2);
    const [w, h] = [this.size[0] - 76, this.size[1] - 68];
    this.zoom = Math.min(w / (spans[0][1] - spans[0][0] || 1), h / (spans[1][1] - spans[1][0] || 1));
  }

  /** Places a point given by its coordinates along the chosen axes. */
  place(a, b, c = 0) {
    let [u, v, depth] = [a, b, 0];
    if (this.solid) {
      const t = this.turn;
      [u, v, depth] = [t[0] * a + t[1] * b + t[2] * c, t[3] * a + t[4] * b + t[5] * c, t[6] * a + t[7] * b + t[8] * c];
    }
    return [this.size[0] / 2 + (u - this.centre[0]) * this.zoom, this.size[1] / 2 - (v - this.centre[1]) * this.zoom, depth];
  }

  /** The coordinates at a place; of two axes only. */
  back(px, py) {
    return [this.centre[0] + (px - this.size[0] / 2) / this.zoom, this.centre[1] - (py - this.size[1] / 2) / this.zoom];
  }

  project() {
    const { x, y, depth, positions: p, dim } = this;
    const [a, b, c] = this.axes;
    const [w, h] = [this.size[0] / 2, this.size[1] / 2];
    const [cx, cy, k] = [this.centre[0], this.centre[1], this.zoom];
    if (this.solid) {
      const t = this.turn;
      for (let n = 0, at = 0; n < x.length; n++, at += dim) {
        const [u, v, s] = [p[at + a], p[at + b], p[at + c]];
        x[n] = w + (t[0] * u + t[1] * v + t[2] * s - cx) * k;
        y[n] = h - (t[3] * u + t[4] * v + t[5] * s - cy) * k;
        depth[n] = t[6] * u + t[7] * v + t[8] * s;
      }
      return;
    }
    for (let n = 0; n < x.length; n++) {
      x[n] = w + (this.at(n, a) - cx) * k;
      y[n] = h - (this.at(n, b) - cy) * k;
    }
  }

  pan(dx, dy) {
    this.centre = [this.centre[0] - dx / this.zoom, this.centre[1] + dy / this.zoom];
  }

  /** Zooms by a factor about a place that stays where it is. */
  scale(factor, px, py) {
    const before = this.back(px, py);
    this.zoom *= factor;
    const after = this.back(px, py);
    this.centre = [this.centre[0] + before[0] - after[0], this.centre[1] + before[1] - after[1]];
  }

  /** Turns by angles about the vertical and the horizontal of the screen. */
  rotate(yaw, pitch) {
    const [c, s, d, e] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
    const by = [c, 0, s, e * s, d, -e * c, -d * s, e, d * c];
    const t = this.turn;
    this.turn = [0, 1, 2].flatMap((i) => [0, 1, 2].map((j) => by[3 * i] * t[j] + by[3 * i + 1] * t[3 + j] + by[3 * i + 2] * t[6 + j]));
  }
}
