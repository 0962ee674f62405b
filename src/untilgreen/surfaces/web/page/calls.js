// What the screens ask the server for, with the types of its answers.
import { get, path, post } from "./api.js";

/** @typedef {import("./types.js").Schemas} Schemas */

/** @param {...(string | number)} parts */
export const runPath = (...parts) => path("runs", ...parts);

/** @returns {Promise<Schemas["ServerVersion"]>} */
export const version = () => get("/version");
/** @param {Record<string, string | number>} query @returns {Promise<Schemas["RunsPage"]>} */
export const listRuns = (query) => get("/runs", query);
/** @param {string} run @returns {Promise<Schemas["RunView"]>} */
export const showRun = (run) => get(runPath(run));
/** @param {string} run @returns {Promise<Schemas["Course"]>} */
export const courseOf = (run) => get(runPath(run, "progress"));
/** @param {string} run @param {number} lap @returns {Promise<Schemas["LapPage"]>} */
export const showLap = (run, lap) => get(runPath(run, "laps", lap));
/** @param {string} where @param {number} offset @returns {Promise<Schemas["TextPart"]>} */
export const textFrom = (where, offset) => get(where, { offset });
/** @param {string} where @param {number} offset @returns {Promise<Schemas["ActivityPart"]>} */
export const activityFrom = (where, offset) => get(where, { offset });
/** @returns {Promise<Schemas["Inbox"]>} */
export const inbox = () => get("/inbox");
/** @param {string} runs @returns {Promise<Schemas["Comparison"]>} */
export const compare = (runs) => get("/compare", { runs });
/** @param {string} strategies @returns {Promise<Schemas["Backtest"]>} */
export const backtest = (strategies) => get("/backtest", { strategies });
/** @returns {Promise<Schemas["FleetView"]>} */
export const fleet = () => get("/fleet");
/** @returns {Promise<Schemas["Plugins"]>} */
export const plugins = () => get("/plugins");
/** @param {string} workspace @returns {Promise<Schemas["SpecForm"]>} */
export const specForm = (workspace) => get("/spec", { workspace });
/** @param {Partial<Schemas["NewRun"]>} body @returns {Promise<Schemas["Planned"]>} */
export const plan = (body) => post("/plan", body);
/** @param {Partial<Schemas["NewRun"]>} body @returns {Promise<Schemas["Done"]>} */
export const startRun = (body) => post("/runs", body);
/** @param {string} run @param {Partial<Schemas["AnswerBody"]>} body @returns {Promise<Schemas["Done"]>} */
export const answer = (run, body) => post(runPath(run, "answer"), body);
/** @param {string} run @param {Partial<Schemas["LineComment"]>} body @returns {Promise<Schemas["Done"]>} */
export const comment = (run, body) => post(runPath(run, "comment"), body);
/** @param {string} run @param {Partial<Schemas["ForkRun"]>} body @returns {Promise<Schemas["Done"]>} */
export const fork = (run, body) => post(runPath(run, "fork"), body);
/** @param {string} run @param {Partial<Schemas["ApplyRun"]>} body @returns {Promise<Schemas["Applied"]>} */
export const apply = (run, body) => post(runPath(run, "apply"), body);
/** @param {string} run @param {string} verb @param {object} body @returns {Promise<Schemas["Done"]>} */
export const control = (run, verb, body = {}) => post(runPath(run, verb), body);
