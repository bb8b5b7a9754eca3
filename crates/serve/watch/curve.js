// A line over steps, and a histogram.

import { el, svg } from "./dom.js";

const HEIGHT = 200;
const EDGE = { left: 52, right: 14, top: 12, bottom: 28 };
const observers = new Map();

/** Draws with `draw(width)` now, and whenever the width changes. */
function fit(host, draw) {
  observers.get(host)?.disconnect();
  const observer = new ResizeObserver(() => host.replaceChildren(draw(Math.max(host.clientWidth, 200))));
  observers.set(host, observer);
  observer.observe(host);
}

/** Digits that tell apart numbers as far apart as `step`. */
const digits = (step) => Math.max(0, Math.min(4, Math.ceil(-Math.log10(step))));

/** Round numbers from 0 or `low` to `high`, at most six. */
function ticks(low, high) {
  const raw = (high - low) / 5 || 1;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((factor) => factor * size >= raw) * size;
  const all = [];
  for (let tick = Math.ceil(low / step); tick * step <= high + step / 1000; tick += 1) all.push(tick * step);
  return { all, step };
}

/** `curve` is {stride, means}: one mean for each `stride` steps. */
export function drawCurve(host, curve, label) {
  const points = curve.means.map((mean, index) => [index * curve.stride + (curve.stride + 1) / 2, mean]).filter(([, mean]) => mean != null);
  if (!points.length) {
    observers.get(host)?.disconnect();
    host.replaceChildren(el("p", { class: "empty" }, "No step yet."));
    return;
  }
  fit(host, (width) => line(points, width, label));
}

function line(points, width, label) {
  const top = Math.max(...points.map(([, mean]) => mean), 1e-6);
  const low = Math.min(0, ...points.map(([, mean]) => mean));
  const last = Math.max(points.at(-1)[0], 2);
  const x = (step) => EDGE.left + ((width - EDGE.left - EDGE.right) * step) / last;
  const y = (value) => EDGE.top + (HEIGHT - EDGE.top - EDGE.bottom) * (1 - (value - low) / (top - low));
  const [across, up] = [ticks(0, last), ticks(low, top)];
  const grid = up.all.flatMap((value) => [
    svg("line", { class: "grid", x1: EDGE.left, x2: width - EDGE.right, y1: y(value), y2: y(value) }),
    svg("text", { x: EDGE.left - 6, y: y(value) + 4, "text-anchor": "end" }, value.toFixed(digits(up.step))),
  ]);
  const steps = across.all.filter((step) => Number.isInteger(step)).map((step) =>
    svg("text", { x: x(step), y: HEIGHT - 8, "text-anchor": step === 0 ? "start" : x(step) > width - 40 ? "end" : "middle" }, step.toLocaleString("en")));
  const path = points.map(([step, mean], index) => `${index ? "L" : "M"}${x(step).toFixed(1)} ${y(mean).toFixed(1)}`).join("");
  return svg("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": label }, grid, steps, svg("path", { class: "line", d: path }));
}

/** `histogram` is {from, to, counts, below, above}; what is above 0 has another colour. */
export function drawHistogram(host, histogram, label) {
  fit(host, (width) => bars(histogram, width, label));
}

function bars({ from, to, counts }, width, label) {
  const most = Math.max(...counts, 1);
  const bin = (to - from) / counts.length;
  const x = (value) => EDGE.left + ((width - EDGE.left - EDGE.right) * (value - from)) / (to - from);
  const floor = HEIGHT - EDGE.bottom;
  const columns = counts.map((count, index) => {
    const [begin, height] = [from + index * bin, ((floor - EDGE.top) * count) / most];
    return svg("rect", { class: begin + bin / 2 > 0 ? "up" : null, x: x(begin), width: Math.max(x(begin + bin) - x(begin) - 1, 0.5), y: floor - height, height });
  });
  const { all, step } = ticks(from, to);
  const marks = all.map((value) => svg("text", { x: x(value), y: HEIGHT - 8, "text-anchor": "middle" }, value.toFixed(digits(step))));
  const zero = from < 0 && to > 0 ? svg("line", { class: "zero", x1: x(0), x2: x(0), y1: EDGE.top, y2: floor }) : null;
  return svg("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": label }, columns, zero ?? [], marks);
}
