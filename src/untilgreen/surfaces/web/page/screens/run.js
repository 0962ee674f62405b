// One run: what happens now, gates × laps, findings, curves, decisions, remedies, limits, live activity, controls.
import { useEffect, useState } from "preact/hooks";
import { follow } from "../api.js";
import { apply, control, courseOf, runPath, showRun } from "../calls.js";
import { html } from "../html.js";
import { Matrix } from "../matrix.js";
import { Activity, Badge, Command, Curve, Failed, Meter, useLoaded, Waiting } from "../parts.js";
import { Question } from "./inbox.js";
import { agentName, ago, duration, exactly, folderName, money, short, when } from "../words.js";

/** @typedef {import("../types.js").Schemas} Schemas */

const MOST_NAMES = 200;
const METERS = ["iterations", "time", "cost", "tokens"];
const TRENDS = { improving: "↗", regressing: "↘", stagnant: "→" };

/** @param {{run: string, go: (address: string) => void, readOnly: boolean, admin: boolean, server: Schemas["ServerVersion"]}} given */
export function Run({ run, go, readOnly, admin, server }) {
  const [turn, setTurn] = useState(0);
  const [shown, setShown] = useState(0);
  const view = useLoaded(() => showRun(run), run, turn);
  const course = useLoaded(() => courseOf(run), run, turn);
  const after = view.value?.position;
  const over = view.value?.outcome;
  useEffect(() => {
    if (after === undefined || over) return undefined;
    let due = null;
    const stop = follow(runPath(run, "events"), after, () => {
      due ??= setTimeout(() => {
        due = null;
        setTurn((before) => before + 1);
      }, 150);
    });
    const clock = setInterval(() => setShown((before) => before + 1), 2000);
    return () => {
      stop();
      clearInterval(clock);
      clearTimeout(due);
    };
  }, [run, after === undefined, !!over]);
  if (!view.value) return html`<div class="title"><h1>Run ${run}</h1></div><${Failed} error=${view.error} />${view.error ? html`<p><a href="#/runs">All runs</a></p>` : html`<${Waiting} lines=${6} />`}`;
  const it = view.value;
  const columns = course.value;
  const open = (lap, gate) => go(`#/run/${run}/lap/${lap}${gate ? `/${encodeURIComponent(gate)}` : ""}`);
  const done = () => setTurn(turn + 1);
  return html`
    <nav class="crumbs" aria-label="Where you are"><a href="#/runs">Runs</a> <span class="faint">/</span> <bdi title=${it.workspace}>${folderName(it.workspace)}</bdi></nav>
    <div class="title"><h1><bdi>${headline(it)}</bdi></h1><${Badge} status=${it.status} running=${it.running} fleet=${it.fleet} /></div>
    ${it.question ? null : html`<p class="lead"><bdi>${it.reason}</bdi></p>`}
    ${over ? null : html`<p class="now" role="status"><span class=${it.running ? "pulse" : "pulse off"} aria-hidden="true"></span><span><b>Now:</b> <bdi>${it.now}</bdi></span></p>`}
    ${it.question ? html`<${Question} question=${it.question} readOnly=${readOnly} onDone=${done} />` : null}
    <div class="columns">
      <div>
        ${columns?.laps.length ? html`<section><h2>Gates by lap</h2><${Matrix} course=${columns} best=${it.best?.lap} onOpen=${open} /></section>` : html`<p class="faint">No lap has finished yet.</p>`}
        <${Findings} found=${it.progress.overall} />
        ${it.open_lap ? html`<section><h2>Lap ${it.open_lap}: agent activity</h2><${Activity} where=${runPath(run, "laps", it.open_lap, "activity")} turn=${shown} /></section>` : null}
        ${columns && columns.laps.length > 1 ? html`<${Curves} columns=${columns} />` : null}
        <${Why} why=${it.why} decisions=${columns?.decisions ?? []} laps=${columns?.laps ?? []} />
      </div>
      <aside>
        <${Used} it=${it} />
        ${readOnly || over ? null : html`<${Controls} run=${run} paused=${it.status === "paused"} driven=${it.running} asks=${!!it.question} onDone=${done} />`}
        ${admin && over && server.roots.length && !it.fleet ? html`<${Result} run=${run} />` : null}
        <section class="card"><h2>Next steps</h2><dl class="steps">${it.why.ways.map((way) => html`<dt key=${way.what}>${way.what}</dt><dd><${Command} text=${way.command} /></dd>`)}</dl></section>
        <section class="card"><h2>About</h2><dl class="facts">
          <dt>run</dt><dd class="path">${it.run}</dd><dt>agent</dt><dd><bdi>${it.agents.map(agentName).join(", ")}</bdi></dd><dt>strategy</dt><dd>${it.strategy}</dd>
          <dt>started</dt><dd>${when(it.started)}</dd><dt>last event</dt><dd title=${when(it.updated)}>${ago(it.updated)}</dd><dt>in</dt><dd class="path"><bdi>${it.workspace}</bdi></dd>
          ${Object.entries(it.labels).map(([name, value]) => html`<dt key=${name}>${name}</dt><dd><bdi>${value}</bdi></dd>`)}
          <dt>journal</dt><dd class="path">${it.head.slice(0, 16)}</dd></dl>
          <details><summary>The whole task</summary><pre class="text">${it.task}</pre></details>
        </section>
      </aside>
    </div>`;
}

