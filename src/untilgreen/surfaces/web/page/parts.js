// Small parts that several screens share.
import { useEffect, useRef, useState } from "preact/hooks";
import { activityFrom, textFrom } from "./calls.js";
import { html } from "./html.js";
import { cell, tone } from "./words.js";

/** @param {{status: string, running?: boolean, fleet?: boolean}} given */
export const Badge = ({ status, running, fleet = false }) =>
  html`<span class="badge ${tone(status)} ${running ? "alive" : ""}">${running && status === "open" ? "running" : status === "open" ? (fleet ? "queued" : "interrupted") : status}</span>`;

/** @param {{gates: import("./types.js").Schemas["GateMark"][]}} given */
export const Strip = ({ gates }) => html`<span class="strip">
  ${gates.map((gate) => {
    const mark = cell(gate.status);
    return html`<span key=${gate.gate} class="mark ${mark.tone}" title="${gate.gate}: ${mark.words}"
      ><span aria-hidden="true">${mark.sign}</span><span class="unseen">${gate.gate}: ${mark.words}</span></span>`;
  })}
</span>`;

/** @param {{scores: number[]}} given */
export function Bars({ scores }) {
  const width = 5 * Math.max(scores.length, 1);
  return html`<svg class="bars" viewBox="0 0 ${width} 22" width=${width} height="22" role="img"
    aria-label="Scores: ${scores.map((score) => score.toFixed(2)).join(", ") || "none yet"}">
    ${scores.map((score, place) => html`<rect key=${place} x=${place * 5} width="4" rx="1" y=${20 - 20 * score} height=${2 + 20 * score} class=${score >= 1 ? "full" : ""} />`)}
  </svg>`;
}

/**
 * How much of a limit is used, or how much of a goal is reached.
 * @param {{name: string, used: string, most?: string, share?: number | null, goal?: boolean}} given
 */
export const Meter = ({ name, used, most, share, goal }) => html`<div class="meter">
  <dt>${name}</dt><dd class=${used === "unknown" ? "unknown" : ""}>${used}${most ? html`<span class="faint"> of ${most}</span>` : null}</dd>
  ${share === undefined || share === null ? null : html`<svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="groove" width="100" height="4" rx="2" /><rect class=${share > 0.9 && !goal ? "near" : "used"} width=${Math.min(100, 100 * share)} height="4" rx="2" /></svg>`}
</div>`;

/**
 * Load once for each key, and again whenever `turn` changes.
 * @template T
 * @param {() => Promise<T>} load
 * @param {string} key
 * @param {number} turn
 * @returns {{value: T | null, error: Error | null}}
 */
export function useLoaded(load, key, turn = 0) {
  const [found, setFound] = useState(/** @type {{key: string | null, value: T | null, error: Error | null}} */ ({ key: null, value: null, error: null }));
  useEffect(() => {
    let current = true;
    load().then(
      (value) => current && setFound({ key, value, error: null }),
      (error) => current && setFound((before) => ({ key, value: before.key === key ? before.value : null, error })),
    );
    return () => {
      current = false;
    };
  }, [key, turn]);
  return found.key === key ? found : { value: null, error: found.error };
}

/** @param {{error: Error | null}} given */
export const Failed = ({ error }) => (error ? html`<p role="alert" class="problem">${error.message}</p>` : null);

/** A placeholder until the answer comes, so that nothing jumps. */
export const Waiting = ({ lines = 3 }) =>
  html`<div class="waiting" aria-hidden="true">${Array.from({ length: lines }, (_, place) => html`<i key=${place}></i>`)}</div>`;

/**
 * Nothing to show, and what to do about it.
 * @param {{title: string, children?: unknown}} given
 */
export const Empty = ({ title, children }) => html`<div class="empty"><p><b>${title}</b></p>${children}</div>`;

/**
 * A command to paste into a terminal.
 * @param {{text: string}} given
 */
export function Command({ text }) {
  const [said, setSaid] = useState("");
  const copy = () => navigator.clipboard.writeText(text).then(() => setSaid("Copied"), () => setSaid("Not copied"));
  return html`<code>${text.split(" ").map((word, place) => html`<span key=${place} class="word">${word}</span> `)}</code><button class="copy" onClick=${copy} onBlur=${() => setSaid("")} aria-label=${`Copy ${text}`}>${said || "Copy"}</button>`;
}

/**
 * A long text, read part by part.
 * @param {{where: string, title: string}} given
 */
export function LongText({ where, title }) {
  const [part, setPart] = useState({ text: "", next: 0, total: 0, come: false });
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const load = (from) =>
    textFrom(where, from).then((got) => {
      setError(null);
      setPart((before) => ({ ...got, come: true, text: from === 0 ? got.text : before.text + got.text }));
    }, setError);
  useEffect(() => {
    load(0);
  }, [where]);
  return html`<div>
    <pre class="text" tabindex="0" aria-label=${title}>${part.text || (part.come ? "Nothing was printed." : "…")}</pre>
    <${Failed} error=${error} />
    ${part.next < part.total ? html`<button onClick=${() => load(part.next)}>Show more (${(part.total - part.next).toLocaleString()} bytes)</button>` : null}
  </div>`;
}

