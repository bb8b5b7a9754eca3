// Runs and grids while they go on, and after.

import { byId, count, el, percent, quiet, say } from "./dom.js";
import { showLast, start } from "./replayed.js";
import { badge, showRun } from "./run.js";

/** So often the server is asked, in milliseconds. */
const EVERY = 1500;
let chosen = null;
let listed = "";
let isGone = false;

async function call(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error((await answer.json().catch(() => null))?.error?.message ?? `the server answered with ${answer.status}`);
  return answer.json();
}

async function look() {
  const { name, live, runs } = await call("/v1/runs");
  byId("name").textContent = name;
  document.title = `${name} · Rehearsal`;
  byId("about").textContent = about(runs);
  byId("none").hidden = runs.length > 0;
  byId("runs").hidden = runs.length < 2;
  if (!runs.some((run) => run.name === chosen)) chosen = (runs.find(({ state }) => state === "running") ?? runs[0])?.name ?? null;
  list(runs);
  byId("run").hidden = chosen === null;
  if (chosen === null) return;
  const run = await call(`/v1/run?name=${encodeURIComponent(chosen)}`);
  showRun(run, runs.length === 1);
  showLast(live && run.state === "running" ? await call("/v1/replayed") : null);
}

function about(runs) {
  if (runs.length === 1) {
    const [{ tasks, steps, state }] = runs;
    return `${count(tasks, "task")} learned, ${count(steps, "step")}, ${state}`;
  }
  const states = [...new Set(runs.map(({ state }) => state))].sort();
  return [count(runs.length, "run"), ...states.map((state) => `${runs.filter((run) => run.state === state).length} ${state}`)].join(", ");
}

/** The list is made again only if it has changed, so that the focus stays where it is. */
function list(runs) {
  const now = JSON.stringify([runs, chosen]);
  if (now === listed || runs.length < 2) return;
  listed = now;
  const focused = document.activeElement?.dataset?.run;
  const row = (run) => el("tr", {},
    el("th", { scope: "row" }, el("button", { type: "button", class: "quiet", "data-run": run.name, "aria-pressed": String(run.name === chosen), click: () => choose(run.name) }, run.name)),
    el("td", {}, badge(run.state)), el("td", {}, String(run.tasks)), el("td", {}, run.steps.toLocaleString("en")), el("td", {}, percent(run.accuracy)));
  const head = ["Run", "State", "Tasks", "Steps", "Accuracy"].map((name) => el("th", { scope: "col" }, name));
  byId("run-list").replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, runs.map(row))));
  if (focused) byId("run-list").querySelector(`[data-run="${CSS.escape(focused)}"]`)?.focus();
}

function choose(name) {
  chosen = name;
  again();
}

/** Looks once; a server that is gone is said once. */
async function again() {
  try {
    await look();
    if (isGone) quiet();
    isGone = false;
  } catch (error) {
    if (isGone) return;
    isGone = true;
    byId("about").prepend("Last seen: ");
    const ended = error instanceof TypeError;
    say(ended ? "The server of this page has ended." : error.message, { hint: ended ? "What was last seen stays. `rehearsal watch DIR` shows a run again." : null, bad: true });
  }
}

async function keepLooking() {
  if (!document.hidden) await again();
  setTimeout(keepLooking, EVERY);
}

start();
keepLooking();
