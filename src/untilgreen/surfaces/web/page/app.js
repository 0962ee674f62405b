// The page: a header, the screen that the address names, and keys to get around.
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { signal } from "@preact/signals";
import { follow, takeToken } from "./api.js";
import { inbox, version } from "./calls.js";
import { html } from "./html.js";
import { Backtest } from "./screens/backtest.js";
import { Compare } from "./screens/compare.js";
import { Fleet } from "./screens/fleet.js";
import { Inbox } from "./screens/inbox.js";
import { Lap } from "./screens/lap.js";
import { Run } from "./screens/run.js";
import { Runs } from "./screens/runs.js";
import { Start } from "./screens/start.js";

/** @typedef {import("./types.js").Schemas} Schemas */

/** Every screen: its first word in the address, its name, its key after `g`, and what it shows. */
const SCREENS = [
  { word: "runs", name: "Runs", key: "r", show: (_, shared) => html`<${Runs} ...${shared} />` },
  { word: "inbox", name: "Inbox", key: "i", show: (_, shared) => html`<${Inbox} ...${shared} />` },
  { word: "compare", name: "Compare", key: "c", show: (rest, shared) => html`<${Compare} runs=${rest[0] ?? ""} ...${shared} />` },
  { word: "backtest", name: "Backtest", key: "b", show: (_, shared) => html`<${Backtest} ...${shared} />` },
  { word: "fleet", name: "Fleet", key: "f", show: () => html`<${Fleet} />`, fleet: true },
  { word: "start", name: "Start", key: "s", show: (_, shared) => html`<${Start} ...${shared} />`, starts: true },
];

takeToken();
const place = signal(location.hash);
const waiting = signal(0);
/** Counts what changed anywhere, so that lists load again. */
const changed = signal(0);
/** The run that changed last, as lists show it. */
const latest = signal(/** @type {Schemas["RunSummary"] | null} */ (null));
const connection = signal("live");
const server = signal(/** @type {Schemas["ServerVersion"] | null} */ (null));
const refused = signal("");

/** @param {string} address */
const go = (address) => {
  location.hash = address;
};
addEventListener("hashchange", () => {
  place.value = location.hash;
  scrollTo(0, 0);
});

const words = (address) => address.replace(/^#\/?/, "").split("/").map(decodeURIComponent);

function screen(address) {
  const [name, ...rest] = words(address);
  const role = server.value?.person.role ?? "viewer";
  const readOnly = server.value?.read_only || role === "viewer";
  const shared = { go, changed: changed.value, latest: latest.value, readOnly, admin: !readOnly && role === "admin", server: server.value };
  if (name === "run" && rest[1] === "lap") {
    return html`<${Lap} key=${address} run=${rest[0]} number=${Number(rest[2])} gate=${rest[3]} ...${shared} />`;
  }
  if (name === "run") return html`<${Run} key=${rest[0]} run=${rest[0]} ...${shared} />`;
  const found = SCREENS.find((each) => each.word === (name || "runs"));
  return found ? found.show(rest, shared) : html`<h1>Nothing here</h1><p class="problem">This page does not exist. Go back to <a href="#/runs">all runs</a>.</p>`;
}

const countQuestions = () =>
  inbox().then(
    (found) => {
      waiting.value = found.questions.length;
      document.title = found.questions.length ? `(${found.questions.length}) untilgreen` : "untilgreen";
    },
    () => {},
  );

function Page() {
  useEffect(() => {
    let due = null;
    const stop = follow(
      "/events",
      0,
      (_, run) => {
        latest.value = run;
        // Many runs may change in the same moment; they are counted once.
        due ??= setTimeout(() => {
          due = null;
          changed.value += 1;
          countQuestions();
        }, 250);
      },
      (state) => (connection.value = state),
    );
    countQuestions();
    return stop;
  }, []);
  const here = words(place.value)[0] || "runs";
  const hides = server.value?.read_only || server.value?.person.role !== "admin";
  const link = ({ word, name }) =>
    html`<a key=${word} href="#/${word}" aria-current=${here === word || (word === "runs" && here === "run") ? "page" : undefined}>${name}${word === "inbox" && waiting.value ? html` <span class="count">${waiting.value}<span class="unseen"> waiting</span></span>` : null}</a>`;
  const states = { live: "live", refused: "token refused" };
  return html`
    <header>
      <a class="skip" href="#/runs" onClick=${(event) => { event.preventDefault(); document.querySelector("main").focus(); }}>Skip to content</a>
      <a class="brand" href="#/runs"><img src="/assets/icon.svg" alt="" width="22" height="22" /><b>untilgreen</b></a>
      <nav aria-label="Screens">${SCREENS.filter((each) => !(each.starts && hides) && !(each.fleet && !server.value?.fleet)).map(link)}</nav>
      <span class="link ${connection.value}" role="status">${states[connection.value] ?? "reconnecting…"}${server.value?.read_only ? " · read-only" : ""}${server.value && server.value.person.role !== "admin" ? ` · ${server.value.person.name}, ${server.value.person.role}` : ""}</span>
    </header>
    <main tabindex="-1">${screen(place.value)}</main>`;
}

const App = () => {
  if (refused.value) {
    return html`<main class="alone"><h1>untilgreen</h1><p class="problem" role="alert">${refused.value}</p></main>`;
  }
  return server.value ? html`<${Page} />` : html`<p class="faint pad">Loading…</p>`;
};

let chord = false;
addEventListener("keydown", (event) => {
  if (!(event.target instanceof Element) || event.target.closest("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (chord) {
    const target = SCREENS.find((each) => each.key === event.key);
    if (target) go(`#/${target.word}`);
  } else if (event.key === "/") {
    const search = document.querySelector("input[type=search]");
    if (search instanceof HTMLElement) {
      event.preventDefault();
      search.focus();
    }
  }
  chord = event.key === "g";
});

version().then(
  (found) => (server.value = found),
  (error) => (refused.value = error.status === 401 ? "This tab has no token. Open the address that `untilgreen serve` printed." : error.message),
);
const root = document.getElementById("app");
root.replaceChildren();
render(html`<${App} />`, root);
