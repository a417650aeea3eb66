// Colours that can be distinguished with colour blindness: Okabe and Ito's, then Tol's muted ones, and viridis for numbers.

const PALETTE = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#6a51c9", "#999933", "#882255", "#44aa99", "#ddcc77", "#117733"];
const GREY = "#9aa1a8";
const VIRIDIS = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]];
/** Steps of a scale of numbers. */
const STEPS = 64;
/** Classes that can be told apart: filled and hollow points of each colour. */
const CLASSES = 2 * PALETTE.length;

function ramp(colours, share) {
  const place = Math.min(1, Math.max(0, share)) * (colours.length - 1);
  const below = Math.min(Math.floor(place), colours.length - 2);
  const mix = colours[below].map((c, i) => Math.round(c + (place - below) * (colours[below + 1][i] - c)));
  return `rgb(${mix.join(",")})`;
}
const viridis = (share) => ramp(VIRIDIS, share);

/** Colours of classes: one code per row, and what each code looks like. Rare classes beyond those that can be told apart share one. */
function byClass(name, texts) {
  const counts = new Map();
  for (const text of texts) counts.set(text, (counts.get(text) || 0) + 1);
  let names = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
  const others = names.length > CLASSES ? names.splice(CLASSES - 1) : [];
  const collator = new Intl.Collator("en", { numeric: true });
  names.sort(collator.compare);
  const code = new Map(names.map((text, i) => [text, i]));
  const looks = names.map((text, i) => ({ name: text.trim() || "(no label)", colour: PALETTE[i % PALETTE.length], ring: i >= PALETTE.length, count: counts.get(text) }));
  if (others.length) looks.push({ name: `${others.length} other classes`, colour: GREY, ring: false, count: others.reduce((sum, text) => sum + counts.get(text), 0) });
  return { kind: "classes", name, looks, codes: Uint8Array.from(texts, (text) => code.get(text) ?? names.length), text: (n) => texts[n] };
}

/** Colours of numbers. The scale ends at the 1st and 99th percentile if a few rows are far outside. */
function byNumber(name, values, format = (v) => short(v)) {
  const sorted = Float32Array.from(values).filter((v) => !Number.isNaN(v)).sort();
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
  let [low, high] = sorted.length ? [at(0), at(1)] : [0, 1];
  if (sorted.length > 50) {
    const [near, far, width] = [at(0.01), at(0.99), at(0.99) - at(0.01)];
    if (width > 0 && low < near - width) low = near;
    if (width > 0 && high > far + width) high = far;
  }
  const span = high - low || 1;
  const codes = Uint8Array.from(values, (v) => (Number.isNaN(v) ? STEPS : Math.min(STEPS - 1, Math.max(0, Math.floor(((v - low) / span) * STEPS)))));
  const looks = Array.from({ length: STEPS }, (_, i) => ({ colour: viridis((i + 0.5) / STEPS) }));
  looks.push({ colour: GREY });
  return { kind: "numbers", name, low, high, looks, codes, format, missing: values.length - sorted.length, text: (n) => (Number.isNaN(values[n]) ? "missing" : format(values[n])) };
}

/** The same numbers on a circle, such as angles: both ends have one colour (a few steps of matplotlib's twilight). */
const TWILIGHT = [[194, 178, 196], [116, 155, 192], [96, 95, 181], [82, 40, 136], [47, 20, 54], [117, 30, 79], [175, 80, 80], [198, 148, 126], [194, 178, 196]];
function cyclic(c, on) {
  const looks = c.looks.map((look, i) => (i < STEPS ? { colour: ramp(on ? TWILIGHT : VIRIDIS, (i + 0.5) / STEPS) } : look));
  return { ...c, looks, cyclic: on };
}

const plain = () => ({ kind: "plain", name: "", looks: [{ colour: PALETTE[0] }], codes: new Uint8Array(data.rows), text: () => null });

/** Labels are a scale if they are more different numbers than there are colours; half as many if some are fractions. */
function byLabel(name, texts) {
  const missing = /^\s*(na|n\/a|nan|null)?\s*$/i;
  const values = texts.map((text) => (missing.test(text) ? NaN : Number(text)));
  const isNumber = texts.every((text, n) => missing.test(text) || Number.isFinite(values[n]));
  if (!isNumber) return byClass(name, texts);
  const distinct = new Set(values.filter((v) => !Number.isNaN(v)));
  const few = [...distinct].every(Number.isInteger) ? CLASSES : CLASSES / 2;
  if (distinct.size <= few) return byClass(name, texts);
  return cyclic(byNumber(name, Float32Array.from(values)), /angle|phase|direction|heading|azimuth/i.test(name));
}

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
