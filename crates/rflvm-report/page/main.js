// The page: header, sections, theme.

function header() {
  const theme = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const button = el("button", { type: "button", click: () => set(root.dataset.theme === "dark" ? "light" : "dark") });
  function set(name) {
    root.dataset.theme = name;
    button.textContent = name === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${name === "dark" ? "light" : "dark"} colours`);
    // Canvases are painted with the colours of the theme.
    planes.forEach((plane) => { plane.sprites = null; plane.redraw(); });
  }
  theme.addEventListener("change", () => set(theme.matches ? "dark" : "light"));
  set(theme.matches ? "dark" : "light");
  let before = null;
  window.addEventListener("beforeprint", () => { before = root.dataset.theme; set("light"); planes.forEach((plane) => plane.draw()); });
  window.addEventListener("afterprint", () => set(before));
  const facts = [many(data.rows, "row"), many(data.columns.length, "column"), data.families.join(" and "), `${many(data.trust.chains.length, "chain")} × ${many(data.trust.draws, "draw")}`];
  document.getElementById("top").append(el("div", {}, el("h1", {}, data.title), el("p", { class: "lead" }, facts.join(" · ")), verdict()), button);
}

const planes = [];

function navigation(sections) {
  const links = sections.map(({ section }) => el("a", { href: `#${section.id}` }, section.querySelector("h2").textContent));
  document.getElementById("sections").append(...links);
  const watch = new IntersectionObserver((entries) => entries.forEach((entry) => {
    if (entry.isIntersecting) links.forEach((link) => link.setAttribute("aria-current", String(link.hash === `#${entry.target.id}`)));
  }), { rootMargin: "-30% 0px -65% 0px" });
  sections.forEach(({ section }) => watch.observe(section));
}

/** A section that cannot be drawn must not take the others with it. */
function attempt(id, title, make) {
  try {
    return make();
  } catch (error) {
    console.error(error);
    return { section: card(id, title, `This section could not be drawn (${error.message}).`) };
  }
}

async function main() {
  header();
  const main = document.getElementById("main");
  try {
    await unpack();
  } catch (error) {
    document.getElementById("wait").textContent = `The data of this report cannot be read (${error.message}). Open it in a recent browser, or make it again.`;
    return;
  }
  replace(main, live);
  const add = (part) => { main.append(part.section); if (part.plane) { planes.push(part.plane); part.plane.resize(); } return part; };
  const map = add(attempt("map", "Latent map", mapSection));
  // The map is painted before the rest is computed.
  await new Promise((next) => requestAnimationFrame(() => setTimeout(next, 0)));
  performance.mark("map");
  const decode = add(attempt("decode", "Decode", () => decodeSection(map)));
  const rest = [["kernel", "Kernel", kernelSection], ["fit", "Fit", fitSection], ["trust", "Trust", trustSection]].map(([id, title, make]) => add(attempt(id, title, make)));
  navigation([map, decode, ...rest]);
  document.getElementById("foot").append(`Made by rflvm ${data.trust.version}. This file is complete: it needs no network, and sends nothing.`);
  // For scripts, such as tests.
  window.report = { map: map.plane, decode: decode.plane, decoder: decode.decoder };
  document.documentElement.dataset.ready = "true";
}

main();
