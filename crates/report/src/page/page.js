"use strict";

// Light and dark: what the system says, until the button says otherwise.
const root = document.documentElement;
const systemIsDark = window.matchMedia("(prefers-color-scheme: dark)");
const theme = () => root.dataset.theme || (systemIsDark.matches ? "dark" : "light");
document.getElementById("theme").addEventListener("click", () => {
  root.dataset.theme = theme() === "dark" ? "light" : "dark";
});

// Pointing at a mark says what it stands for.
const tip = document.getElementById("tip");
document.addEventListener("pointermove", (event) => {
  const mark = event.target instanceof Element ? event.target.closest("[data-tip]") : null;
  tip.style.visibility = mark ? "visible" : "hidden";
  if (!mark) return;
  tip.textContent = mark.dataset.tip;
  const box = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, window.innerWidth - box.width - 6);
  const above = event.clientY - box.height - 12;
  tip.style.left = `${Math.max(6, left)}px`;
  tip.style.top = `${above > 6 ? above : event.clientY + 18}px`;
});
document.addEventListener("pointerleave", () => { tip.style.visibility = "hidden"; });

// A legend entry shows and hides its series, in all panels of its figure.
function toggle(entry) {
  const off = entry.classList.toggle("off");
  entry.setAttribute("aria-pressed", String(!off));
  const series = entry.ownerSVGElement.querySelectorAll(`.series[data-series="${entry.dataset.series}"]`);
  for (const part of series) part.classList.toggle("off", off);
}
for (const entry of document.querySelectorAll(".legend")) {
  entry.setAttribute("role", "button");
  entry.setAttribute("tabindex", "0");
  entry.setAttribute("aria-pressed", "true");
  entry.addEventListener("click", () => toggle(entry));
  entry.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    toggle(entry);
  });
}
