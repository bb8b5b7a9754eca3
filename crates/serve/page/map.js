// Remembered photos in two dimensions. Photos that look alike to the model are near each other.

import { el, percent, speak, svg } from "./dom.js";

const COLOURS = 8;
const SHAPES = [
  (r) => svg("circle", { r }),
  (r) => svg("rect", { x: -r, y: -r, width: 2 * r, height: 2 * r }),
  (r) => svg("path", { d: `M0 ${-1.3 * r}L${1.2 * r} ${r}H${-1.2 * r}Z` }),
  (r) => svg("path", { d: `M0 ${-1.4 * r}L${1.4 * r} 0L0 ${1.4 * r}L${-1.4 * r} 0Z` }),
];

/** A colour for each of eight classes, and another shape for the next eight. */
function mark(index, radius = 5) {
  const shape = SHAPES[Math.floor(index / COLOURS) % SHAPES.length](radius);
  shape.setAttribute("class", `mark c${index % COLOURS}`);
  return shape;
}

export function drawMap(host, { points, explained }, { selected, toggle }) {
  const names = [...new Set(points.map((point) => point.class))].sort();
  const width = Math.max(300, host.clientWidth);
  const height = Math.max(300, Math.min(0.6 * width, 620));
  const preview = el("div", { class: "preview", hidden: true }, el("img", { alt: "", width: 96, height: 96 }), el("span"));
  const draw = (point) =>
    svg("g", { class: `point${point.doubtful ? " doubtful" : ""}${selected.has(point.id) ? " on" : ""}`, "data-id": point.id,
      transform: `translate(${width / 2 + (width / 2 - 16) * point.x} ${height / 2 - (height / 2 - 16) * point.y})` }, svg("circle", { r: 11, class: "ring" }), mark(names.indexOf(point.class)));
  const nodes = points.map(draw);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "application", tabindex: 0,
    "aria-label": `Map of ${points.length} photos. Arrow keys go from photo to photo, Enter selects. The same photos are listed as pictures.` }, nodes);
  let at = -1;

  const go = (index) => {
    nodes[at]?.classList.remove("at");
    at = index;
    preview.hidden = at < 0;
    if (at < 0) return;
    const point = points[at];
    nodes[at].classList.add("at");
    // Not over the photo.
    preview.classList.toggle("left", point.x > 0.3 && point.y > 0);
    preview.firstElementChild.src = point.thumbnail;
    preview.lastElementChild.textContent = `${point.class}${point.doubtful ? ", doubtful" : ""}${selected.has(point.id) ? ", selected" : ""}`;
  };
  const flip = (index) => {
    toggle(points[index].id, !selected.has(points[index].id));
    go(index);
  };
  const under = (event) => nodes.indexOf(event.target.closest(".point"));
  picture.addEventListener("pointerover", (event) => { if (under(event) >= 0) go(under(event)); });
  picture.addEventListener("click", (event) => { if (under(event) >= 0) flip(under(event)); });
  picture.addEventListener("keydown", (event) => {
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [0, 0];
    if (dx || dy) go(at < 0 ? 0 : neighbour(points, at, dx, dy));
    else if (["Enter", " "].includes(event.key) && at >= 0) flip(at);
    else return;
    speak(preview.textContent);
    event.preventDefault();
  });

  const only = (button, name) => {
    const isOff = button.getAttribute("aria-pressed") === "true";
    for (const each of legend.querySelectorAll("button")) each.setAttribute("aria-pressed", String(!isOff && each === button));
    points.forEach((point, index) => nodes[index].classList.toggle("dim", !isOff && point.class !== name));
  };
  const entry = (name, index) => {
    const button = el("button", { type: "button", class: "quiet", "aria-pressed": "false", click: () => only(button, name) },
      svg("svg", { viewBox: "-8 -8 16 16", width: 16, height: 16, "aria-hidden": "true" }, mark(index)), name);
    return button;
  };
  const legend = el("div", { class: "row legend", role: "group", "aria-label": "Show one class" }, names.map(entry));
  const note = el("p", { class: "muted small" },
    `The first two principal components of the features: ${percent(explained[0], 0)} and ${percent(explained[1], 0)} of their variance, so photos that lie together here may still differ. A ring marks a doubtful photo.`);
  host.replaceChildren(legend, el("div", { class: "map" }, picture, preview), note);
}

/** The nearest point in a direction: what is aside counts twice. */
function neighbour(points, from, dx, dy) {
  let [best, nearest] = [from, Infinity];
  points.forEach((point, index) => {
    const [x, y] = [point.x - points[from].x, point.y - points[from].y];
    const ahead = x * dx + y * dy;
    const distance = ahead + 2 * Math.abs(x * dy - y * dx);
    if (index !== from && ahead > 0 && distance < nearest) [best, nearest] = [index, distance];
  });
  return best;
}
