// What the page knows of the model. Everything that shows it is told when it changes.

import { call } from "./api.js";
import { byId, count, el, percent } from "./dom.js";

/** The last answer of `GET /v1/model`. */
export let model = null;

const listeners = [];
export const onModel = (listener) => listeners.push(listener);

/** Looks at the model, and shows it again if it has changed. */
export async function refresh() {
  const now = await call("/v1/model");
  if (JSON.stringify(now) === JSON.stringify(model)) return;
  model = now;
  describe();
  for (const listener of listeners) listener(model);
}

/** Whether something can be taught and changed here; else why not. */
export function whyFixed() {
  if (model?.read_only) return "This server only answers: it was started with --read-only. Start it without to change the model.";
  if (model?.current && !model.current.can_learn) return "This model is trained from scratch, which this server does not do: teach it with `rehearsal learn`.";
  return null;
}

export const classNames = () => model?.current?.classes.map((each) => each.class) ?? [];

function describe() {
  const { name, current } = model;
  document.title = `${name} – Rehearsal`;
  byId("name").textContent = name;
  byId("known-classes").replaceChildren(...classNames().map((value) => el("option", { value })));
  byId("about").textContent = current ? inWords(current) : "It has learned nothing yet.";
}

function inWords({ version, classes, learned, holdout }) {
  const right = holdout.total ? `, ${percent(holdout.share)} of ${count(holdout.total, "holdout photo")} right` : "";
  return `Version ${version}: ${count(classes.length, "class", "classes")}, ${count(learned, "photo")} learned${right}`;
}
