// Photos from a camera: in a dialog where the browser lets the page see it, else by the camera's own program.

import { byId, count } from "./dom.js";

/** Gives each photo that is taken to `taken`, as a JPEG file, until the dialog is closed. */
export async function takePhotos(taken) {
  if (!navigator.mediaDevices) return askDevice(taken);
  let stream;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
  } catch (error) {
    throw Object.assign(new Error("there is no camera that this page may use"), {
      isFromServer: true, hint: `Allow it in the browser, or choose photos instead (${error.name}).`,
    });
  }
  const dialog = byId("camera");
  const video = dialog.querySelector("video");
  const ending = new AbortController();
  let number = 0;
  byId("camera-count").textContent = "";
  video.srcObject = stream;
  byId("camera-take").addEventListener("click", async () => {
    taken(await picture(video));
    number += 1;
    byId("camera-count").textContent = `${count(number, "photo")} taken`;
  }, { signal: ending.signal });
  byId("camera-done").addEventListener("click", () => dialog.close(), { signal: ending.signal });
  dialog.addEventListener("close", () => {
    ending.abort();
    for (const track of stream.getTracks()) track.stop();
    video.srcObject = null;
  }, { once: true });
  dialog.showModal();
  byId("camera-take").focus();
}

function picture(video) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
  canvas.getContext("2d").drawImage(video, 0, 0);
  const name = `camera-${new Date().toISOString().slice(0, 23).replaceAll(/[:.]/g, "-")}.jpg`;
  return new Promise((resolve) => {
    canvas.toBlob((blob) => resolve(new File([blob], name, { type: "image/jpeg" })), "image/jpeg", 0.92);
  });
}

/** A telephone opens its camera for such an input. */
function askDevice(taken) {
  const input = document.createElement("input");
  Object.assign(input, { type: "file", accept: "image/*" });
  input.setAttribute("capture", "environment");
  input.addEventListener("change", () => [...input.files].forEach(taken));
  input.click();
}
