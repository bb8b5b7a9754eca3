// Photos from the user: chosen, dropped (folders, too), pasted or taken.

import { takePhotos } from "./camera.js";
import { clone, count, say, sayError } from "./dom.js";

const EXTENSIONS = /\.(png|jpe?g|webp|tiff?|bmp|gif)$/i;

const isPhoto = (file) => file.type.startsWith("image/") || EXTENSIONS.test(file.name);

/** A place to drop, choose and take photos; `take` gets [{file, folder}]. */
export function photoDrop(host, take) {
  const drop = clone("photo-drop");
  const [input] = drop.getElementsByTagName("input");
  input.addEventListener("change", () => {
    take(photosOf([...input.files].map((file) => ({ file, folder: null }))));
    input.value = "";
  });
  const photo = drop.querySelector(".take");
  photo.addEventListener("click", () => takePhotos((file) => take([{ file, folder: null }])).catch(sayError));
  acceptDrops(drop, take);
  host.replaceChildren(drop);
}

/** What is dropped on `target` goes to `take`. */
export function acceptDrops(target, take) {
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  const mark = (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    event.stopPropagation();
    target.classList.toggle("over", event.type === "dragover");
  };
  target.addEventListener("dragover", mark);
  target.addEventListener("dragleave", mark);
  target.addEventListener("drop", async (event) => {
    mark(event);
    if (hasFiles(event)) take(photosOf(await dropped(event.dataTransfer)));
  });
}

/** Those that are photos; says how many are not. */
export function photosOf(files) {
  const photos = files.filter(({ file }) => isPhoto(file));
  const others = files.length - photos.length;
  if (others) say(`${count(others, "file")} left out: not PNG, JPEG, WebP, TIFF, BMP or GIF.`, { bad: !photos.length });
  return photos;
}

const inOrder = new Intl.Collator("en", { numeric: true }).compare;

/** Of a chosen folder: each file with the folder that it is in. */
export function inFolders(files) {
  const sorted = [...files].sort((a, b) => inOrder(a.webkitRelativePath, b.webkitRelativePath));
  return sorted.map((file) => ({ file, folder: file.webkitRelativePath.split("/").at(-2) ?? null }));
}

async function dropped(transfer) {
  // Entries must be asked for before the event is over.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files].map((file) => ({ file, folder: null }));
  return (await Promise.all(entries.map((entry) => walk(entry, null)))).flat();
}

async function walk(entry, folder) {
  if (entry.isFile) {
    return [{ file: await new Promise((resolve, reject) => entry.file(resolve, reject)), folder }];
  }
  const reader = entry.createReader();
  const found = [];
  // A reader gives a hundred entries at a time.
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) break;
    found.push(...some);
  }
  found.sort((a, b) => inOrder(a.name, b.name));
  return (await Promise.all(found.map((each) => walk(each, entry.name)))).flat();
}

/** Photos as pieces that one request may have. */
export function batches(files, { photos, bytes }) {
  const pieces = [];
  let size = Infinity;
  for (const file of files) {
    if (size + file.size > bytes || pieces.at(-1).length >= photos) {
      pieces.push([]);
      size = 0;
    }
    pieces.at(-1).push(file);
    size += file.size;
  }
  return pieces;
}
