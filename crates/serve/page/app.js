// The page: tabs, and what each needs when it starts.

import * as ask from "./ask.js";
import { byId, el, quiet, sayError } from "./dom.js";
import * as memory from "./memory.js";
import { refresh } from "./model.js";
import { photosOf } from "./photos.js";
import { resume } from "./session.js";
import * as teach from "./teach.js";
import * as versions from "./versions.js";

const tabs = [...document.querySelectorAll("[role=tab]")];
const nameOf = (tab) => tab.getAttribute("aria-controls");
let open = null;

/** Opens a tab by name; what is unknown is the first. */
function show(name) {
  open = nameOf(tabs.find((tab) => nameOf(tab) === name) ?? tabs[0]);
  for (const tab of tabs) {
    const isOpen = nameOf(tab) === open;
    tab.setAttribute("aria-selected", String(isOpen));
    tab.tabIndex = isOpen ? 0 : -1;
    byId(nameOf(tab)).hidden = !isOpen;
  }
  memory.show(open === "memory");
  versions.show(open === "versions");
}

function go(name) {
  quiet();
  history.replaceState(null, "", `#${name}`);
  show(name);
}

function startTabs() {
  byId("tab-ask").parentElement.addEventListener("keydown", (event) => {
    const at = tabs.indexOf(document.activeElement);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const tab = tabs.at(to % tabs.length);
    tab.focus();
    go(nameOf(tab));
  });
  for (const tab of tabs) tab.addEventListener("click", () => go(nameOf(tab)));
  // Buttons elsewhere that open a tab.
  document.addEventListener("click", ({ target }) => {
    const name = target.closest("[data-tab]")?.dataset.tab;
    if (!name) return;
    go(name);
    byId(`tab-${name}`).focus();
  });
  window.addEventListener("hashchange", () => show(location.hash.slice(1)));
}

function teachPhoto(file) {
  go("teach");
  teach.addNew(file);
}

function startPaste() {
  document.addEventListener("paste", ({ clipboardData }) => {
    const photos = photosOf([...clipboardData.files].map((file) => ({ file, folder: null })));
    if (open === "ask") ask.ask(photos.map(({ file }) => file), teachPhoto);
    if (open === "teach") teach.add(photos);
  });
}

/** A file that is dropped beside a place for it must not replace the page. */
function catchDrops() {
  for (const kind of ["dragover", "drop"]) document.addEventListener(kind, (event) => event.preventDefault());
}

async function start() {
  startTabs();
  startPaste();
  catchDrops();
  ask.start(teachPhoto);
  teach.start();
  memory.start();
  versions.start();
  show(location.hash.slice(1));
  try {
    await refresh();
    await resume();
  } catch (error) {
    sayError(error);
    byId("about").replaceChildren("The model cannot be shown. ", el("button", { type: "button", click: () => location.reload() }, "Try again"));
  }
  // Another process or page may have changed the model.
  document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh().catch(sayError); });
}

start();
