// One lap: brief, reply, findings, the diff with comments on its lines, and what each gate printed.
import { useState } from "preact/hooks";
import { comment, fork, runPath, showLap } from "../calls.js";
import { html } from "../html.js";
import { Failed, LongText, useLoaded, Waiting } from "../parts.js";
import { agentName, cell, duration, money, several } from "../words.js";

/** @param {{run: string, number: number, gate?: string, readOnly: boolean, admin: boolean, go: (address: string) => void}} given */
export function Lap({ run, number, gate, readOnly, admin, go }) {
  const { value, error } = useLoaded(() => showLap(run, number), `${run}/${number}`);
  const title = number ? `Lap ${number}` : "Lap 0, the baseline";
  const crumbs = html`<nav class="crumbs" aria-label="Where you are"><a href="#/runs">Runs</a> <span class="faint">/</span> <a href="#/run/${run}">Run ${run}</a></nav>`;
  if (!value) return html`${crumbs}<div class="title"><h1>${title}</h1></div><${Failed} error=${error} />${error ? null : html`<${Waiting} lines=${6} />`}`;
  const lap = value.lap;
  const gates = Object.entries(lap.verdicts);
  const facts = [
    agentName(lap.agent),
    `score ${lap.score.toFixed(2)}`,
    several(lap.findings, "finding"),
    `${several(lap.changes.length, "file")} changed`,
    duration(lap.duration),
    lap.cost ? money(lap.cost) : "",
    lap.remedy ? `remedy ${lap.remedy}` : "",
    lap.error ? `turn failed: ${lap.error}` : "",
    lap.claim ? "claimed to be done" : "",
  ].filter(Boolean);
  return html`${crumbs}
    <div class="title"><h1>${title}</h1><span class="turn">
      ${number ? html`<a class="button" href="#/run/${run}/lap/${number - 1}" aria-label="Lap ${number - 1}">← ${number - 1}</a>` : null}
      ${number < value.laps ? html`<a class="button" href="#/run/${run}/lap/${number + 1}" aria-label="Lap ${number + 1}">${number + 1} →</a>` : null}</span></div>
    <p class="faint facts-line">${facts.map((fact, place) => html`<bdi key=${place}>${fact}</bdi>`)}</p>
    ${lap.decision ? html`<p class="lead"><bdi>${lap.decision.reason}</bdi></p>` : null}
    <${Names} title="Fixed" names=${value.fixed} tone="good" /><${Names} title="Broken again" names=${value.broken} tone="bad" /><${Names} title="New" names=${value.new} tone="bad" />
    ${number ? html`<section><h2>Diff</h2>
      ${value.missing ? html`<p class="faint">${value.missing}</p>` : null}
      ${value.diff.text ? html`<${Diff} run=${run} lap=${number} text=${value.diff.text} readOnly=${readOnly} />` : html`<p class="faint">No files changed.</p>`}
      ${value.diff.left_out ? html`<p class="faint">${value.diff.left_out.toLocaleString()} more characters: see <code>untilgreen diff ${run}@${number}</code>.</p>` : null}
    </section>` : null}
    <section><h2>Gates</h2>${gates.map(([name, verdict]) => {
      const mark = cell(verdict.status);
      return html`<details key=${name} class="card gate" open=${name === gate || (!gate && verdict.status === "fail")}>
      <summary><span class="mark ${mark.tone}" aria-hidden="true">${mark.sign}</span> <b><bdi>${name}</bdi></b> <span class="faint">${mark.words}${verdict.findings?.length ? `, ${several(verdict.findings.length + (verdict.more ?? 0), "finding")}` : ""}</span></summary>
      ${verdict.findings?.length ? html`<ul class="names">${verdict.findings.map((each) => html`<li key=${each.id} class="bad"><bdi>${each.id}${each.message ? `: ${each.message}` : ""}</bdi></li>`)}</ul>` : null}
      <${LongText} where=${runPath(run, "laps", number, "output", name)} title="Output of ${name}" />
    </details>`;
    })}</section>
    ${number ? html`<div class="halves">
      <section><h2>Reply</h2><pre class="text" tabindex="0">${lap.reply || "The agent said nothing."}</pre></section>
      <section><h2>Brief</h2><pre class="text" tabindex="0">${value.brief || "No brief was kept."}</pre></section>
    </div>` : null}
    ${admin ? html`<${Fork} run=${run} number=${number} go=${go} />` : null}`;
}

const Names = ({ title, names, tone }) =>
  names.length ? html`<p class="changed"><b>${title}</b> ${names.map((name) => html`<span key=${name} class="finding ${tone}"><bdi>${name}</bdi></span> `)}</p>` : null;

/** @param {{run: string, number: number, go: (address: string) => void}} given */
function Fork({ run, number, go }) {
  const [note, setNote] = useState("");
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const send = (event) => {
    event.preventDefault();
    fork(run, { lap: number, note }).then((done) => go(`#/run/${done.run}`), setError);
  };
  return html`<section><h2>Fork</h2><details class="card"><summary>Start another run from the files of this lap</summary><form onSubmit=${send}>
    <label class="field">Note for the agent <textarea rows="2" value=${note} onInput=${(event) => setNote(event.target.value)}></textarea></label>
    <button class="main">Fork</button><${Failed} error=${error} /></form></details></section>`;
}

