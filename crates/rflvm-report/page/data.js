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

/** Numbers that were packed as steps of their range. */
const stepped = (ref) => Float32Array.from(array(ref), (step) => (step === 65535 ? NaN : ref.low + step * ref.unit));

const rows = {
  id: (n) => (data.map.ids ? data.map.ids[n] : String(n + 1)),
  label: (n) => (data.map.labels ? data.map.labels[n] : null),
};

/** Observed values of a column that the page holds, counted among those; NaN where missing. */
function observed(kept) {
  const held = data.cells.columns[kept];
  return held.steps ? stepped(held.steps) : Float32Array.from(array(held.codes), (code) => (code === 255 ? NaN : held.values[code]));
}

const columnName = (kept) => data.columns[data.cells.kept[kept]];

/** A time as the table writes it. */
function timeText(time) {
  const origin = data.map.times && data.map.times.origin;
  if (origin == null) return short(time, 5);
  return new Date(origin + time * 86400000).toISOString().replace("T", " ").replace(/( 00:00)?:00\.000Z$|\.\d+Z$/, "").slice(0, 16);
}
