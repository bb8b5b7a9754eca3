// The tab Versions: holdout accuracy over time, roll back, export.

import { call, post } from "./api.js";
import { drawChart } from "./chart.js";
import { busy, byId, count, el, ofPhotos, percent, say, sayError } from "./dom.js";
import { model, onModel, refresh, whyFixed } from "./model.js";

let isVisible = false;

export function start() {
  onModel(() => { if (isVisible) load(); });
}

export function show(visible) {
  isVisible = visible;
  if (visible && model) load();
}

async function load() {
  const isEmpty = !model.current;
  byId("versions-empty").hidden = !isEmpty;
  byId("versions-empty").textContent = "There is no version yet: each session of Teach makes one.";
  byId("versions-full").hidden = isEmpty;
  if (isEmpty) return;
  try {
    const [kept, history] = await Promise.all([call("/v1/versions"), call("/v1/history")]);
    const all = overTime(kept, history);
    drawChart(byId("chart"), all);
    byId("by-class").replaceChildren(matrix(all));
    byId("version-list").replaceChildren(...kept.toReversed().map(item));
  } catch (error) {
    byId("versions-empty").hidden = false;
    byId("versions-empty").textContent = "The versions cannot be shown.";
    byId("versions-full").hidden = true;
    sayError(error);
  }
}

/** Every version that was measured: those that are kept as they are now, the others as their session reported them. */
function overTime(kept, history) {
  const all = new Map();
  for (const entry of history.filter(({ event }) => event === "learned")) {
    const score = ({ right, total }) => ({ right, total, share: total ? right / total : null, low: null, high: null });
    all.set(entry.version, {
      version: entry.version, when: entry.when, kept: false, current: false, holdout: score(entry.holdout),
      classes: (entry.by_class ?? []).map((each) => ({ class: each.class, holdout: score(each) })),
    });
  }
  for (const version of kept) all.set(version.version, { ...version, kept: true });
  return [...all.values()].sort((a, b) => a.version - b.version);
}

function matrix(all) {
  const names = [...new Set(all.flatMap((version) => version.classes.map((each) => each.class)))].sort();
  const cell = (version, name) => {
    const found = version.classes.find((each) => each.class === name)?.holdout;
    if (!found) return el("td", { class: "muted" }, el("span", { class: "hidden-text" }, "not known"));
    const node = el("td", { class: found.total ? "heat" : "muted", title: ofPhotos(found) }, found.total ? percent(found.share, 0) : "–");
    node.style.setProperty("--share", found.share ?? 0);
    return node;
  };
  const head = all.map((version) => el("th", { scope: "col", "aria-current": version.current ? "true" : null }, String(version.version)));
  const row = (name) => el("tr", {}, el("th", { scope: "row" }, name), all.map((version) => cell(version, name)));
  return el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Class \\ version"), head)), el("tbody", {}, names.map(row)));
}

function item(version) {
  const badges = [
    version.current ? el("span", { class: "badge current" }, "✓ answers now") : null,
    version.accepted ? null : el("span", { class: "badge rejected" }, "rejected: forgot too much"),
  ];
  const button = el("button", { type: "button", click: () => busy(button, () => use(version.version)) }, "Use this version");
  const when = version.when ? new Date(version.when).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }) : null;
  const size = version.bytes ? `${(version.bytes / 2 ** 20).toFixed(1)} MB` : null;
  return el("li", { class: "card version" },
    el("div", { class: "grow" },
      el("h4", { class: "row" }, `Version ${version.version}`, badges),
      el("p", {}, version.what),
      el("p", { class: "muted small" }, [when, count(version.classes.length, "class", "classes"), size].filter(Boolean).join(" · "))),
    el("div", { class: "accuracy" }, el("strong", {}, percent(version.holdout.share)), el("span", { class: "muted small" }, ofPhotos(version.holdout))),
    el("div", { class: "row end" },
      version.current || whyFixed() ? null : button,
      el("a", { class: "button", href: `/v1/versions/${version.version}/onnx`, download: true, "aria-label": `Download version ${version.version} as ONNX` }, "ONNX")));
}

async function use(version) {
  const { before } = await post(`/v1/versions/${version}/use`);
  await refresh();
  say(`Version ${version} answers now.`, { action: { label: `Back to version ${before}`, run: () => use(before).catch(sayError) } });
  byId("versions").focus({ preventScroll: true });
}
