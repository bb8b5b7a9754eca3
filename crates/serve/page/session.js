// A session while it learns, and what came out of it.

import { call, follow, isOver, post } from "./api.js";
import { bar, busy, byId, count, el, percent, say, sayError, speak } from "./dom.js";
import { refresh } from "./model.js";

/** Shows the newest session if it is still going on, as after the page was loaded again. */
export async function resume() {
  const [newest] = await call("/v1/jobs");
  if (newest && !isOver(newest)) watch(newest).catch(sayError);
}

/** Follows a session to its end, and gives it as it was then. */
export function watch(job) {
  const progress = el("progress", { max: Math.max(1, job.photos), value: 0, "aria-label": "Photos read" });
  const state = el("p");
  const notices = el("ul", { class: "muted small" });
  const host = byId("session");
  host.replaceChildren(el("div", { class: "card" }, el("h3", {}, `Session of ${count(job.photos, "photo")}`), state, progress, notices));
  host.scrollIntoView({ block: "nearest" });
  const seen = (now) => {
    progress.value = now.read;
    if (now.state === "running" && now.read >= now.photos) progress.removeAttribute("value");
    state.textContent = inWords(now);
    notices.replaceChildren(...now.notices.map((notice) => el("li", {}, notice)));
  };
  seen(job);
  return new Promise((resolve, reject) => {
    const end = async (now) => {
      try {
        await refresh();
        host.replaceChildren(el("div", { class: `card result ${now.state}` }, ...result(now), notices));
        host.focus({ preventScroll: true });
        host.scrollIntoView({ block: "nearest" });
        resolve(now);
      } catch (error) {
        reject(error);
      }
    };
    follow(job.id, (now) => {
      seen(now);
      if (isOver(now)) end(now);
    }, (closed) => {
      state.textContent = closed ? "The server no longer tells how far it is. Load the page again." : "The server does not answer; trying again…";
    });
  });
}

function inWords({ state, read, photos }) {
  if (state === "waiting") return "Waiting for another session…";
  if (read < photos) return `${read} of ${count(photos, "photo")} read`;
  return "All photos read; computing the head…";
}

function result(job) {
  const title = (text) => {
    speak(text);
    return el("h3", {}, text);
  };
  switch (job.state) {
    case "learned": return [title(`Version ${job.version} has learned ${count(job.report.images, "photo")} and answers now.`), ...report(job.report),
      el("div", { class: "row" }, el("button", { type: "button", class: "main", "data-tab": "ask" }, "Ask it"), undo(job.report))];
    case "rejected": return [title(`Version ${job.version} is rejected.`),
      el("p", {}, `Known classes lost ${job.report.max_forgetting === null ? "accuracy beyond chance" : `more than ${100 * job.report.max_forgetting} percentage points`}, so version ${job.report.parent} answers as before.`), ...report(job.report), use(job.version, "Use it anyway")];
    case "nothing-new": return [title("Nothing new: all these photos were known."), el("p", {}, "To give a photo to another class, move it in Memory.")];
    case "stopped": return [title("The server was stopped before the session ended."), el("p", {}, "Nothing has changed: learn the photos again.")];
    default: return [title("The session failed; nothing has changed."), el("p", { class: "bad" }, job.error.message), job.error.hint ? el("p", { class: "muted" }, job.error.hint) : null];
  }
}

const share = ({ right, total }) => (total ? right / total : null);

function report({ old, new: added, new_classes: names, by_class: classes }) {
  return [
    el("div", { class: "row tiles" },
      old ? tile("Classes known before", `${percent(share(old.before))} → ${percent(share(old.after))}`, `${old.before.right} and then ${old.after.right} of ${count(old.after.total, "holdout photo")} right${chance(old)}`) : null,
      names.length ? tile(count(names.length, "new class", "new classes"), percent(share(added)), added.total ? `${added.right} of ${count(added.total, "holdout photo")} right` : "No photo was held out: from five photos on, one is.") : null),
    classes.length ? table(classes) : null,
  ];
}

function chance({ p, before, after }) {
  if (before.right === after.right) return "";
  return p >= 0.05 ? "; the difference may be chance" : "; more than chance";
}

const tile = (name, value, note) => el("div", { class: "tile" }, el("span", { class: "muted" }, name), el("strong", {}, value), el("span", { class: "small muted" }, note));

function table(classes) {
  const before = ({ right_before: right, total }) => (right == null ? "new" : percent(total ? right / total : null, 0));
  const row = (each) => el("tr", {}, el("th", { scope: "row" }, each.class), el("td", {}, before(each)),
    el("td", {}, el("span", { class: "row" }, el("span", { class: "number" }, percent(share(each), 0)), bar(share(each)))), el("td", {}, `${each.right} of ${each.total}`));
  const head = ["Class", "Before", "Now", "Right"].map((name) => el("th", { scope: "col" }, name));
  return el("details", { open: classes.length <= 12 }, el("summary", {}, "Holdout accuracy by class"),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Holdout accuracy by class" }, el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, classes.map(row)))));
}

const undo = ({ parent }) => (parent ? use(parent, `Go back to version ${parent}`) : null);

function use(version, label) {
  const button = el("button", { type: "button", click: () => busy(button, async () => {
    await post(`/v1/versions/${version}/use`);
    await refresh();
    say(`Version ${version} answers now.`);
  }) }, label);
  return button;
}
