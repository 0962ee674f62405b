// Numbers and times as people read them.

/** @param {number} seconds */
export function duration(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m${whole % 60 ? `${whole % 60}s` : ""}`;
  return `${Math.floor(whole / 3600)}h${Math.floor((whole % 3600) / 60) ? `${Math.floor((whole % 3600) / 60)}m` : ""}`;
}

/**
 * A short time with its tenths, for an axis whose steps are short.
 * @param {number} seconds
 */
export const exactly = (seconds) => (seconds % 1 && seconds < 60 ? `${seconds.toFixed(1)}s` : duration(seconds));

/** @param {number} moment seconds since the epoch */
export function ago(moment) {
  const seconds = Date.now() / 1000 - moment;
  if (seconds < 5) return "just now";
  if (seconds < 3600) return `${duration(seconds < 60 ? seconds : Math.floor(seconds / 60) * 60)} ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)}h ago`;
  const days = Math.floor(seconds / 86400);
  if (days < 7) return `${several(days, "day")} ago`;
  const date = new Date(moment * 1000);
  const year = date.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  return date.toLocaleDateString(undefined, { day: "numeric", month: "short", year });
}

/** @param {number} dollars */
export const money = (dollars) => `$${dollars.toFixed(2)}`;
/** @param {number} count @param {string} noun */
export const several = (count, noun) => `${count.toLocaleString()} ${noun}${count === 1 ? "" : "s"}`;
/** @param {number | null} moment */
export const when = (moment) =>
  moment ? new Date(moment * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }) : "";
/** @param {number} share */
export const percent = (share) => `${Math.round(share * 100)}%`;

/**
 * A count that may be large, short.
 * @param {number} count
 */
export function short(count) {
  if (count < 10_000) return count.toLocaleString();
  return count < 1_000_000 ? `${Math.round(count / 1000)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

/**
 * `fail:3~` as a sign, a word and a class.
 * @param {string} text
 */
export function cell(text) {
  const flaky = text.endsWith("~");
  const [status, count] = text.replace("~", "").split(":");
  const signs = { pass: "✓", fail: "✕", error: "!", skip: "·" };
  const words = { pass: "passed", fail: count ? `${count} failing` : "failing", error: "broken", skip: "did not run" };
  const tones = { pass: "good", fail: "bad", error: "odd", skip: "faint" };
  return {
    sign: (status === "fail" && count ? count : signs[status]) + (flaky ? "~" : ""),
    words: words[status] + (flaky ? ", flaky" : ""),
    tone: tones[status],
  };
}

const TONES = {
  converged: "good",
  accepted: "good",
  claimed: "odd",
  exhausted: "odd",
  cancelled: "quiet",
  stuck: "bad",
  blocked: "bad",
  crashed: "bad",
  damaged: "bad",
  waiting: "ask",
  paused: "quiet",
};
/** @param {string} status */
export const tone = (status) => TONES[status] ?? "plain";

/**
 * An agent's name, short: a command by its program.
 * @param {string} name
 */
export function agentName(name) {
  const [program, ...rest] = name.startsWith("cmd:") ? name.slice(4).trim().split(" ") : [name];
  const whole = [program.replace(/^['"]/, "").split("/").pop(), ...rest].join(" ");
  return whole.length > 32 ? `${whole.slice(0, 31)}…` : whole;
}

/**
 * The end of a path, which tells most.
 * @param {string} path
 */
export const folderName = (path) => path.split("/").filter(Boolean).pop() ?? path;
