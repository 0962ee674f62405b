// Two or more runs side by side: figures in a table, scores, findings and cost as overlaid curves.
import { useEffect, useState } from "preact/hooks";
import { compare, listRuns } from "../calls.js";
import { html } from "../html.js";
import { Badge, Curve, Empty, Failed, Strip, useLoaded, Waiting } from "../parts.js";
import { agentName, ago, duration, money } from "../words.js";

/** @param {{runs: string, go: (address: string) => void, changed: number}} given */
export function Compare({ runs, go, changed }) {
  const names = runs.split(",").filter(Boolean);
  const { value, error } = useLoaded(() => (runs ? compare(runs) : Promise.resolve({ runs: [] })), runs, changed);
  const known = useLoaded(() => listRuns({ limit: 100 }), "known", changed).value?.runs ?? [];
  const [adding, setAdding] = useState("");
  useEffect(() => setAdding(""), [runs]);
  const show = (list) => go(`#/compare/${list.join(",")}`);
  const found = value?.runs ?? [];
  const longest = found.reduce((best, each) => (each.course.laps.length > best.length ? each.course.laps : best), /** @type {number[]} */ ([]));
  const curve = (name) => found.map((each) => ({ label: each.summary.run, values: longest.map((lap) => each.course[name][each.course.laps.indexOf(lap)] ?? null) }));
  const costs = found.map((each) => ({ label: each.summary.run, values: summed(each.course.cost, longest) }));
  const row = (title, make) => html`<tr><th scope="row">${title}</th>${found.map((each) => html`<td key=${each.summary.run}>${make(each.summary, each)}</td>`)}</tr>`;
  return html`<div class="title"><h1>Compare</h1></div>
    <form class="bar" onSubmit=${(event) => { event.preventDefault(); if (adding) show([...names, adding]); }}>
      <label class="field grow">Add a run <select value=${adding} onChange=${(event) => { setAdding(event.target.value); if (event.target.value) show([...names, event.target.value]); }}>
        <option value="">Choose…</option>
        ${known.filter((run) => !names.includes(run.run)).map((run) => html`<option key=${run.run} value=${run.run}>${run.run} · ${run.status} · ${run.title.slice(0, 60)} · ${ago(run.updated)}</option>`)}
      </select></label>
    </form><${Failed} error=${error} />
    ${value || error ? null : html`<${Waiting} />`}
    ${value && !found.length ? html`<${Empty} title="Nothing to compare yet."><p>Choose two or more runs here, or tick them in the <a href="#/runs">list of runs</a>.</p><//>` : null}
    ${found.length ? html`<div class="card wide" tabindex="0" role="region" aria-label="Figures"><table class="figures-table" style=${{ "--across": found.length }}>
      <thead><tr><td></td>${found.map(({ summary }) => html`<th key=${summary.run} scope="col"><a href="#/run/${summary.run}">${summary.run}</a> <button class="bare" aria-label="Remove ${summary.run}" title="Remove" onClick=${() => show(names.filter((each) => each !== summary.run))}>×</button></th>`)}</tr></thead>
      <tbody>${row("task", (run) => html`<bdi>${run.title}</bdi>`)}${row("outcome", (run) => html`<${Badge} status=${run.status} running=${run.running} fleet=${run.fleet} />`)}${row("why", (_, each) => html`<bdi>${each.reason}</bdi>`)}
      ${row("gates", (run) => html`<${Strip} gates=${run.gates} />`)}${row("agent", (run) => html`<bdi>${agentName(run.agent)}</bdi>`)}${row("strategy", (run) => run.strategy)}${row("laps", (run) => run.laps)}
      ${row("score", (run) => run.score.toFixed(2))}${row("cost", (run) => (run.cost ? money(run.cost) : "unknown"))}${row("time", (run) => duration(run.elapsed))}</tbody>
    </table></div>
    <div class="plots"><${Curve} title="Score by lap" top=${1} laps=${longest} series=${curve("score")} format=${(score) => score.toFixed(2)} /><${Curve} title="Findings by lap" counts laps=${longest} series=${curve("findings")} />
    ${costs.some((each) => each.values.some((cost) => cost)) ? html`<${Curve} title="Cost so far, by lap" laps=${longest} series=${costs} format=${(cost) => money(cost)} />` : null}</div>` : null}`;
}

/** @param {(number | null)[]} costs @param {number[]} laps */
function summed(costs, laps) {
  let total = 0;
  return laps.map((_, place) => (place < costs.length ? (total += costs[place] ?? 0) : null));
}
