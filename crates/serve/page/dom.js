// Elements, numbers and messages. Text from the server becomes text nodes, never markup.

export const byId = (id) => document.getElementById(id);

/** An element with attributes (a function listens, `true` is an empty attribute) and children, of which strings are text. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child != null));
  return node;
}

export const clone = (template) => byId(template).content.firstElementChild.cloneNode(true);

/** With a space that does not break. */
export const percent = (share, digits = 1) => (share == null ? "–" : `${(100 * share).toFixed(digits)}\u00a0%`);

export const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

export const fileName = (source) => source.split(/[/\\]/).pop();

/** A bar for what is beside it as a number. */
export function bar(share, kind = "") {
  const inner = el("span");
  inner.style.setProperty("width", `${100 * (share ?? 0)}%`);
  return el("span", { class: `share ${kind}`, "aria-hidden": "true" }, inner);
}

/** "18 of 19 photos, 95 % interval 75 to 99 %", or why there is no such number. */
export function ofPhotos({ right, total, low, high }) {
  if (!total) return "no holdout photos";
  const interval = low == null ? "" : `, 95\u00a0% interval ${(100 * low).toFixed(0)} to ${percent(high, 0)}`;
  return `${right} of ${count(total, "holdout photo")}${interval}`;
}

/** Says something to screen readers. */
export function speak(text) {
  byId("spoken").textContent = text;
}

/** Shows one message, until it is closed or there is another; `action` is {label, run}. */
export function say(text, { hint, action, bad = false } = {}) {
  const close = () => byId("message").replaceChildren();
  const words = el("p", {}, el("strong", {}, text), hint ? el("span", {}, hint) : null);
  const act = action && el("button", { type: "button", click: () => { close(); action.run(); } }, action.label);
  const shut = el("button", { type: "button", class: "quiet", "aria-label": "Close the message", click: close }, "✕");
  byId("message").replaceChildren(el("div", { class: bad ? "toast bad" : "toast", role: bad ? "alert" : null }, words, act, shut));
}

export function sayError(error) {
  if (!error.isFromServer) console.error(error);
  say(sentence(error.message), { hint: error.hint && sentence(error.hint), bad: true });
}

export const quiet = () => byId("message").replaceChildren();

/** With a capital letter, as it stands alone; names of files stay as they are. */
const sentence = (text) => (/^[a-z]+ /.test(text) ? text[0].toUpperCase() + text.slice(1) : text);

/** Runs `work` with a button that cannot be pressed meanwhile, and shows what went wrong. */
export async function busy(button, work) {
  button.disabled = true;
  try {
    return await work();
  } catch (error) {
    sayError(error);
    return undefined;
  } finally {
    button.disabled = false;
  }
}
