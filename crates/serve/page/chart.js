// Holdout accuracy by version, as a line with intervals.

import { el, percent, svg } from "./dom.js";

const HEIGHT = 220;
const EDGE = { left: 50, right: 14, top: 14, bottom: 30 };
let observer = null;

export function drawChart(host, versions) {
  observer?.disconnect();
  observer = new ResizeObserver(() => host.replaceChildren(...chart(versions, host.clientWidth)));
  observer.observe(host);
}

function chart(versions, width) {
  const measured = versions.filter(({ holdout }) => holdout.share != null);
  if (!measured.length) return [el("p", { class: "empty" }, "No photo was held out yet: from five photos of a class on, one in ten is.")];
  const lowest = Math.min(...measured.map(({ holdout }) => holdout.low ?? holdout.share));
  const floor = Math.min(0.8, Math.floor(lowest * 5) / 5);
  const step = (width - EDGE.left - EDGE.right) / measured.length;
  const x = (index) => EDGE.left + step * (index + 0.5);
  const y = (share) => EDGE.top + (HEIGHT - EDGE.top - EDGE.bottom) * (1 - (share - floor) / (1 - floor));
  const lines = [];
  for (let share = floor; share < 1.01; share += floor < 0.5 ? 0.2 : floor < 0.8 ? 0.1 : 0.05) {
    lines.push(svg("line", { class: "grid", x1: EDGE.left, x2: width - EDGE.right, y1: y(share), y2: y(share) }),
      svg("text", { x: EDGE.left - 6, y: y(share) + 4, "text-anchor": "end" }, percent(share, 0)));
  }
  const path = measured.map(({ holdout }, index) => `${index ? "L" : "M"}${x(index)} ${y(holdout.share)}`).join("");
  const every = Math.ceil(28 / step);
  const marks = measured.flatMap(({ version, holdout, current, kept }, index) => [
    holdout.low == null ? null : svg("line", { class: "interval", x1: x(index), x2: x(index), y1: y(holdout.low), y2: y(holdout.high) }),
    svg("circle", { class: current ? "dot current" : kept ? "dot" : "dot gone", cx: x(index), cy: y(holdout.share), r: current ? 6 : 4 },
      svg("title", {}, `version ${version}: ${percent(holdout.share)}`)),
    index % every ? null : svg("text", { x: x(index), y: HEIGHT - 8, "text-anchor": "middle", class: current ? "current" : null }, String(version)),
  ]);
  const label = `Holdout accuracy by version: ${measured.map(({ version, holdout }) => `${version}: ${percent(holdout.share)}`).join(", ")}`;
  return [svg("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": label }, lines, svg("path", { class: "line", d: path }), marks)];
}
