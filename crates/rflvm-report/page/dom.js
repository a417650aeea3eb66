// Elements from text: what comes from a table is always a text node, never markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) if (child != null && child !== false) node.append(child);
  return node;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const mark = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

function replace(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter((child) => child != null && child !== false));
}

/** A number in a few digits. */
function short(value, digits = 4) {
  if (value == null || Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(2).replace("e+", "e").replace("-", "−");
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return String(Number(value.toFixed(Math.min(places, 6)))).replace("-", "−");
}

/** Words of the engine as a sentence. */
const sentence = (words) => (words ? `${words[0].toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? "" : "."}` : "");

/** A long name that may be broken after a punctuation mark. */
const breakable = (name) => name.split(/(?<=[._/:-])/).flatMap((piece, i) => (i ? [document.createElement("wbr"), piece] : [piece]));

const many = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/** A menu; `options` are [value, text], or [text, [options]] for a group. */
function menu(label, options, value, change) {
  const option = ([key, text]) => Array.isArray(text)
    ? el("optgroup", { label: key }, text.map(option))
    : el("option", { value: key, selected: String(key) === String(value) }, text);
  const select = el("select", { change: () => change(select.value) }, options.map(option));
  const whole = el("label", {}, label, select);
  whole.select = select;
  return whole;
}

/** Buttons of which one is pressed. */
function choice(label, options, value, change) {
  const buttons = options.map(([key, text, hint]) => el("button", { type: "button", title: hint, "aria-pressed": String(key === value), click: () => pick(key) }, text));
  function pick(key) {
    options.forEach(([other], i) => buttons[i].setAttribute("aria-pressed", String(other === key)));
    change(key);
  }
  return el("span", { class: "group", role: "group", "aria-label": label }, buttons);
}

/** A switch. */
function toggle(text, on, change) {
  const button = el("button", { type: "button", "aria-pressed": String(on), click: () => {
    on = !on;
    button.setAttribute("aria-pressed", String(on));
    change(on);
  } }, text);
  return button;
}

/** Tells screen readers. */
const live = el("div", { class: "sr", "aria-live": "polite" });
const say = (text) => { live.textContent = text; };

function card(id, title, lead, ...children) {
  return el("section", { class: "card", id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), el("p", { class: "lead" }, lead), children);
}
