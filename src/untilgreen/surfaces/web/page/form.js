// A form made from a JSON Schema: texts, numbers, choices, lists and tables, with the descriptions as help.
import { html } from "./html.js";

/**
 * @typedef {{type?: string, description?: string, default?: unknown, enum?: string[], properties?: Record<string, Shape | true>,
 *   additionalProperties?: Shape | boolean, items?: Shape, anyOf?: Shape[], then?: Shape}} Shape
 * @typedef {{kind: "text" | "choice" | "flag" | "list" | "table" | "group", help: string, usual: string, numeric: boolean,
 *   structured: boolean, choices: string[], each: Shape, parts: [string, Shape][]}} Part
 * @typedef {{first: Record<string, string[]>, hidden: string[], long: string[], names: Record<string, string>}} Hints
 */

/**
 * What to draw for a shape. Of several forms the one with the most to fill in is taken.
 * @param {Shape} shape
 * @returns {Part}
 */
export function partOf(shape) {
  const forms = shape.anyOf ?? [shape];
  const rich = forms.find((each) => each.properties) ?? forms.find((each) => each.type === "array") ?? forms[0];
  const usual = shape.default ?? rich.default;
  const part = {
    help: shape.description ?? rich.description ?? "",
    usual: Array.isArray(usual) ? usual.join(", ") : usual === undefined || typeof usual === "object" ? "" : String(usual),
    numeric: forms.some((each) => each.type === "integer" || each.type === "number"),
    structured: forms.some((each) => each.type === "object"),
    choices: rich.enum ?? [],
    each: rich.items ?? {},
    parts: /** @type {[string, Shape][]} */ (Object.entries({ ...rich.properties, ...rich.then?.properties }).map(([name, each]) => [name, each === true ? rich.properties[name] : each])),
  };
  if (part.parts.length) return { ...part, kind: "group" };
  if (typeof rich.additionalProperties === "object") return { ...part, kind: "table", each: rich.additionalProperties };
  if (rich.type === "array") return { ...part, kind: "list" };
  if (rich.enum) return { ...part, kind: "choice" };
  return { ...part, kind: rich.type === "boolean" ? "flag" : "text" };
}

/**
 * What was filled in, as the schema wants it; what is empty is left out.
 * @param {Shape} shape
 * @param {any} value
 * @param {string} name
 * @returns {any}
 */
