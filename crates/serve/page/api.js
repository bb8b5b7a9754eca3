// Requests to the server that this page came from.

import { question } from "./question.js";

export class ApiError extends Error {
  constructor(status, { code, message, hint }) {
    super(message);
    Object.assign(this, { status, code, hint, isFromServer: true });
  }
}

const unreachable = { code: "unreachable", message: "the server does not answer", hint: "Start `rehearsal serve` again, then try once more." };

async function send(path, options) {
  try {
    return await fetch(path, options);
  } catch {
    throw new ApiError(0, unreachable);
  }
}

async function reason(answer) {
  const other = { code: "http", message: `the server answered with ${answer.status}`, hint: "Its log says why." };
  return (await answer.json().catch(() => null))?.error ?? other;
}

/** The answer of the server as JSON; null if it has none. A token is asked for if the server wants one. */
export async function call(path, options = {}) {
  const answer = await send(path, options);
  if (answer.status === 401) {
    await enter();
    return call(path, options);
  }
  if (!answer.ok) throw new ApiError(answer.status, await reason(answer));
  return answer.status === 204 ? null : answer.json();
}

export const post = (path, body) => call(path, { method: "POST", body });

export const postJson = (path, value) =>
  call(path, { method: "POST", body: JSON.stringify(value), headers: { "content-type": "application/json" } });

let entering = null;

/** Asks for the token once, however many requests wait for it. The server's cookie keeps it, no script can read it. */
function enter() {
  entering ??= ask().finally(() => { entering = null; });
  return entering;
}

async function ask() {
  const check = async (token) => {
    const answer = await send("/v1/session", {
      method: "POST", body: JSON.stringify({ token }), headers: { "content-type": "application/json" },
    });
    return answer.ok ? null : "This is not the token of this server.";
  };
  const given = await question({
    title: "This server needs a token",
    text: "Whoever started the server knows it.",
    field: { label: "Token", type: "password" },
    yes: "Enter",
    check,
  });
  if (given === null) throw new ApiError(401, { code: "unauthorized", message: "without the token nothing can be shown", hint: "Load the page again to enter it." });
}

const last = new Set(["learned", "rejected", "nothing-new", "failed", "stopped"]);

export const isOver = (job) => last.has(job.state);

/** Calls `seen` with a session each time it changes, until it is over. */
export function follow(id, seen, lost) {
  const events = new EventSource(`/v1/jobs/${id}/events`);
  events.addEventListener("job", (event) => {
    const job = JSON.parse(event.data);
    if (isOver(job)) events.close();
    seen(job);
  });
  // The browser connects again by itself, unless the server refuses.
  events.addEventListener("error", () => lost(events.readyState === EventSource.CLOSED));
}
