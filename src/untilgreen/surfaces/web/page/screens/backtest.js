// Your own runs with other strategies: what each would have saved, what it would have lost, and where.
import { useState } from "preact/hooks";
import { backtest, plugins } from "../calls.js";
import { html } from "../html.js";
import { Empty, Failed, useLoaded, Waiting } from "../parts.js";
import { duration, money, percent, several } from "../words.js";

const MARKS = "ABCDEFGH";

export function Backtest() {
  const [typed, setTyped] = useState("");
  const [asked, setAsked] = useState("");
  const { value, error } = useLoaded(() => backtest(asked), asked);
  const names = useLoaded(plugins, "plugins").value?.plugins.filter((each) => each.kind === "strategy" && each.origin === "built-in") ?? [];
  const rows = value?.strategies ?? [];
  const spent = rows.some((each) => each.row.cost);
  return html`<div class="title"><h1>Backtest</h1>${value ? html`<span class="faint">${several(value.runs, "run")} replayed${value.left_out ? `, ${value.left_out.toLocaleString()} left out: not over, or without a lap` : ""}</span>` : null}</div>
    <p class="lead">Your own runs, replayed with other strategies. No agent is started; recorded laps are only judged differently.</p>
    <form class="bar" onSubmit=${(event) => { event.preventDefault(); setAsked(typed.trim()); }}>
      <label class="field grow">Strategies, separated by semicolons <input list="strategies" value=${typed} placeholder='the usual ones, or: fixed; { use = "hybrid", base = 4 }' onInput=${(event) => setTyped(event.target.value)} /></label>
      <datalist id="strategies">${names.map((each) => html`<option key=${each.name} value=${each.name}>${each.summary}</option>`)}</datalist>
      <button class="main">Replay</button>
    </form>
    <${Failed} error=${error} />
    ${value || error ? null : html`<${Waiting} lines=${4} />`}
    ${value && !value.runs ? html`<${Empty} title="Nothing to replay yet."><p>Runs that are over and have at least one lap are replayed here.</p><//>` : null}
    ${rows.length ? html`<div class="halves">
      <figure class="card"><figcaption>Saved and lost</figcaption><${Picture} rows=${rows} /></figure>
      <ul class="sentences card">${rows.map((each, place) => html`<li key=${place}><b class="letter">${MARKS[place]}</b> <bdi>${each.sentence}</bdi></li>`)}</ul>
    </div>
    <div class="card wide" tabindex="0" role="region" aria-label="Strategies"><table class="figures-table numbers">
      <thead><tr><th scope="col">strategy</th><th scope="col">ends earlier</th><th scope="col">saved laps</th>${spent ? html`<th scope="col">saved money</th>` : null}<th scope="col">saved time</th><th scope="col">lost</th><th scope="col">unknown</th></tr></thead>
      <tbody>${rows.map(({ row }, place) => html`<tr key=${place}><th scope="row"><b class="letter">${MARKS[place]}</b> <bdi>${row.strategy}</bdi></th><td>${row.earlier}</td><td>${row.saved_laps} of ${row.laps}</td>${spent ? html`<td>${money(row.saved_cost)}</td>` : null}<td>${duration(row.saved_seconds)}</td><td class=${row.lost ? "ink-bad" : ""}>${row.lost} of ${row.successes}</td><td>${row.unknown}</td></tr>`)}</tbody>
    </table></div>
    ${value.different.length ? html`<section><h2>Runs that would have ended differently</h2><ul class="rows compact">${value.different.map((each, place) => html`<li key=${place} class=${each.replayed.lost ? "lost" : ""}><div class="what"><a href="#/run/${each.replayed.run}"><bdi>${each.title}</bdi></a><p class="faint facts-line"><bdi>${each.strategy}</bdi><bdi>${each.replayed.why}</bdi></p></div><span class=${each.replayed.lost ? "ink-bad" : "ink-good"}>${each.replayed.kind === "earlier" || each.replayed.laps ? `ends after lap ${each.replayed.lap}` : "can't be known"}${each.replayed.lost ? ", and is lost" : each.replayed.laps ? `, saves ${several(each.replayed.laps, "lap")}` : ""}</span></li>`)}</ul></section>` : html`<p class="faint">Every run would have ended the same way.</p>`}
    ${value.trouble.length ? html`<details><summary>${several(value.trouble.length, "run")} could not be read</summary><ul>${value.trouble.map((each) => html`<li key=${each}>${each}</li>`)}</ul></details>` : null}` : null}`;
}

/**
 * Saved to the right, lost upwards: the best corner is at the bottom right.
 * @param {{rows: import("../types.js").Schemas["BacktestRow"][]}} given
 */
function Picture({ rows }) {
  const x = (share) => 58 + 284 * Math.max(0, Math.min(1, share));
  const y = (share) => 170 - 150 * Math.max(0, Math.min(1, share));
  /** @type {{x: number, y: number}[]} */
  const places = [];
  for (const each of rows) {
    const place = { x: x(each.saved), y: y(each.lost) };
    // Marks in the same place are stacked, so that each can be read.
    while (places.some((other) => Math.hypot(other.x - place.x, other.y - place.y) < 18)) place.y -= 19;
    places.push(place);
  }
  return html`<svg class="scatter" viewBox="0 0 370 210" role="img" aria-label=${rows.map((each, place) => `${MARKS[place]}: saves ${percent(each.saved)}, loses ${percent(each.lost)} of the successes`).join("; ")}>
    <rect x="44" y="20" width="300" height="150" class="field-bg" />
    ${[0, 0.5, 1].map((share) => html`<line key=${share} x1="44" x2="344" y1=${y(share)} y2=${y(share)} /><text x="40" y=${y(share) + 4} text-anchor="end">${percent(share)}</text><text x=${x(share)} y="192" text-anchor="middle">${percent(share)}</text>`)}
    <text x="200" y="208" text-anchor="middle">saved</text><text x="44" y="12">successes lost</text>
    ${rows.map((each, place) => html`<g key=${place}><circle cx=${places[place].x} cy=${places[place].y} r="9" class=${each.lost ? "bad" : "good"} /><text class="in" x=${places[place].x} y=${places[place].y + 4} text-anchor="middle">${MARKS[place]}</text></g>`)}
  </svg>`;
}
