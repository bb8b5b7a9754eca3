// The tab Ask: photos in, classes out.

import { post } from "./api.js";
import { bar, byId, count, el, fileName, percent, sayError, speak } from "./dom.js";
import { model, onModel, refresh, whyFixed } from "./model.js";
import { acceptDrops, batches, photoDrop } from "./photos.js";

const CLASSES_SHOWN = 5;

/** `teach(file)` opens the tab Teach with a photo. */
export function start(teach) {
  const take = (photos) => ask(photos.map(({ file }) => file), teach);
  photoDrop(byId("ask-photos"), take);
  acceptDrops(byId("ask"), take);
  byId("ask-clear").addEventListener("click", clear);
  onModel(({ current }) => {
    byId("ask-empty").hidden = Boolean(current);
    byId("ask-photos").hidden = !current;
    byId("ask-note").hidden = !current?.all_unsure;
    byId("ask-note").textContent = `Every answer is unsure: ${current?.all_unsure}. Teach more photos: one in ten is held out to measure how sure it may be.`;
  });
}

export async function ask(files, teach) {
  if (!model?.current || !files.length) return;
  const cards = new Map(files.map((file) => [file, waiting(file)]));
  byId("answers").prepend(...cards.values());
  counted();
  for (const piece of batches(files, { photos: model.limits.predict, bytes: model.limits.body * 0.99 })) {
    await predict(piece, (file, kind, children) => fill(cards.get(file), kind, children), teach);
  }
}

async function predict(files, show, teach) {
  const form = new FormData();
  for (const file of files) form.append("photo", file, file.name);
  try {
    const { version, predictions } = await post("/v1/predict?explain=true", form);
    predictions.forEach((prediction, index) => show(files[index], prediction.answer, answered(files[index], prediction, teach)));
    const words = predictions.map((each) => `${each.name}: ${each.answer}, ${each.class} ${percent(each.probability, 0)}`);
    speak(words.length > 3 ? `${words.length} photos answered` : words.join(". "));
    if (version !== model.current.version) refresh().catch(sayError);
  } catch (error) {
    // A request is refused as a whole: find the photo that cannot be read.
    if (files.length > 1 && [413, 422].includes(error.status)) {
      for (const file of files) await predict([file], show, teach);
      return;
    }
    for (const file of files) show(file, "failed", failed(error));
  }
}

function waiting(file) {
  const url = URL.createObjectURL(file);
  const image = el("img", { src: url, alt: `Photo ${file.name}`, error: () => image.replaceWith(el("span", { class: "no-image" }, "no preview")) });
  const words = el("div", { class: "grow" }, el("p", { class: "muted" }, "Looking…"));
  return el("li", { class: "card answer", "data-url": url }, el("figure", {}, image, el("figcaption", {}, file.name)), words);
}

function fill(card, kind, children) {
  card.classList.add(kind);
  card.lastElementChild.replaceChildren(...children.filter(Boolean));
}

const failed = ({ message, hint }) => [el("h3", {}, "No answer"), el("p", { class: "bad" }, message), hint && el("p", { class: "muted" }, hint)];

function answered(file, prediction, teach) {
  const all = [{ class: prediction.class, probability: prediction.probability }, ...prediction.others];
  const rows = all.map((each) => el("li", {}, el("span", { class: "class" }, each.class), bar(each.probability), el("span", { class: "number" }, percent(each.probability, 0))));
  const rest = rows.splice(CLASSES_SHOWN);
  const more = rest.length ? el("details", {}, el("summary", {}, count(rest.length, "more class", "more classes")), el("ul", { class: "plain bars" }, rest)) : null;
  return [
    heading(prediction),
    el("div", {}, el("ul", { class: "plain bars" }, rows), more),
    similar(prediction.similar),
    whyFixed() ? null : el("button", { type: "button", click: () => teach(file) }, prediction.answer === "unknown" ? "Teach this as a class" : "Wrong? Teach the right class"),
  ];
}

function heading({ answer, class: name, probability }) {
  const [title, badge, words] = {
    sure: [name, `✓ sure, ${percent(probability, 0)}`, null],
    unsure: [`Perhaps ${name}`, `? unsure, ${percent(probability, 0)}`, null],
    unknown: ["Unknown", `nearest: ${name}`, "It looks like nothing that was learned."],
  }[answer];
  return el("div", {}, el("h3", { class: "row" }, el("span", {}, title), el("span", { class: "badge" }, badge)), words ? el("p", {}, words) : null);
}

function similar(photos) {
  if (!photos.length) return null;
  const each = (photo) => el("li", {},
    el("img", { src: photo.thumbnail, alt: "", width: 72, height: 72, loading: "lazy" }),
    el("span", {}, photo.class), el("span", { class: "muted", title: photo.source }, `${percent(photo.similarity, 0)} alike`, el("span", { class: "hidden-text" }, `, ${fileName(photo.source)}`)));
  return el("div", {}, el("h4", {}, "Most similar photos in memory"), el("ul", { class: "plain similar" }, photos.map(each)));
}

function counted() {
  const number = byId("answers").children.length;
  byId("ask-bar").hidden = !number;
  byId("ask-count").textContent = count(number, "photo");
}

function clear() {
  for (const each of byId("answers").children) URL.revokeObjectURL(each.dataset.url);
  byId("answers").replaceChildren();
  counted();
  byId("ask").focus();
}
