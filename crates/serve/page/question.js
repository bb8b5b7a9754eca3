// One dialog for questions: are you sure, what is the new name, what is the token.

import { byId } from "./dom.js";

/**
 * Asks, and gives what was entered (`true` without a field), or null if it was cancelled.
 * `check` may say why what was entered does not do; then the dialog stays.
 */
export function question({ title, text, field, yes, danger = false, check = () => null }) {
  const [dialog, input, confirm, problem] = ["question", "question-field", "question-yes", "question-problem"].map(byId);
  byId("question-title").textContent = title;
  byId("question-text").textContent = text;
  byId("question-label").hidden = !field;
  byId("question-label").firstElementChild.textContent = field?.label ?? "";
  input.type = field?.type ?? "text";
  input.value = field?.value ?? "";
  input.required = Boolean(field);
  if (field?.list) input.setAttribute("list", field.list);
  else input.removeAttribute("list");
  confirm.textContent = yes;
  confirm.className = danger ? "danger" : "main";
  problem.hidden = true;
  dialog.showModal();
  (field ? input : byId("question-cancel")).focus();

  return new Promise((resolve) => {
    const finish = (value) => {
      ending.abort();
      input.value = "";
      if (dialog.open) dialog.close();
      resolve(value);
    };
    const ending = new AbortController();
    const listen = (target, event, listener) => target.addEventListener(event, listener, { signal: ending.signal });
    listen(dialog, "cancel", () => finish(null));
    listen(byId("question-cancel"), "click", (event) => { event.preventDefault(); finish(null); });
    listen(dialog.querySelector("form"), "submit", async (event) => {
      event.preventDefault();
      const value = field ? input.value.trim() : true;
      const wrong = await Promise.resolve(check(value)).catch((error) => error.message);
      if (!wrong) return finish(value);
      problem.textContent = wrong;
      problem.hidden = false;
      input.select();
    });
  });
}
