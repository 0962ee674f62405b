// All runs: what waits for a person first, then what runs, then the rest, by workspace or label.
import { useEffect, useState } from "preact/hooks";
import { listRuns } from "../calls.js";
import { html } from "../html.js";
import { Badge, Bars, Empty, Failed, Strip, Waiting } from "../parts.js";
import { agentName, ago, duration, folderName, money, several } from "../words.js";

/** @typedef {import("../types.js").Schemas["RunSummary"]} RunSummary */

const PAGE = 100;
const STATUSES = { "": "All", waiting: "Waiting", running: "Running", converged: "Green", stuck: "Stuck", exhausted: "Exhausted", cancelled: "Cancelled" };
const FIRST = { 0: "Waiting for you", 1: "Running" };

/** @param {RunSummary} run */
const rank = (run) => (run.waiting ? 0 : run.running ? 1 : 2);

/**
 * Runs, page by page; a run that changes is updated in place, without loading all of them again.
 * @param {Record<string, string>} query
 * @param {RunSummary | null} latest
 */
function useRuns(query, latest) {
  const [found, setFound] = useState(/** @type {{runs: RunSummary[], next: string | null, total: number, error: Error | null, come: boolean}} */ ({ runs: [], next: null, total: 0, error: null, come: false }));
  const key = JSON.stringify(query);
  const load = (before) =>
    listRuns({ ...query, limit: PAGE, before }).then(
      (page) => setFound((old) => ({ runs: before ? [...old.runs, ...page.runs] : page.runs, next: page.next, total: page.total, error: page.missing ? new Error(page.missing) : null, come: true })),
      (error) => setFound((old) => ({ ...old, error, come: true })),
    );
  useEffect(() => {
    load("");
  }, [key]);
  useEffect(() => {
    if (!latest) return;
    if (found.runs.some((run) => run.run === latest.run)) {
      setFound((old) => ({ ...old, runs: old.runs.map((run) => (run.run === latest.run ? latest : run)) }));
    } else if (found.runs.length <= PAGE) load("");
  }, [latest]);
  return { ...found, more: () => load(found.next) };
}

/** @param {{latest: RunSummary | null, go: (address: string) => void, admin: boolean}} given */
export function Runs({ latest, go, admin }) {
  const [search, setSearch] = useState("");
  const [status, setStatus] = useState("");
  const [by, setBy] = useState("workspace");
  const [picked, setPicked] = useState(/** @type {string[]} */ ([]));
  const { runs, next, total, error, come, more } = useRuns({ search, status }, latest);
  const labels = [...new Set(runs.flatMap((run) => Object.keys(run.labels)))].sort();
  const groups = new Map();
  for (const run of [...runs].sort((one, other) => rank(one) - rank(other))) {
    const title = FIRST[rank(run)] ?? (by === "workspace" ? run.workspace || "elsewhere" : `${by}: ${run.labels[by] ?? "none"}`);
    groups.set(title, [...(groups.get(title) ?? []), run]);
  }
  const pick = (name) => setPicked(picked.includes(name) ? picked.filter((each) => each !== name) : [...picked, name]);
  const filtered = search || status;
  return html`
    <div class="title"><h1>Runs</h1>${total ? html`<span class="faint">${several(total, "run")}</span>` : null}</div>
    <form class="bar" role="search" onSubmit=${(event) => event.preventDefault()}>
      <label class="search"><span class="unseen">Search</span><input type="search" placeholder="Search by task, agent or id" value=${search} onInput=${(event) => setSearch(event.target.value)} /></label>
      <div class="segments" role="group" aria-label="Status">
        ${Object.entries(STATUSES).map(([value, words]) => html`<button key=${value} type="button" aria-pressed=${status === value} onClick=${() => setStatus(value)}>${words}</button>`)}
      </div>
      ${labels.length ? html`<label class="group">Group by <select value=${by} onChange=${(event) => setBy(event.target.value)}><option value="workspace">directory</option>${labels.map((each) => html`<option key=${each} value=${each}>${each}</option>`)}</select></label>` : null}
    </form>
    <${Failed} error=${error} />
    ${come ? null : html`<${Waiting} lines=${5} />`}
    ${come && !runs.length && !error ? (filtered ? html`<${Empty} title="No matching runs."><button onClick=${() => { setSearch(""); setStatus(""); }}>Show all runs</button><//>` : html`<${Empty} title="No runs yet."><p>Start one in a terminal, and it shows up here:</p><pre>untilgreen run "Make all tests pass" --agent claude --gate "pytest -q"</pre>${admin ? html`<p>Or <a href="#/start">start one from this page</a>.</p>` : null}<//>`) : null}
    ${[...groups].map(([title, members]) => html`<section key=${title}>
      <h2 class="over" title=${title}>${by === "workspace" && title.startsWith("/") ? html`<bdi>${folderName(title)}</bdi> <span class="path"><bdi>${title}</bdi></span>` : title}</h2>
      <ul class="rows">${members.map((run) => html`<${Row} key=${run.run} run=${run} picked=${picked.includes(run.run)} onPick=${() => pick(run.run)} />`)}</ul>
    </section>`)}
    ${next ? html`<p class="center"><button onClick=${more}>Show more</button></p>` : null}
    ${picked.length ? html`<div class="tray" role="region" aria-label="Compare"><span>${several(picked.length, "run")} selected</span><button class="main" disabled=${picked.length < 2} onClick=${() => go(`#/compare/${picked.join(",")}`)}>Compare ${picked.length}</button><button onClick=${() => setPicked([])}>Clear</button></div>` : null}`;
}

/** @param {{run: RunSummary, picked: boolean, onPick: () => void}} given */
function Row({ run, picked, onPick }) {
  const facts = [
    `${several(run.laps, "lap")}${run.most_laps ? ` of ${run.most_laps}` : ""}`,
    duration(run.elapsed),
    run.cost ? money(run.cost) : "",
    agentName(run.agent),
    run.strategy,
  ].filter(Boolean);
  return html`<li class=${run.waiting ? "asks" : ""}>
    <label class="pick"><input type="checkbox" checked=${picked} onChange=${onPick} /><span class="unseen">Select ${run.run} to compare</span></label>
    <div class="what"><a href="#/run/${run.run}"><bdi>${run.title || run.run}</bdi></a>
      <p class="faint facts-line">${facts.map((fact, place) => html`<bdi key=${place}>${fact}</bdi>`)}</p></div>
    <${Strip} gates=${run.gates} />
    <${Bars} scores=${run.scores} />
    <div class="state"><${Badge} status=${run.status} running=${run.running} fleet=${run.fleet} /><time class="faint" dateTime=${new Date(run.updated * 1000).toISOString()}>${ago(run.updated)}</time></div>
    ${run.waiting ? html`<p class="asked"><bdi>${run.waiting.split("\n")[0]}</bdi> <a href="#/inbox">Answer</a></p>` : null}
    ${run.problem ? html`<p class="problem">${run.problem}</p>` : null}
  </li>`;
}
