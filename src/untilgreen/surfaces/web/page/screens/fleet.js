// The fleet: workers and what each drives, queues, limits, and takeovers.
import { useEffect, useState } from "preact/hooks";
import { fleet } from "../calls.js";
import { html } from "../html.js";
import { Empty, Failed, useLoaded, Waiting } from "../parts.js";
import { agentName, ago, several, when } from "../words.js";

/** @typedef {import("../types.js").Schemas} Schemas */

const LOOK_SECONDS = 5;

export function Fleet() {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const clock = setInterval(() => document.hidden || setTurn((before) => before + 1), LOOK_SECONDS * 1000);
    return () => clearInterval(clock);
  }, []);
  const { value, error } = useLoaded(fleet, "fleet", turn);
  const facts = value ? [several(value.workers.length, "worker"), `${several(value.driven.length, "run")} driven`, `${several(value.resting, "open run")} without a process`] : [];
  return html`<div class="title"><h1>Fleet</h1><span class="faint facts-line">${facts.map((each) => html`<bdi key=${each}>${each}</bdi>`)}</span></div>
    <${Failed} error=${error} />
    ${value?.temporal ? html`<p class="problem" role="alert">Temporal can't be reached: <bdi>${value.temporal}</bdi> What the database knows is below.</p>` : null}
    ${value || error ? null : html`<${Waiting} lines=${5} />`}
    ${value ? html`
      <section><h2>Workers</h2>${value.workers.length ? html`<div class="tiles">${value.workers.map((each) => html`<${Worker} key=${each.name} worker=${each} driven=${value.driven.filter((run) => run.worker === each.name)} />`)}</div>` : html`<${Empty} title="No worker is running."><p>Runs wait until one is started:</p><pre>untilgreen worker</pre><//>`}</section>
      <div class="halves">
        <section><h2>Queues</h2><div class="card wide" tabindex="0" role="region" aria-label="Queues"><table class="figures-table numbers"><thead><tr><th scope="col">labels</th><th scope="col">waiting</th><th scope="col">workers</th></tr></thead>
          <tbody>${value.queues.map((each) => html`<tr key=${each.name}><th scope="row">${each.labels.length ? each.labels.map((name) => html`<span key=${name} class="tag"><bdi>${name}</bdi></span> `) : html`<span class="faint">none</span>`}</th><td>${each.waiting.toLocaleString()}</td><td class=${each.waiting && !each.workers.length ? "ink-bad" : ""} title=${each.workers.join(", ")}>${each.workers.length || "none"}</td></tr>`)}</tbody></table></div></section>
        <section><h2>Limits</h2>${value.limits.length ? html`<dl class="meters card">${value.limits.map((each) => html`<${Limit} key=${each.agent} limit=${each} />`)}</dl>` : html`<p class="faint">None: only the workers' slots limit how many runs are driven.</p>`}</section>
      </div>
      <section><h2>Takeovers <span class="faint">in the last day</span></h2>${value.takeovers.length ? html`<ul class="rows compact">${value.takeovers.map((each) => html`<li key=${`${each.run} ${each.at}`}><div class="what"><a href="#/run/${each.run}"><b><bdi>${each.run}</bdi></b></a><p class="faint facts-line"><span><bdi>${each.before || "unknown"}</bdi> → <bdi>${each.after || "unknown"}</bdi></span></p></div><time class="faint" title=${when(each.at)}>${ago(each.at)}</time></li>`)}</ul>` : html`<p class="faint">None: no driver fell silent.</p>`}</section>` : null}`;
}

/** @param {{worker: Schemas["WorkerView"], driven: Schemas["DrivenView"][]}} given */
function Worker({ worker, driven }) {
  const room = worker.slots ? `${driven.length} of ${several(worker.slots, "slot")}` : `${driven.length}, takes no more`;
  return html`<section class="card worker" aria-label="Worker ${worker.name}">
    <h3><bdi>${worker.name}</bdi></h3>
    <p class="faint facts-line"><span>${room}</span><span>${worker.seen ? `seen ${ago(worker.seen)}` : "not seen"}</span></p>
    ${worker.labels.length ? html`<p>${worker.labels.map((name) => html`<span key=${name} class="tag"><bdi>${name}</bdi></span> `)}</p>` : null}
    <ul class="plainly">${driven.map((run) => html`<li key=${run.run}><a href="#/run/${run.run}"><b><bdi>${run.title || run.run}</bdi></b></a><p class="faint facts-line"><bdi>${run.run}</bdi><bdi>${agentName(run.agent)}</bdi><bdi>${several(run.laps, "lap")}</bdi>${run.attempt > 1 ? html`<bdi class="ink-bad">attempt ${run.attempt}</bdi>` : null}</p></li>`)}</ul>
    ${driven.length ? null : html`<p class="faint">Idle.</p>`}
  </section>`;
}

/** @param {{limit: Schemas["LimitView"]}} given */
function Limit({ limit }) {
  const used = limit.known ? limit.holders.length : "?";
  const share = limit.known && limit.most ? Math.min(1, limit.holders.length / limit.most) : 0;
  return html`<div class="meter"><dt><bdi>${agentName(limit.agent)}</bdi></dt><dd>${used}<span class="faint"> of ${limit.most}${limit.waiting.length ? `, ${limit.waiting.length} waiting` : ""}</span></dd>
    <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="groove" width="100" height="4" rx="2" /><rect class=${share >= 1 ? "near" : "used"} width=${100 * share} height="4" rx="2" /></svg></div>`;
}
