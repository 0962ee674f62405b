// Start a run: a form made from the spec's JSON Schema, then the plan, trust if need be, then the start.
import { useState } from "preact/hooks";
import { plan as planned, plugins, specForm, startRun } from "../calls.js";
import { collected, filled, Group, partOf } from "../form.js";
import { html } from "../html.js";
import { Empty, Failed, useLoaded, Waiting } from "../parts.js";
import { duration, money, several } from "../words.js";

/** @typedef {import("../types.js").Schemas} Schemas */

/** Parts of a spec that people begin with. */
const PRESETS = [
  { name: "Fix the tests", spec: { task: "Make all tests pass. Fix the code, not the tests." } },
  { name: "Fix types", spec: { task: "Fix every type error without silencing the type checker." } },
  { name: "Fix lint", spec: { task: "Fix every linter finding without turning off rules." } },
  { name: "Small budget", spec: { limits: { iterations: 5, time: "1h" } } },
  { name: "All night", spec: { limits: { iterations: 60, time: "9h" }, wait: "forever" } },
];
/** Only the layout of the form; its fields come from the schema. */
const HINTS = {
  first: { "": ["task", "agent", "gates", "limits", "workspace"], "gates.*": ["run"], limits: ["iterations", "time", "cost"], workspace: ["mode"], sandbox: ["mode"], session: ["mode"] },
  hidden: ["task_file", "profiles", "gates.*.use"],
  long: ["task"],
  names: { agent: "agent", agents: "agent", strategy: "strategy", detectors: "detector", notify: "notifier", kind: "gate" },
};

/** @param {{go: (address: string) => void, server: Schemas["ServerVersion"]}} given */
export function Start({ go, server }) {
  const [workspace, setWorkspace] = useState("");
  const place = workspace || server.roots[0] || "";
  const form = useLoaded(() => (place ? specForm(place) : Promise.resolve(null)), place);
  const [schema, setSchema] = useState(/** @type {import("../form.js").Shape | null} */ (null));
  if (form.value && !schema) setSchema(form.value.schema);
  const names = useLoaded(plugins, "plugins").value?.plugins.filter((each) => !each.problem) ?? [];
  const [value, setValue] = useState(/** @type {any} */ ({ workspace: { mode: "worktree" } }));
  const [profile, setProfile] = useState("");
  const [plan, setPlan] = useState(/** @type {Schemas["Planned"] | null} */ (null));
  const [error, setError] = useState(/** @type {Error | null} */ (null));
  const [busy, setBusy] = useState(false);
  const change = (set) => (found) => {
    setPlan(null);
    set(found);
  };
  const working = (ask, then) => {
    setBusy(true);
    setError(null);
    // What was filled in may not be collectable, which is an error like any other.
    Promise.resolve().then(ask).then(then, setError).finally(() => setBusy(false));
  };
  const body = () => ({ workspace: place, profile, spec: collected(schema, value) ?? {} });
  const look = (event) => {
    event.preventDefault();
    working(() => planned(body()), setPlan);
  };
  const start = () => working(() => startRun({ ...body(), trust: plan.trust?.digest ?? "" }), (done) => go(`#/run/${done.run}`));
  const title = html`<div class="title"><h1>Start a run</h1></div>`;
  if (!server.roots.length) {
    return html`${title}<${Empty} title="This server doesn't start runs."><p>Start it with a directory to allow that:</p><pre>untilgreen serve --root DIR</pre><//>`;
  }
  const profiles = form.value?.profiles ?? [];
  return html`${title}
    <p class="lead">What you leave empty comes from the spec of the directory, or has its default. You see the plan, and what it may cost, before anything runs.</p>
    ${["agent", "strategy", "detector", "notifier", "gate"].map((kind) => html`<datalist key=${kind} id="names-${kind}">${names.filter((each) => each.kind === kind).map((each) => html`<option key=${each.name} value=${each.name}>${each.summary}</option>`)}</datalist>`)}
    <div class="columns even"><form class="card stacked spec" onSubmit=${look}>
      <p class="presets" role="group" aria-label="Presets">${PRESETS.map((preset) => html`<button key=${preset.name} type="button" class="small" disabled=${!schema} onClick=${() => change(setValue)(filled(schema, value, preset.spec))}>${preset.name}</button>`)}</p>
      <label class="field">Directory <input value=${workspace} list="roots" placeholder=${server.roots[0]} onChange=${(event) => change(setWorkspace)(event.target.value)} /></label>
      <datalist id="roots">${server.roots.map((each) => html`<option key=${each} value=${each} />`)}</datalist>
      ${profiles.length ? html`<label class="field">Profile <select value=${profile} onChange=${(event) => change(setProfile)(event.target.value)}><option value="">none</option>${profiles.map((each) => html`<option key=${each} value=${each}>${each}</option>`)}</select></label>` : null}
      ${schema ? html`<${Group} path="" part=${partOf(schema)} value=${value} onChange=${change(setValue)} hints=${HINTS} given=${form.value?.given ?? []} />` : form.error ? null : html`<${Waiting} lines=${4} />`}
      <div class="buttons"><button class="main" disabled=${busy || !schema}>Show the plan</button></div>
      <${Failed} error=${error ?? form.error} />
    </form>
    <section aria-label="The plan" class="card plan">${plan ? html`<h2>The plan</h2><${Plan} plan=${plan} />
      <div class="buttons"><button class="main" disabled=${busy} onClick=${start}>${plan.trust ? "Trust this and start" : "Start"}</button></div>` : html`<p class="faint">The plan is shown here: which agent and gates, what the agent may do, and what it can cost at most.</p>`}</section></div>`;
}
/** @param {{plan: Schemas["Planned"]}} given */
function Plan({ plan }) {
  if (plan.trust) {
    return html`<p class="problem">${plan.trust.path} is not trusted yet. It would run:</p><ul class="names">${plan.trust.lines.map((line) => html`<li key=${line}><code>${line}</code></li>`)}</ul>`;
  }
  return html`<dl class="facts">
    <dt>in</dt><dd class="path"><bdi>${plan.workspace}</bdi></dd><dt>task</dt><dd><bdi>${plan.task}</bdi></dd><dt>agents</dt><dd>${plan.agents.join(", ")}</dd><dt>strategy</dt><dd>${plan.strategy}</dd>
    <dt>gates</dt><dd>${plan.gates.map((gate) => html`<div key=${gate.name}><b><bdi>${gate.name}</bdi></b> <code>${gate.shown_as}</code></div>`)}</dd>
    <dt>the agent may</dt><dd>${plan.permissions === "all" ? "do everything" : "edit files and run the gates"}${plan.sandbox === "none" ? "" : `, in ${plan.sandbox}`}</dd>
    <dt>at most</dt><dd>${[plan.laps ? several(plan.laps, "lap") : "any number of laps", plan.seconds ? duration(plan.seconds) : "any time", plan.cost ? money(plan.cost) : "any cost"].join(", ")}</dd>
  </dl>`;
}