const TAIL = 200_000;
const MOST_LINES = 1000;

/**
 * What the agent does, line by line, as it comes; the end of it, however long it is.
 * @param {{where: string, turn?: number}} given
 */
export function Activity({ where, turn = 0 }) {
  const [lines, setLines] = useState(/** @type {{number: number, kind: string, text: string}[]} */ ([]));
  const place = useRef({ next: -TAIL, count: 0, busy: false });
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const load = (fresh) => {
    const at = place.current;
    if (at.busy) return;
    at.busy = true;
    activityFrom(where, fresh ? -TAIL : at.next)
      .then((got) => {
        at.next = got.next;
        const more = got.shown.map((each) => ({ number: at.count++, kind: each.activity.kind, text: each.activity.text }));
        if (fresh || more.length) setLines((before) => [...(fresh ? [] : before), ...more].slice(-MOST_LINES));
      })
      .catch(() => {})
      .finally(() => (at.busy = false));
  };
  useEffect(() => load(true), [where]);
  useEffect(() => {
    if (turn) load(false);
  }, [turn]);
  useEffect(() => {
    const box = list.current;
    // Follow the end, unless somebody scrolled up to read.
    if (box.scrollHeight - box.scrollTop - box.clientHeight < 200 || box.scrollTop === 0) box.scrollTop = box.scrollHeight;
  }, [lines]);
  return html`<ol class="activity" ref=${list} tabindex="0" aria-label="Agent activity">
    ${lines.map((each) => html`<li key=${each.number}><span class="kind">${each.kind}</span><bdi>${each.text}</bdi></li>`)}
    ${lines.length ? null : html`<li class="faint">Nothing yet.</li>`}
  </ol>`;
}

const COLORS = ["--line-1", "--line-2", "--line-3", "--line-4"];

/**
 * One curve, with its numbers as a table for those who can't see it.
 * @param {{title: string, laps: number[], series: {label: string, values: (number | null)[]}[], top?: number, counts?: boolean, format?: (value: number) => unknown}} given
 */
export function Curve({ title, laps, series, top, counts, format = (value) => value }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const dark = useDark();
  useEffect(() => {
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    const axis = { stroke: color("--faint"), font: "11px system-ui, sans-serif", grid: { stroke: color("--hair"), width: 1 }, ticks: { show: false } };
    const whole = (_, found) => found.map((value) => (Number.isInteger(value) ? value : ""));
    const box = place.current;
    const width = () => Math.max(200, box.clientWidth);
    const plot = new globalThis.uPlot(
      {
        width: width(),
        height: 170,
        legend: { show: series.length > 1, live: false },
        cursor: { y: false },
        padding: [8, 12, 0, 0],
        scales: { x: { time: false }, y: { range: (_, least, most) => [Math.min(0, least ?? 0), top ?? Math.max(1e-9, (most ?? 0) * 1.1) + (most ? 0 : 1)] } },
        axes: [{ ...axis, grid: { show: false }, size: 28, values: whole }, { ...axis, size: 54, values: counts ? whole : (_, found) => found.map(format) }],
        series: [
          { label: "lap" },
          ...series.map((each, number) => ({
            label: each.label,
            stroke: color(COLORS[number % 4]),
            fill: series.length === 1 ? color("--line-fill") : undefined,
            width: 2,
            points: { show: laps.length < 40, size: 6, fill: color("--card") },
          })),
        ],
      },
      [laps, ...series.map((each) => each.values)],
      box,
    );
    const watch = new ResizeObserver(() => plot.setSize({ width: width(), height: 170 }));
    watch.observe(box);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [laps.length, series.map((each) => each.values.join()).join(";"), dark]);
  const skipped = Math.max(0, laps.length - 200);
  return html`<figure class="card">
    <figcaption>${title}</figcaption>
    <div class="plot" ref=${place} aria-hidden="true"></div>
    <details><summary>As a table</summary><div class="wide" tabindex="0"><table><thead><tr><th>lap</th>${series.map((each) => html`<th>${each.label}</th>`)}</tr></thead>
      <tbody>${laps.slice(-200).map((lap, row) => html`<tr key=${lap}><th>${lap}</th>${series.map((each) => html`<td>${each.values[skipped + row] === null ? "" : format(each.values[skipped + row])}</td>`)}</tr>`)}</tbody></table></div></details>
  </figure>`;
}

/** Whether the page is dark now; charts are redrawn when that changes. */
function useDark() {
  const [dark, setDark] = useState(matchMedia("(prefers-color-scheme: dark)").matches);
  useEffect(() => {
    const query = matchMedia("(prefers-color-scheme: dark)");
    const look = () => setDark(query.matches);
    query.addEventListener("change", look);
    return () => query.removeEventListener("change", look);
  }, []);
  return dark;
}
