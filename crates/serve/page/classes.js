// A class gets another name, becomes part of another, or is no longer answered.

import { post, postJson } from "./api.js";
import { say, sayError } from "./dom.js";
import { classNames, model, refresh } from "./model.js";
import { question } from "./question.js";

const KINDS = {
  rename: {
    title: (name) => `Rename ${name}`,
    text: "Photos and accuracy stay.",
    field: (name) => ({ label: "New name", value: name }),
    yes: "Rename",
    done: (name, to) => `${name} is called ${to} now.`,
  },
  merge: {
    title: (name) => `Merge ${name} into another class`,
    text: "Its photos become photos of the other class.",
    field: () => ({ label: "Into", list: "known-classes" }),
    yes: "Merge",
    check: (name, to) => (classNames().includes(to) && to !== name ? null : "Name another class that the model knows."),
    done: (name, to) => `${name} is part of ${to} now.`,
  },
  retire: {
    title: (name) => `Retire ${name}?`,
    text: "The model forgets the class and its photos, and never answers it.",
    field: () => undefined,
    yes: "Retire",
    danger: true,
    done: (name) => `${name} is retired.`,
  },
};

/** Asks and does; each is a version of its own, so that it can be undone. */
export async function changeClass(kind, name) {
  const { title, text, field, yes, danger, check, done } = KINDS[kind];
  const to = await question({
    title: title(name), text: `${text} This makes a version: the one before stays.`, field: field(name), yes, danger,
    check: (given) => check?.(name, given),
  });
  if (to === null) return;
  const before = model.current.version;
  try {
    await postJson(`/v1/classes/${kind}`, kind === "retire" ? { class: name } : { from: name, to });
    await refresh();
    const undo = { label: "Undo", run: () => post(`/v1/versions/${before}/use`).then(refresh).catch(sayError) };
    say(done(name, to), { action: undo });
  } catch (error) {
    sayError(error);
  }
}
