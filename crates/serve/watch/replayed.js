// What is replayed: in the last step, as photos; over a task, as counts.

import { drawHistogram } from "./curve.js";
import { bar, byId, count, el } from "./dom.js";

const SIDES = {
  conflicting: ["Conflicting", "The coming update would raise their loss most: replaying them protects what was learned."],
  aligned: ["Aligned", "The coming update would lower their loss, or raise it least: replaying them keeps the network open to change."],
  other: ["Replayed", "Not chosen by their change of loss."],
};
/** The most classes of a list. */
const LISTED = 8;

const signed = (value) => (value == null ? null : `${value < 0 ? "−" : "+"}${Math.abs(value).toPrecision(2)}`);

function side(name, ...content) {
  const [title, why] = SIDES[name];
  return el("section", { class: name }, el("h4", {}, title), el("p", { class: "muted small" }, why), content);
}

/** The photos of the last step; `step` is null if there is none. */
export function showLast(step) {
  byId("replayed").hidden = !step?.photos.length;
  if (!step?.photos.length) return;
  const of = (name) => step.photos.filter((photo) => (photo.side ?? "other") === name);
  byId("replayed-about").textContent = `Step ${step.step.toLocaleString("en")}, of task ${step.task + 1}: ${count(step.photos.length, "stored photo")}` +
    (step.photos.some((photo) => photo.loss_change != null) ? ", each with its change of loss by the coming update." : ".");
  const sides = Object.keys(SIDES).filter((name) => of(name).length);
  byId("replayed-sides").replaceChildren(...sides.map((name) => side(name, el("ul", { class: "plain replays" }, of(name).map(photo)))));
}

function photo({ picture, class: name, task, loss_change: change }) {
  const image = picture ? el("img", { src: picture, alt: "", width: 88, height: 88 }) : el("span", { class: "no-image" }, "features: no picture");
  return el("li", {}, image, el("span", {}, name), el("span", { class: "muted" }, `task ${task + 1}`), el("span", { class: "change" }, signed(change) ?? ""));
}

let tasks = [];
let classes = [];

export function start() {
  byId("task").addEventListener("change", showTask);
}

/** What a run wrote about each task; `names` may be empty. */
export function showTasks(diagnostics, names, isOver) {
  const isSame = tasks.length === diagnostics.length && tasks.every((task, index) => task.task === diagnostics[index].task) && classes.length === names.length;
  [tasks, classes] = [diagnostics, names];
  byId("diagnostics").hidden = !tasks.length;
  byId("no-diagnostics").hidden = tasks.length > 0;
  const flag = el("code", {}, "--diagnostics");
  byId("no-diagnostics").replaceChildren(...(isOver ? ["This run did not write it: runs with ", flag, " do."] : ["Written after each task by runs with ", flag, "."]));
  if (!tasks.length || isSame) return;
  const chosen = byId("task").value;
  byId("task").replaceChildren(...tasks.map(({ task }) => el("option", { value: String(task) }, String(task + 1))));
  byId("task").value = tasks.some(({ task }) => String(task) === chosen) ? chosen : String(tasks.at(-1).task);
  showTask();
}

function showTask() {
  const task = tasks.find((each) => String(each.task) === byId("task").value);
  if (!task) return;
  const sides = [["conflicting", task.picks_high], ["aligned", task.picks_low], ["other", task.picks_other]].filter(([, picks]) => picks?.class_mix.some(Boolean));
  byId("task-sides").replaceChildren(...(sides.length ? sides.map(([name, picks]) => side(name, ...counts(picks))) : [el("p", { class: "muted" }, "Nothing was replayed.")]));
  const changes = byId("changes");
  changes.hidden = !task.loss_change?.counts.some(Boolean);
  if (changes.hidden) return;
  const host = el("div");
  const outside = task.loss_change.below + task.loss_change.above;
  changes.replaceChildren(el("figcaption", {}, `Change of loss of every stored photo that was looked at${outside ? ` (${count(outside, "photo")} outside)` : ""}`), host);
  drawHistogram(host, task.loss_change, "Histogram of changes of loss");
}

function counts({ class_mix: mix, task_age: ages }) {
  const total = mix.reduce((sum, number) => sum + number, 0);
  const named = mix.map((number, index) => [classes[index] ?? `class ${index + 1}`, number]).filter(([, number]) => number).sort((a, b) => b[1] - a[1]);
  const rest = named.slice(LISTED).reduce((sum, [, number]) => sum + number, 0);
  const rows = rest ? [...named.slice(0, LISTED), [count(named.length - LISTED, "other class", "other classes"), rest]] : named;
  const old = ages.slice(1).reduce((sum, number) => sum + number, 0);
  return [
    el("p", { class: "small" }, `${total.toLocaleString("en")} times, ${Math.round((100 * old) / total)}\u00a0% of earlier tasks`),
    el("ul", { class: "plain counts" }, rows.map(([name, number]) => el("li", {}, el("span", {}, name), bar(number / total), el("span", { class: "number" }, number.toLocaleString("en"))))),
  ];
}
