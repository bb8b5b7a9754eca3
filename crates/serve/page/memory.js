// The tab Memory: remembered photos as pictures, to be moved and deleted.

import { call, postJson } from "./api.js";
import { changeClass } from "./classes.js";
import { busy, byId, count, el, fileName, quiet, say, sayError } from "./dom.js";
import { drawMap } from "./map.js";
import { classNames, model, onModel, refresh, whyFixed } from "./model.js";
import { question } from "./question.js";

const PAGE = 120;
/** Identities of the selected photos. */
const selected = new Set();
let shown = 0;
let isVisible = false;
/** Counts what was asked for: an answer that comes late is not shown. */
let asked = 0;

export function start() {
  byId("memory-view").addEventListener("change", load);
  byId("memory-class").addEventListener("change", load);
  byId("memory-more").addEventListener("click", (event) => busy(event.target, more));
  byId("deselect").addEventListener("click", () => select([]));
  byId("selected").addEventListener("submit", move);
  byId("delete").addEventListener("click", remove);
  byId("pictures").addEventListener("change", ({ target }) => toggle(target.value, target.checked));
  onModel(() => {
    const had = byId("memory-class").value;
    byId("memory-class").replaceChildren(el("option", { value: "" }, "all classes"), ...classNames().map((value) => el("option", { value }, value)));
    byId("memory-class").value = classNames().includes(had) ? had : "";
    if (isVisible) load();
  });
}

export function show(visible) {
  isVisible = visible;
  if (visible && model) load();
}

async function load() {
  const isEmpty = !model.current;
  byId("memory-empty").hidden = !isEmpty;
  byId("memory-empty").textContent = "Nothing is remembered yet. Teach the model two classes first.";
  byId("memory-full").hidden = isEmpty;
  select([]);
  if (isEmpty) return;
  const isMap = byId("memory-view").value === "map";
  byId("map").hidden = !isMap;
  byId("pictures").hidden = isMap;
  byId("memory-class-label").hidden = isMap;
  byId("memory-more").hidden = true;
  byId("memory-count").textContent = "";
  byId("memory-full").ariaBusy = "true";
  try {
    if (isMap) await map();
    else await pictures();
  } catch (error) {
    sayError(error);
  }
  byId("memory-full").ariaBusy = "false";
}

async function map() {
  const mine = ++asked;
  const answer = await call("/v1/memory/map");
  if (mine !== asked) return;
  drawMap(byId("map"), answer, { selected, toggle: whyFixed() ? () => {} : toggle });
  byId("memory-count").textContent = count(answer.points.length, "photo");
}

async function pictures() {
  const mine = ++asked;
  const host = byId("pictures");
  shown = 0;
  const doubtfulFirst = byId("memory-view").value === "pictures" && await list({ sort: "doubtful", doubtful: true, limit: PAGE });
  if (mine !== asked) return;
  host.replaceChildren();
  if (doubtfulFirst?.total) host.append(section("Doubtful: nearer to another class than to their own", doubtfulFirst.photos, null));
  await more(mine);
}

function list(query) {
  const given = { ...query, class: byId("memory-class").value };
  const parameters = Object.entries(given).filter(([, value]) => value);
  return call(`/v1/memory?${new URLSearchParams(parameters)}`);
}

async function more(mine = asked) {
  const onlyDoubtful = byId("memory-view").value === "doubtful";
  const answer = await list({ sort: onlyDoubtful ? "doubtful" : "class", doubtful: onlyDoubtful, offset: shown, limit: PAGE });
  if (mine !== asked) return;
  const host = byId("pictures");
  if (!answer.total) {
    host.replaceChildren(el("p", { class: "empty" }, onlyDoubtful ? "No photo is doubtful: each is nearest to its own class." : "Nothing of this class is remembered."));
  }
  const groups = onlyDoubtful ? [[null, answer.photos]] : Map.groupBy(answer.photos, (photo) => photo.class);
  for (const [name, photos] of answer.photos.length ? groups : []) {
    const last = host.lastElementChild;
    if (last && (last.dataset.class ?? null) === name) last.querySelector("ul").append(...photos.map(picture));
    else host.append(section(name ?? "Nearer to another class than to their own", photos, name));
  }
  shown += answer.photos.length;
  select([...selected]);
  byId("memory-more").hidden = shown >= answer.total;
  const doubtful = answer.doubtful && !onlyDoubtful ? `, ${answer.doubtful} doubtful` : "";
  byId("memory-count").textContent = `${count(answer.total, "photo")}${doubtful}`;
}

function section(title, photos, name) {
  const about = name && model.current.classes.find((each) => each.class === name);
  const button = (kind, label) => el("button", { type: "button", class: "quiet", "aria-label": `${label} ${name}`, click: () => changeClass(kind, name) }, label);
  const buttons = name && !whyFixed() ? [button("rename", "Rename"), button("merge", "Merge"), button("retire", "Retire")] : [];
  return el("section", { "data-class": name },
    el("div", { class: "row between" }, el("h3", {}, title, about ? el("span", { class: "muted small" }, ` ${count(about.learned, "photo")} learned`) : null), el("div", { class: "row" }, buttons)),
    el("ul", { class: "plain pictures" }, photos.map(picture)));
}

function picture(photo) {
  const name = fileName(photo.source);
  const doubt = photo.doubtful ? el("span", { class: "warn" }, `like ${photo.nearest}`) : null;
  const held = photo.in === "holdout" ? el("span", { class: "muted" }, "holdout") : null;
  const box = whyFixed() ? null : el("input", { type: "checkbox", value: photo.id });
  return el("li", { class: photo.doubtful ? "doubtful" : null },
    el("label", { title: `${photo.class}: ${photo.source}` }, box, el("img", { src: photo.thumbnail, alt: `${photo.class}, `, width: 96, height: 96, loading: "lazy" }),
      el("span", { class: "name" }, name), doubt, held));
}

function toggle(id, isOn) {
  quiet();
  if (isOn) selected.add(id);
  else selected.delete(id);
  select([...selected]);
}

/** The same photo may be shown twice, and on the map. */
function select(ids) {
  selected.clear();
  for (const id of ids) selected.add(id);
  for (const box of byId("pictures").querySelectorAll("input")) box.checked = selected.has(box.value);
  for (const point of byId("map").querySelectorAll("[data-id]")) point.classList.toggle("on", selected.has(point.dataset.id));
  byId("selected").hidden = !selected.size;
  byId("selected-count").textContent = `${count(selected.size, "photo")} selected`;
}

function move(event) {
  event.preventDefault();
  const to = byId("move-to").value.trim();
  if (!to) {
    say("Name the class that the photos belong to.", { bad: true });
    return byId("move-to").focus();
  }
  return busy(byId("move"), async () => {
    const { version, photos } = await postJson("/v1/memory/move", { photos: [...selected], to });
    byId("move-to").value = "";
    await refresh();
    say(`${count(photos, "photo")} moved to ${to}: version ${version} answers now, as if they had always been there.`);
    byId("memory").focus({ preventScroll: true });
  });
}

async function remove() {
  const photos = [...selected];
  const sure = await question({
    title: `Delete ${count(photos.length, "photo")}?`,
    text: "Every kept version becomes what it would be without, to the bit. This cannot be undone, but photos can be taught again.",
    yes: "Delete", danger: true,
  });
  if (!sure) return;
  await busy(byId("delete"), async () => {
    const done = await postJson("/v1/memory/remove", { photos });
    await refresh();
    say(`${count(done.photos, "photo")} deleted, from ${count(done.versions, "version")}.`);
    byId("memory").focus({ preventScroll: true });
  });
}
