// Gates × laps: the newest laps first in view, the rest by scrolling; only the columns in view are drawn.
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "./html.js";
import { cell } from "./words.js";

const WIDTH = 42;
const MARGIN = 20;
const KEY = [["good", "✓", "passed"], ["bad", "3", "failing"], ["odd", "!", "broken"], ["faint", "·", "did not run"]];

/** @param {{course: import("./types.js").Schemas["Course"], best?: number, onOpen: (lap: number, gate?: string) => void}} given */
export function Matrix({ course, best, onOpen }) {
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const [view, setView] = useState({ from: 0, to: 40 });
  const count = course.laps.length;
  const look = () => {
    const { scrollLeft, clientWidth } = frame.current;
    setView({ from: Math.max(0, Math.floor(scrollLeft / WIDTH) - MARGIN), to: Math.ceil((scrollLeft + clientWidth) / WIDTH) + MARGIN });
  };
  useEffect(() => {
    frame.current.scrollLeft = frame.current.scrollWidth;
    look();
  }, [count]);
  const from = Math.min(view.from, Math.max(0, count - 1));
  const shown = course.laps.slice(from, view.to);
  const behind = Math.max(0, count - from - shown.length);
  const row = (name, make, kind = "") => html`<tr key=${name} class=${kind}>
    <th scope="row" title=${name}><bdi>${name}</bdi></th>
    ${from ? html`<td aria-hidden="true" colspan=${from} style=${{ minWidth: `${from * WIDTH}px` }}></td>` : null}
    ${shown.map((lap, place) => make(lap, from + place))}
    ${behind ? html`<td aria-hidden="true" colspan=${behind} style=${{ minWidth: `${behind * WIDTH}px` }}></td>` : null}
    <td class="rest" aria-hidden="true"></td>
  </tr>`;
  return html`<div class="card matrix">
    <div class="wide" ref=${frame} onScroll=${look} role="region" aria-label="Gates by lap" tabindex="0">
      <table>
        <caption class="unseen">The verdict of each gate in each lap; lap 0 is the baseline</caption>
        <thead>${row("lap", (lap) => html`<th scope="col" key=${lap} class=${lap === best ? "best" : ""}><button class="plain" onClick=${() => onOpen(lap)} title="Open lap ${lap}${lap === best ? ", the best one" : ""}">${lap}</button></th>`)}</thead>
        <tbody>
          ${Object.entries(course.cells).map(([gate, cells]) =>
            row(gate, (lap, place) => {
              const mark = cell(cells[place]);
              return html`<td key=${lap}><button class="cell ${mark.tone}" title="${gate}, lap ${lap}: ${mark.words}" aria-label="${gate}, lap ${lap}: ${mark.words}" onClick=${() => onOpen(lap, gate)}>${mark.sign}</button></td>`;
            }),
          )}
          ${row("score", (lap, place) => html`<td key=${lap} class="score">${course.score[place].toFixed(2)}</td>`, "scores")}
        </tbody>
      </table>
    </div>
    <p class="key">${KEY.map(([tone, sign, words]) => html`<span key=${words}><span class="cell ${tone}">${sign}</span> ${words}</span>`)}<span>~ flaky</span><span class="best-key">best lap</span></p>
  </div>`;
}