/** The first line of the task, whole where its title was cut.
 * @param {Schemas["RunView"]} it
 */
const headline = (it) => (it.title.endsWith("…") ? it.task.trim().split("\n")[0].slice(0, 300) : it.title);

/** @param {{it: Schemas["RunView"]}} given */
function Used({ it }) {
  const limits = Object.fromEntries(it.why.limits.map((each) => [each.limit, each]));
  const most = (name) => limits[name]?.most;
  const share = (name) => limits[name]?.share;
  return html`<section class="card figures"><h2 class="unseen">Figures</h2><dl class="meters">
    <${Meter} name="score" used=${`${it.progress.overall.score.toFixed(2)} ${TRENDS[it.progress.overall.trend] ?? ""}`} share=${it.progress.overall.score} goal />
    <${Meter} name="gates green" used=${it.progress.passed} most=${it.progress.total} share=${it.progress.total ? it.progress.passed / it.progress.total : null} goal />
    <${Meter} name="laps" used=${it.laps} most=${most("iterations")} share=${share("iterations")} />
    <${Meter} name="time" used=${duration(it.elapsed)} most=${most("time")} share=${share("time")} />
    <${Meter} name="cost" used=${it.cost ? money(it.cost) : "unknown"} most=${most("cost")} share=${share("cost")} />
    <${Meter} name="tokens" used=${it.tokens ? short(it.tokens) : "unknown"} most=${most("tokens")} share=${share("tokens")} />
  </dl></section>`;
}

const Names = ({ title, names, tone }) =>
  names.length
    ? html`<div><h3>${title} <span class="faint">${names.length.toLocaleString()}</span></h3><ul class="names">${names.slice(0, MOST_NAMES).map((name) => html`<li key=${name} class=${tone}><bdi>${name}</bdi></li>`)}${names.length > MOST_NAMES ? html`<li class="faint">and ${(names.length - MOST_NAMES).toLocaleString()} more</li>` : null}</ul></div>`
    : null;

function Findings({ found }) {
  const kinds = [["Fixed in the last lap", found.fixed, "good"], ["Broken again", found.broken, "bad"], ["New", found.new, "bad"], ["Still failing", found.still, "bad"]];
  const any = kinds.some(([, names]) => names?.length);
  return html`<section><h2>Findings</h2>${any ? html`<div class="card findings">${kinds.map(([title, names, tone]) => html`<${Names} key=${title} title=${title} names=${names ?? []} tone=${tone} />`)}</div>` : html`<p class="faint">None.</p>`}</section>`;
}

/** @param {{columns: Schemas["Course"]}} given */
function Curves({ columns }) {
  const { laps } = columns;
  return html`<section><h2>Charts</h2><div class="plots">
    <${Curve} title="Score" top=${1} laps=${laps} series=${[{ label: "score", values: columns.score }]} format=${(value) => value.toFixed(2)} />
    <${Curve} title="Findings" counts laps=${laps} series=${[{ label: "findings", values: columns.findings }]} />
    ${columns.cost.some((each) => each) ? html`<${Curve} title="Cost so far" laps=${laps} series=${[{ label: "cost", values: summed(columns.cost) }]} format=${(value) => money(value)} />` : null}
    <${Curve} title="Time of each lap" laps=${laps} series=${[{ label: "seconds", values: columns.seconds }]} format=${exactly} />
  </div></section>`;
}

/** @param {(number | null)[]} values */
function summed(values) {
  let total = 0;
  return values.map((value) => (total += value ?? 0));
}

const list = (title, entries) =>
  entries.length ? html`<div><h3>${title}</h3><ul class="plainly">${entries.map((each, place) => html`<li key=${place}>${each}</li>`)}</ul></div>` : null;

