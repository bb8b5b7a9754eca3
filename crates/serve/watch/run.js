// One run: its numbers, its accuracy matrix, its loss.

import { drawCurve } from "./curve.js";
import { byId, count, el, percent } from "./dom.js";
import { showTasks } from "./replayed.js";

export const STATES = { waiting: "waiting", running: "running", stopped: "stopped", finished: "finished", failed: "failed" };

export const badge = (state) => el("span", { class: `badge ${state}` }, STATES[state] ?? state);

export function showRun(run, isOnly) {
  byId("run").hidden = false;
  byId("run-name").replaceChildren(isOnly ? "Run " : run.name, " ", badge(run.state));
  byId("run-settings").textContent = Object.entries(run.settings).map(([name, value]) => `${name} ${value}`).join(" · ");
  const doubts = [run.why, ...run.warnings].filter(Boolean);
  byId("run-why").hidden = !doubts.length;
  byId("run-why").textContent = doubts.join(" ");
  showTiles(run);
  byId("matrix").replaceChildren(run.matrix.length ? matrix(run) : el("p", { class: "empty" }, "No task has been learned yet."));
  drawCurve(byId("loss"), run.loss, `Loss over ${count(run.steps, "step")}`);
  byId("loss-about").textContent = run.loss.stride > 1 ? `Each point is the mean of ${run.loss.stride} steps.` : "";
  showTasks(run.diagnostics, run.classes, run.state === "finished");
}

function showTiles(run) {
  const loss = run.loss.means.findLast((mean) => mean != null);
  const tile = (name, value, more) => el("div", { class: "tile" }, el("span", { class: "muted" }, name), el("strong", {}, value), el("span", { class: "muted small" }, more));
  byId("tiles").replaceChildren(
    tile("Accuracy", percent(run.accuracy), run.tasks ? `over ${count(run.tasks, "task")}` : "after the first task"),
    tile("Forgetting", percent(run.forgetting), "loss from the best accuracy"),
    tile("Loss", loss == null ? "–" : loss.toFixed(3), "of the last steps"),
    tile("Steps", run.steps.toLocaleString("en"), run.state === "finished" ? "in all" : `in task ${run.task + 1}`),
    tile("Memory", run.memory.toLocaleString("en"), "stored photos"));
}

function matrix({ matrix: rows, state, task }) {
  const tasks = Math.max(...rows.map((row) => row.length));
  const columns = Array.from({ length: tasks }, (_, index) => index);
  const cell = (row, index) => {
    const node = el("td", { class: row[index] == null ? "muted" : "heat" }, row[index] == null ? "" : percent(row[index]));
    node.style.setProperty("--share", row[index] ?? 0);
    return node;
  };
  const mean = (row) => percent(row.reduce((sum, share) => sum + (share ?? 0), 0) / row.length);
  const body = rows.map((row, index) => el("tr", {}, el("th", { scope: "row" }, `After task ${index + 1}`), columns.map((column) => cell(row, column)), el("td", {}, mean(row))));
  if (state === "running" && task >= rows.length) {
    body.push(el("tr", { class: "now" }, el("th", { scope: "row" }, `Task ${task + 1}`), el("td", { colspan: tasks + 1 }, "is being learned…")));
  }
  const head = columns.map((index) => el("th", { scope: "col" }, `Task ${index + 1}`));
  return el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "On"), head, el("th", { scope: "col" }, "Mean"))), el("tbody", {}, body));
}
