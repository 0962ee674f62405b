// Every question of every run: the whole text, each choice explained, a note, and an answer that can't be late.
import { useState } from "preact/hooks";
import { answer, inbox } from "../calls.js";
import { html } from "../html.js";
import { Empty, Failed, Strip, useLoaded, Waiting } from "../parts.js";
import { ago, duration } from "../words.js";

/** @param {{changed: number, readOnly: boolean}} given */
export function Inbox({ changed, readOnly }) {
  const [turn, setTurn] = useState(0);
  const { value, error } = useLoaded(inbox, "inbox", changed + turn);
  const questions = value?.questions ?? [];
  return html`<div class="title"><h1>Inbox</h1>${questions.length ? html`<span class="faint">${questions.length} waiting for you</span>` : null}</div><${Failed} error=${error} />
    ${value || error ? null : html`<${Waiting} />`}
    ${value && !questions.length ? html`<${Empty} title="No run is waiting for you."><p>When a run needs a decision, it asks here and continues with your answer.</p><//>` : null}
    ${questions.map((question) => html`<section key=${question.id}>
      <h2 class="over"><a href="#/run/${question.run}"><bdi>${question.title}</bdi></a></h2>
      <${Question} question=${question} readOnly=${readOnly} onDone=${() => setTurn(turn + 1)} />
    </section>`)}`;
}

/** @param {{question: import("../types.js").Schemas["Question"], readOnly: boolean, onDone: () => void}} given */
export function Question({ question, readOnly, onDone }) {
  const [note, setNote] = useState("");
  const [given, setGiven] = useState(/** @type {Record<string, string>} */ ({}));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const [busy, setBusy] = useState(false);
  const give = (choice) => {
    setBusy(true);
    answer(question.run, { choice: choice.choice, question: question.id, argument: choice.argument ? given[choice.choice].trim() : null, note })
      .then(onDone, setError)
      .finally(() => setBusy(false));
  };
  const [first, ...rest] = question.question.split("\n");
  const left = question.until ? question.until - Date.now() / 1000 : null;
  return html`<section class="question card" aria-label="Question of run ${question.run}">
    <p class="ask"><bdi>${first}</bdi></p>${rest.length ? html`<pre class="more" tabindex="0"><bdi>${rest.join("\n")}</bdi></pre>` : null}
    <p class="about"><${Strip} gates=${question.gates} /> <a href="#/run/${question.run}/lap/${question.lap}">${question.lap ? `What lap ${question.lap} changed` : "The baseline"}</a> <span class="faint">Asked ${ago(question.asked)}${left ? `; the default is taken in ${duration(left)}` : ""}.</span></p>
    ${readOnly ? null : html`
      <label class="field">Note (optional) <textarea rows="2" value=${note} onInput=${(event) => setNote(event.target.value)}></textarea></label>
      <ul class="choices">${question.choices.map((choice) => html`<li key=${choice.choice}>
        <button class=${choice.default ? "main" : ""} disabled=${busy || (choice.argument && !(given[choice.choice] ?? "").trim())} onClick=${() => give(choice)}>${choice.choice}</button>
        <span>${choice.meaning}${choice.default ? html` <span class="faint">(default)</span>` : null}${choice.argument ? html` <input class="argument" aria-label="Which ${choice.argument}, for ${choice.choice}" placeholder="which ${choice.argument}" value=${given[choice.choice] ?? ""} onInput=${(event) => setGiven({ ...given, [choice.choice]: event.target.value })} />` : null}</span>
      </li>`)}</ul>`}
    <${Failed} error=${error} />
  </section>`;
}
