// The data: JSON, and arrays in one deflated block.

const data = JSON.parse(document.getElementById("data").textContent);
let block = null;

async function unpack() {
  const text = atob(document.getElementById("arrays").textContent.trim());
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  block = await new Response(stream).arrayBuffer();
}

const KINDS = { f32: Float32Array, i16: Int16Array, u8: Uint8Array, u16: Uint16Array };

/** The array that a reference names; a view, not a copy. */
const array = (ref) => new KINDS[ref.kind](block, ref.at, ref.count);

const rows = {
  id: (n) => (data.map.ids ? data.map.ids[n] : String(n + 1)),
  label: (n) => (data.map.labels ? data.map.labels[n] : null),
};

/** Observed values of a column that the page holds, counted among those; NaN where missing. */
function observed(kept) {
  const held = data.cells.columns[kept];
  const values = new Float32Array(data.rows);
  if (held.codes) {
    array(held.codes).forEach((code, n) => { values[n] = code === 255 ? NaN : held.values[code]; });
  } else {
    const width = (held.high - held.low) / 65534;
    array(held.steps).forEach((step, n) => { values[n] = step === 65535 ? NaN : held.low + step * width; });
  }
  return values;
}

const columnName = (kept) => data.columns[data.cells.kept[kept]];

/** A time as the table writes it. */
function timeText(time) {
  const origin = data.map.times && data.map.times.origin;
  if (origin == null) return short(time, 5);
  return new Date(origin + time * 86400000).toISOString().replace("T", " ").replace(/( 00:00)?:00\.000Z$|\.\d+Z$/, "").slice(0, 16);
}
