// The tab Teach: classes with photos, and the session that learns them.

import { post } from "./api.js";
import { busy, byId, clone, count, el, say } from "./dom.js";
import { model, onModel, whyFixed } from "./model.js";
import { acceptDrops, inFolders, photoDrop, photosOf } from "./photos.js";
import { watch } from "./session.js";

/** A class that is to be learned: its card and its photos. */
const lessons = new Map();

export function start() {
  byId("add-class").addEventListener("click", () => addClass("").name.focus());
  byId("folders").addEventListener("change", ({ target }) => {
    add(photosOf(inFolders(target.files)));
    target.value = "";
  });
  byId("zip").addEventListener("change", ({ target }) => {
    const [file] = target.files;
    if (file) busy(byId("learn"), () => learn(file, () => {}));
    target.value = "";
  });
  byId("lesson").addEventListener("submit", submit);
  acceptDrops(byId("teach"), add);
  onModel(show);
}

/** Photos with the class that their folder names; without one they go where the user is. */
export function add(photos) {
  for (const { file, folder } of photos) lessonOf(folder).add(file);
  counted();
}

/** A photo whose class is to be named. */
export function addNew(file) {
  const lesson = unused() ?? addClass("");
  lesson.add(file);
  lesson.name.focus();
  counted();
}

const unused = () => [...lessons.values()].find((each) => !each.photos.size && !each.name.value.trim());

function lessonOf(folder) {
  const all = [...lessons.values()];
  if (folder === null) return all.find((each) => each.card.contains(document.activeElement)) ?? all.at(-1) ?? addClass("");
  return all.find((each) => each.name.value.trim() === folder) ?? unused()?.called(folder) ?? addClass(folder);
}

function show() {
  const why = whyFixed();
  byId("teach-empty").hidden = !why;
  byId("teach-empty").textContent = why ?? "";
  byId("lesson").hidden = Boolean(why);
  // A new model needs two classes.
  while (!why && lessons.size < (model.current ? 1 : 2)) addClass("");
  for (const lesson of lessons.values()) lesson.describe();
}

function addClass(name) {
  const card = clone("class-card");
  const photos = new Map();
  const input = card.querySelector(".class-name");
  const lesson = {
    card, photos, name: input,
    called(folder) {
      input.value = folder;
      lesson.describe();
      return lesson;
    },
    describe() {
      const known = model?.current?.classes.find((each) => each.class === input.value.trim());
      card.querySelector(".class-known").textContent = known ? `Known: ${count(known.learned, "photo")} learned. These will be added.` : input.value.trim() ? "A new class." : "";
      card.querySelector("legend").textContent = input.value.trim() ? `Class ${input.value.trim()}` : "Class without a name";
    },
    add(file) {
      const url = URL.createObjectURL(file);
      const remove = () => {
        URL.revokeObjectURL(url);
        photos.delete(item);
        (item.nextElementSibling ?? item.previousElementSibling)?.querySelector("button").focus();
        item.remove();
        counted();
      };
      const item = el("li", {},
        el("img", { src: url, alt: file.name, width: 72, height: 72, title: file.name }),
        el("button", { type: "button", class: "corner", "aria-label": `Leave out ${file.name}`, click: remove }, "✕"));
      photos.set(item, { file, url });
      card.querySelector(".thumbs").append(item);
    },
    remove() {
      for (const { url } of photos.values()) URL.revokeObjectURL(url);
      lessons.delete(card);
      card.remove();
      show();
      counted();
    },
  };
  input.addEventListener("input", lesson.describe);
  card.querySelector(".remove-class").addEventListener("click", () => {
    lesson.remove();
    byId("add-class").focus();
  });
  photoDrop(card.querySelector(".class-photos"), (given) => {
    if (given.some(({ folder }) => folder !== null)) return add(given);
    for (const { file } of given) lesson.add(file);
    return counted();
  });
  lesson.called(name);
  lessons.set(card, lesson);
  byId("classes").append(card);
  return lesson;
}

function counted() {
  const given = [...lessons.values()].filter((each) => each.photos.size);
  const photos = given.reduce((sum, each) => sum + each.photos.size, 0);
  byId("lesson-count").textContent = photos ? `${count(photos, "photo")} of ${count(given.length, "class", "classes")}` : "";
}

/** What keeps the session from being sent, and where to mend it. */
function problem(given, photos) {
  const nameless = given.find((each) => !each.name.value.trim());
  const bytes = photos.reduce((sum, file) => sum + file.size, 0);
  const { learn: most, body } = model.limits;
  if (!photos.length) return ["There are no photos to learn.", "Drop some on a class.", byId("add-class")];
  if (nameless) return ["A class has no name.", "Name it above its photos.", nameless.name];
  if (!model.current && new Set(given.map((each) => each.name.value.trim())).size < 2)
    return ["A new model needs two classes.", "Add another class with photos.", byId("add-class")];
  if (photos.length > most) return [`${count(photos.length, "photo")} are too many at once.`, `Learn at most ${most} in a session, then the others.`, byId("learn")];
  if (bytes > body) return [`The photos have ${Math.ceil(bytes / 2 ** 20)} MB.`, `Learn at most ${Math.floor(body / 2 ** 20)} MB in a session, then the others.`, byId("learn")];
  return null;
}

function submit(event) {
  event.preventDefault();
  const given = [...lessons.values()].filter((each) => each.photos.size);
  const filesOf = (lesson) => [...lesson.photos.values()].map(({ file }) => file);
  const wrong = problem(given, given.flatMap(filesOf));
  if (wrong) {
    const [text, hint, where] = wrong;
    say(text, { hint, bad: true });
    where.focus();
    return;
  }
  const form = new FormData();
  for (const lesson of given) {
    form.append("class", lesson.name.value.trim());
    for (const file of filesOf(lesson)) form.append("photo", file, file.name);
  }
  busy(byId("learn"), () => learn(form, () => given.forEach((each) => each.remove())));
}

async function learn(body, done) {
  const limit = byId("max-forgetting");
  if (!limit.checkValidity()) {
    say("The acceptance check takes 0 to 100 percentage points.", { bad: true });
    limit.closest("details").open = true;
    limit.focus();
    return;
  }
  byId("session").replaceChildren(el("div", { class: "card" }, el("p", {}, "Sending the photos…"), el("progress", { "aria-label": "Sending the photos" })));
  try {
    const query = limit.value === "" ? "" : `?max_forgetting=${Number(limit.value) / 100}`;
    const { state } = await watch(await post(`/v1/learn${query}`, body));
    // What failed may be mended and sent again.
    if (!["failed", "stopped"].includes(state)) done();
  } catch (error) {
    byId("session").replaceChildren();
    throw error;
  }
}

