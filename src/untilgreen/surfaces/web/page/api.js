// The API: every request carries the token, which came in the address's fragment and never leaves this tab.
const KEY = "untilgreen-token";
const PREFIX = "/api/v1";

/** Take the token out of the address, so that it is not copied along with it. */
export function takeToken() {
  const given = location.hash.slice(1);
  if (/^[\w-]{40,}$/.test(given)) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, "", "/");
  }
}

/** A problem document as an error; its message is the server's sentence. */
export class Problem extends Error {
  /** @param {{title: string, status: number, detail?: string}} document */
  constructor(document) {
    super(document.detail || document.title);
    this.status = document.status;
  }
}

/** Behind a proxy that logs people in there is no token. */
function headers(more = {}) {
  const token = sessionStorage.getItem(KEY);
  return token === null ? more : { authorization: `Bearer ${token}`, ...more };
}

/** @param {Response} response */
async function checked(response) {
  if (response.ok) return response;
  let document = { title: response.statusText, status: response.status };
  try {
    document = await response.json();
  } catch {
    // not a problem document, so the status has to do
  }
  throw new Problem(document);
}

/**
 * A path with each part encoded: `path("runs", id, "laps", 3)`.
 * @param {...(string | number)} parts
 */
export const path = (...parts) => "/" + parts.map((part) => encodeURIComponent(String(part))).join("/");

/**
 * @param {string} where
 * @param {Record<string, string | number>} query
 * @returns {Promise<any>}
 */
export async function get(where, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== undefined).map(([name, value]) => [name, String(value)]);
  const search = given.length ? "?" + new URLSearchParams(given) : "";
  const response = await checked(await fetch(PREFIX + where + search, { headers: headers() }));
  return response.json();
}

/**
 * @param {string} where
 * @param {object} body
 * @returns {Promise<any>}
 */
export async function post(where, body) {
  const response = await fetch(PREFIX + where, {
    method: "POST",
    headers: headers({ "content-type": "application/json", "idempotency-key": crypto.randomUUID() }),
    body: JSON.stringify(body),
  });
  return (await checked(response)).json();
}

/**
 * Follow a stream of events until `stop` is called; a broken connection continues where it left off.
 * EventSource can't send the token, so the stream is read by hand.
 * @param {string} where
 * @param {number} after
 * @param {(event: string, data: any) => void} onEvent
 * @param {(state: "live" | "lost" | "ended" | "refused") => void} onState
 */
export function follow(where, after, onEvent, onState = () => {}) {
  const controller = new AbortController();
  let last = after;
  let ended = false;
  const read = async () => {
    const more = last ? { "last-event-id": String(last) } : {};
    const response = await checked(
      await fetch(PREFIX + where, { headers: headers(more), signal: controller.signal }),
    );
    onState("live");
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      text += value;
      let end = text.indexOf("\n\n");
      while (end >= 0) {
        const message = parse(text.slice(0, end));
        text = text.slice(end + 2);
        end = text.indexOf("\n\n");
        if (message.id) last = Number(message.id);
        if (message.event === "end") ended = true;
        else if (message.data) onEvent(message.event, JSON.parse(message.data));
      }
    }
  };
  (async () => {
    let wait = 500;
    while (!controller.signal.aborted && !ended) {
      try {
        await read();
        wait = 500;
      } catch (error) {
        if (controller.signal.aborted) return;
        if (error instanceof Problem && error.status < 500 && error.status !== 429) return onState("refused");
      }
      if (ended) return onState("ended");
      onState("lost");
      await new Promise((resolve) => setTimeout(resolve, wait));
      wait = Math.min(wait * 2, 10000);
    }
  })();
  return () => controller.abort();
}

/** @param {string} block */
function parse(block) {
  const message = { event: "message", data: "", id: "" };
  for (const line of block.split("\n")) {
    const at = line.indexOf(": ");
    if (at > 0) message[line.slice(0, at)] = line.slice(at + 2);
  }
  return message;
}