/** @typedef {{kind: "at" | "add" | "cut" | "same" | "note", text: string, file: string, old?: number, line?: number}} DiffRow */

/**
 * A unified diff as files, each with its rows: numbers in the old and the new file, and the text with its sign.
 * @param {string} text
 */
function files(text) {
  /** @type {{name: string, added: number, cut: number, rows: DiffRow[]}[]} */
  const found = [];
  let file = { name: "", added: 0, cut: 0, rows: /** @type {DiffRow[]} */ ([]) };
  let line = 0;
  let old = 0;
  let inside = false;
  const open = (name) => {
    inside = false;
    file = { name, added: 0, cut: 0, rows: [] };
    found.push(file);
  };
  for (const raw of text.replace(/\n$/, "").split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(raw);
    if (raw.startsWith("diff ")) open(raw.replace(/^diff --git .* "?b\//, "").replace(/"$/, ""));
    else if (!found.length) open("");
    if (raw.startsWith("diff ")) continue;
    if (hunk) {
      inside = true;
      [old, line] = [Number(hunk[1]), Number(hunk[2])];
      file.rows.push({ kind: "at", text: raw, file: file.name });
    } else if (!inside && /^(\+\+\+ |--- |index )/.test(raw)) continue;
    else if (!inside && /^(new file|deleted file|similarity|rename|copy|old mode|new mode|Binary)/.test(raw)) file.rows.push({ kind: "note", text: raw, file: "" });
    else if (raw.startsWith("-")) {
      file.cut += 1;
      file.rows.push({ kind: "cut", text: raw, file: file.name, old: old++, line });
    } else if (raw.startsWith("+")) {
      file.added += 1;
      file.rows.push({ kind: "add", text: raw, file: file.name, line: line++ });
    } else if (raw.startsWith("\\")) file.rows.push({ kind: "note", text: raw, file: "" });
    else file.rows.push({ kind: "same", text: raw, file: file.name, old: old++, line: line++ });
  }
  return found;
}

/** @param {{run: string, lap: number, text: string, readOnly: boolean}} given */
export function Diff({ run, lap, text, readOnly }) {
  return html`${readOnly ? null : html`<p class="faint hint">Click a line number to leave a comment for the agent; Shift-click for a range.</p>`}
    ${files(text).map((file, place) => html`<${FileDiff} key=${place} run=${run} lap=${lap} file=${file} readOnly=${readOnly} />`)}`;
}

function FileDiff({ run, lap, file, readOnly }) {
  const [range, setRange] = useState(/** @type {{first: number, last: number} | null} */ (null));
  const [sent, setSent] = useState(/** @type {{place: number, words: string}[]} */ ([]));
  const pick = (place, event) =>
    setRange(range && event.shiftKey ? { first: Math.min(range.first, place), last: Math.max(range.last, place) } : { first: place, last: place });
  const number = (row, place) => {
    const shown = row.line ?? "";
    const can = !readOnly && row.file && row.kind !== "at" && row.kind !== "note";
    return can
      ? html`<button class="number" role="cell" aria-label="${shown}" title="Comment on line ${shown} (Shift for a range)" onClick=${(event) => pick(place, event)}>${row.kind === "cut" ? "" : shown}</button>`
      : html`<span class="number" role="cell">${shown}</span>`;
  };
  return html`<div class="card diff">
    <p class="file"><b><bdi>${file.name}</bdi></b> <span class="ink-good">+${file.added}</span> <span class="ink-bad">−${file.cut}</span></p>
    <div class="lines" role="table" aria-label="Diff of ${file.name}">
    ${file.rows.map((row, place) => html`<div key=${place} role="row" class="line ${row.kind} ${range && place >= range.first && place <= range.last ? "picked" : ""}">
      <span class="number old" role="cell">${row.old ?? ""}</span>${number(row, place)}
      <code role="cell">${row.text || " "}</code>
      ${range?.last === place ? html`<${Comment} run=${run} lap=${lap} rows=${file.rows.slice(range.first, range.last + 1)} onDone=${(words) => { setSent([...sent, { place, words }]); setRange(null); }} onDrop=${() => setRange(null)} />` : null}
      ${sent.filter((each) => each.place === place).map((each) => html`<p class="said" role="status">Sent to the agent: ${each.words}</p>`)}
    </div>`)}</div>
  </div>`;
}

function Comment({ run, lap, rows: about, onDone, onDrop }) {
  const [words, setWords] = useState("");
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const send = (event) => {
    event.preventDefault();
    const quoted = about.map((row) => row.text).join("\n");
    comment(run, { lap, file: about[0].file, first: about[0].line, last: about.at(-1).line, text: words, quoted }).then(() => onDone(words), setError);
  };
  return html`<form class="comment" role="cell" onSubmit=${send}>
    <label class="field">Comment for the agent <textarea rows="3" ref=${(element) => element && !words && element.focus()} value=${words} onInput=${(event) => setWords(event.target.value)}></textarea></label>
    <div class="buttons"><button class="main" disabled=${!words.trim()}>Send to the agent</button> <button type="button" onClick=${onDrop}>Discard</button></div><${Failed} error=${error} />
  </form>`;
}