export function collected(shape, value, name = "") {
  const part = partOf(shape);
  if (part.kind === "group") return some(part.parts.map(([key, each]) => [key, collected(each, value?.[key], key)]));
  if (part.kind === "table") return some((value ?? []).filter((row) => row.name.trim()).map((row) => [row.name.trim(), collected(part.each, row.value, row.name)]));
  if (part.kind === "list") {
    const found = (value ?? []).map((each) => collected(part.each, each, name)).filter((each) => each !== undefined);
    return found.length ? found : undefined;
  }
  const text = (value ?? "").trim();
  if (!text) return undefined;
  if (part.kind === "flag") return text === "yes";
  if (part.numeric && /^\d+(\.\d+)?$/.test(text)) return Number(text);
  if (!part.structured || !text.startsWith("{")) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${name}: a table is written as JSON here, such as {"use": "hybrid", "base": 4}.`);
  }
}

/** @param {[string, any][]} pairs */
function some(pairs) {
  const found = pairs.filter(([, each]) => each !== undefined);
  return found.length ? Object.fromEntries(found) : undefined;
}

/**
 * What the form holds, with further values laid over it; values as `collected` gives them.
 * @param {Shape} shape
 * @param {any} before
 * @param {any} values
 * @returns {any}
 */
export function filled(shape, before, values) {
  if (values === undefined) return before;
  const part = partOf(shape);
  if (part.kind === "group") return { ...before, ...Object.fromEntries(part.parts.map(([key, each]) => [key, filled(each, before?.[key], values[key])])) };
  if (part.kind === "table") return Object.entries(values).map(([name, each]) => ({ name, value: filled(part.each, undefined, each) }));
  if (part.kind === "list") return values.map((each) => filled(part.each, undefined, each));
  if (part.kind === "flag") return values ? "yes" : "no";
  return typeof values === "object" ? JSON.stringify(values) : String(values);
}

const label = (name) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");

/**
 * One field, and all that is in it.
 * @param {{name: string, path: string, shape: Shape, value: any, onChange: (value: any) => void, hints: Hints, given: string[], title?: string}} given
 */
export function Field({ name, path, shape, value, onChange, hints, given, title = label(name) }) {
  const part = partOf(shape);
  const shared = { path, part, value, onChange, hints, given };
  const help = part.help ? html`<span class="help" id="${path}-help">${part.help}</span>` : null;
  if (part.kind === "group") return html`<fieldset><legend>${title}</legend>${help}<${Group} ...${shared} /></fieldset>`;
  if (part.kind === "table") return html`<fieldset><legend>${title}</legend>${help}<${Table} ...${shared} title=${title} /></fieldset>`;
  if (part.kind === "list") return html`<fieldset><legend>${title}</legend>${help}${part.usual && !value?.length ? html`<span class="help">Default: ${part.usual}</span>` : null}<${List} ...${shared} name=${name} title=${title} /></fieldset>`;
  return html`<div class="field"><label for=${path}>${title}</label><${Control} ...${shared} name=${name} id=${path} described=${part.help ? `${path}-help` : undefined} />${help}</div>`;
}

/** One text, number, choice, or yes or no. */
function Control({ name, path, part, value, onChange, hints, given, id, described, title }) {
  const usual = given.some((each) => each === path || each.startsWith(`${path}.`)) ? "from the spec" : part.usual;
  const change = (event) => onChange(event.target.value);
  const shared = { id, value: value ?? "", "aria-describedby": described, "aria-label": title };
  if (part.kind === "choice" || part.kind === "flag") {
    const choices = part.kind === "flag" ? ["yes", "no"] : part.choices;
    const shown = usual === "true" ? "yes" : usual === "false" ? "no" : usual;
    return html`<select ...${shared} onChange=${change}><option value="">${shown ? `default: ${shown}` : "default"}</option>${choices.map((each) => html`<option key=${each} value=${each}>${each}</option>`)}</select>`;
  }
  if (hints.long.includes(name)) return html`<textarea rows="3" ...${shared} placeholder=${usual} onInput=${change}></textarea>`;
  const names = hints.names[name];
  return html`<input ...${shared} placeholder=${usual} inputmode=${part.numeric ? "decimal" : undefined} list=${names ? `names-${names}` : undefined} onInput=${change} />`;
}

/** The parts of a table of settings: the most used ones first, the others folded. */
export function Group({ path, part, value, onChange, hints, given }) {
  const usual = path.replace(/\[[^\]]*\]/g, ".*");
  const first = hints.first[usual] ?? [];
  const known = Object.fromEntries(part.parts);
  const rest = part.parts.filter(([name]) => !first.includes(name) && !hints.hidden.includes(path ? `${usual}.${name}` : name));
  const field = (name) => html`<${Field} key=${name} name=${name} path=${path ? `${path}.${name}` : name} shape=${known[name]} value=${value?.[name]} onChange=${(each) => onChange({ ...value, [name]: each })} hints=${hints} given=${given} />`;
  return html`<div class="fields">${(first.length ? first : rest.map(([name]) => name)).map(field)}</div>
    ${first.length && rest.length ? html`<details class="more"><summary>${path ? "More options" : "More settings"}</summary><div class="fields">${rest.map(([name]) => field(name))}</div></details>` : null}`;
}

/** Any number of texts or choices, in order. */
function List({ name, path, part, value, onChange, hints, given, title }) {
  const rows = value ?? [];
  const each = partOf(part.each);
  const put = (place, text) => onChange(rows.map((row, at) => (at === place ? text : row)));
  return html`${rows.map((row, place) => html`<div key=${place} class="entry"><${Control} name=${name} path=${`${path}[${place}]`} part=${each} value=${row} onChange=${(text) => put(place, text)} hints=${hints} given=${given} title="${title} ${place + 1}" /><button type="button" class="bare" aria-label="Remove ${title} ${place + 1}" onClick=${() => onChange(rows.filter((_, at) => at !== place))}>×</button></div>`)}
    <button type="button" class="small" onClick=${() => onChange([...rows, ""])}>Add<span class="unseen"> to ${title}</span></button>`;
}

/** Any number of named entries. */
function Table({ path, part, value, onChange, hints, given, title }) {
  const rows = value ?? [];
  const each = partOf(part.each);
  const put = (place, change) => onChange(rows.map((row, at) => (at === place ? { ...row, ...change } : row)));
  return html`${rows.map((row, place) => html`<div key=${place} class="entry ${each.kind === "group" ? "tall" : ""}">
      <label class="field">Name <input value=${row.name} onInput=${(event) => put(place, { name: event.target.value })} /></label>
      ${each.kind === "group" ? html`<${Group} path=${`${path}[${place}]`} part=${each} value=${row.value} onChange=${(found) => put(place, { value: found })} hints=${hints} given=${given} />` : html`<label class="field">Value <${Control} name="value" path=${`${path}[${place}]`} part=${each} value=${row.value} onChange=${(found) => put(place, { value: found })} hints=${hints} given=${given} /></label>`}
      <button type="button" class="bare" aria-label="Remove ${title} ${row.name || place + 1}" onClick=${() => onChange(rows.filter((_, at) => at !== place))}>×</button></div>`)}
    <button type="button" class="small" onClick=${() => onChange([...rows, { name: "", value: undefined }])}>Add<span class="unseen"> to ${title}</span></button>`;
}