/** @param {{why: Schemas["Reasons"], decisions: string[], laps: number[]}} given */
function Why({ why, decisions, laps }) {
  const recent = decisions.map((words, place) => ({ lap: laps[place], words })).slice(-500).reverse();
  return html`<section><h2>Why</h2><div class="card stack">
    ${list("What the detectors saw", why.signals.map((each) => html`<span class="tag">${each.kind}</span> <bdi>${each.evidence}</bdi> <span class="faint">(${each.strength}, ${each.laps.length === 1 ? "lap" : "laps"} ${span(each.laps)})</span>`))}
    ${list("What was tried", why.tried.map((each) => html`<span class="tag">${each.rung}</span> in lap ${each.lap}: ${each.helped ? html`<span class="ink-good">it helped</span>` : "no improvement"}`))}
    ${list("What has to change", why.change.map((each) => html`<bdi>${each}</bdi>`))}
    ${list("Limits", why.limits.filter((each) => each.share && !METERS.includes(each.limit)).map((each) => `${each.limit}: ${each.used} of ${each.most}`))}
    <details><summary>Every decision</summary><ol class="decisions">${recent.map((each) => html`<li key=${each.lap}><b>lap ${each.lap}</b> <bdi>${each.words}</bdi></li>`)}</ol></details>
  </div></section>`;
}

/** @param {number[]} laps */
const span = (laps) => (laps.length > 3 ? `${laps[0]}–${laps[laps.length - 1]}` : laps.join(", "));

/**
 * A run that only waits for an answer continues with it, so there is nothing to resume.
 * @param {{run: string, paused: boolean, driven: boolean, asks: boolean, onDone: () => void}} given
 */
export function Controls({ run, paused, driven, asks, onDone }) {
  const [note, setNote] = useState("");
  const [said, setSaid] = useState("");
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const [sure, setSure] = useState("");
  const send = (verb, body = {}) =>
    control(run, verb, body).then(() => {
      setError(null);
      setSure("");
      setSaid({ pause: "Pausing after this turn.", resume: "Resumed.", stop: "Stopping after this lap.", cancel: "Cancelled.", steer: "The agent gets your note with its next brief." }[verb]);
      setNote(verb === "steer" ? "" : note);
      onDone();
    }, setError);
  const twice = (verb, words) => () => {
    if (sure === verb) return send(verb);
    setSure(verb);
    setSaid(`Press ${words} again to confirm.`);
    return undefined;
  };
  return html`<section class="card controls" aria-label="Control this run">
    <form onSubmit=${(event) => { event.preventDefault(); send("steer", { note }); }}>
      <label class="field">Note for the agent <textarea rows="3" value=${note} placeholder="Added to the agent's next brief." onInput=${(event) => setNote(event.target.value)}></textarea></label>
      <button class="main" disabled=${!note.trim()}>Send note</button>
    </form>
    <div class="buttons">
      ${asks && !paused && !driven ? null : html`<button onClick=${() => send(paused || !driven ? "resume" : "pause")}>${paused || !driven ? "Resume" : "Pause"}</button>`}
      <button class=${sure === "stop" ? "sure" : ""} onClick=${twice("stop", "Stop")}>Stop after this lap</button>
      <button class="danger ${sure === "cancel" ? "sure" : ""}" onClick=${twice("cancel", "Cancel")}>Cancel now</button>
    </div>
    <p class="faint" role="status">${said}</p><${Failed} error=${error} />
  </section>`;
}

/**
 * The result of a run that worked in a worktree, brought into the user's files.
 * @param {{run: string}} given
 */
function Result({ run }) {
  const [done, setDone] = useState(/** @type {Schemas["Applied"] | null} */ (null));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const [looked, setLooked] = useState(false);
  const ask = (body) => apply(run, body).then((found) => { setError(null); setLooked(Boolean(body.dry_run)); setDone(found); }, setError);
  const changes = done?.changes ?? [];
  return html`<section class="card controls" aria-label="Apply the result"><h2>Apply the result</h2>
    <p class="faint">Merge what this run changed into your files. Your own changes are kept.</p>
    <div class="buttons"><button onClick=${() => ask({ dry_run: true })}>What would change?</button>
    ${looked && changes.length && !done.conflicts.length ? html`<button class="main" onClick=${() => ask({})}>Apply</button>` : null}
    ${done && !looked && done.written && changes.length ? html`<button onClick=${() => ask({ undo: true })}>Undo</button>` : null}</div>
    ${done ? html`<ul class="names">${changes.map((each) => html`<li key=${each.path}><span class="tag">${each.status}</span> <bdi>${each.path}</bdi></li>`)}${done.conflicts.map((each) => html`<li key=${each.path} class="bad">conflict in <bdi>${each.path}</bdi>: ${each.why}</li>`)}</ul>
      <p role="status">${looked ? (done.conflicts.length ? "Nothing is written while there are conflicts." : changes.length ? "" : "Your files already have all of these changes.") : changes.length ? "Applied." : "Undone."}</p>` : null}
    <${Failed} error=${error} /></section>`;
}
