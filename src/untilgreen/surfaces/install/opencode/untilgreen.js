// installed by untilgreen: exec @QUOTED@ hook stop --agent opencode --deadline @SECONDS@@QUOTED_STATE_DIR@
// Loops in OpenCode's sessions: reports what happens to `untilgreen hook`, and does what it answers.
// All decisions are made there; without the program, nothing happens.
import { spawn } from "node:child_process"

const PROGRAM = @PROGRAM@
const SECONDS = { idle: @SECONDS@, error: @SECONDS@, prompt: @PROMPT_SECONDS@, deleted: @QUICK_SECONDS@ }
const STATE_DIR = @STATE_DIR@
const COMMANDS = ["ralph", "cancel-ralph", "untilgreen"]

export const Untilgreen = async ({ client, directory }) => {
  const first = Symbol.for(`untilgreen ${directory}`)
  globalThis[first] ??= import.meta.url
  if (globalThis[first] !== import.meta.url) return {} // installed twice, for the user and for the project

  const prompts = new Map() // how many prompts a person wrote, by session
  const failures = new Map() // the error that a session's turn ended with
  const gates = new Map() // the call that runs a session's gates

  const ask = (event, session, more = {}) => {
    const { child, answer } = run(event, { sessionID: session, cwd: directory, timestamp: Date.now(), ...more })
    if (child && (event === "idle" || event === "error")) gates.set(session, child)
    return answer
  }

  const toast = async (message, variant) => {
    if (!message) return
    try {
      await client.tui.showToast({ body: { title: "untilgreen", message, variant } })
    } catch {}
  }

  const prompted = async (session, text, parts) => {
    prompts.set(session, (prompts.get(session) ?? 0) + 1)
    if (!/^\s*\/(ralph|cancel-ralph|untilgreen)\b/.test(text)) gates.get(session)?.kill() // a person is waiting
    const answer = await ask("prompt", session, { prompt: text })
    if (answer.refused) {
      await toast(answer.refused, "warning")
      throw new Error(`untilgreen: ${answer.refused}`)
    }
    await toast(answer.toast, "info")
    if (answer.brief) replace(parts, answer.brief)
  }

  const ended = async (session) => {
    const before = prompts.get(session) ?? 0
    const { data } = await client.session.messages({ path: { id: session } })
    const answers = (data ?? []).filter((each) => each.info.role === "assistant")
    const asked = (data ?? []).filter((each) => each.info.role === "user").at(-1)?.info
    const last = answers.at(-1)
    const error = failures.get(session) ?? last?.info.error
    failures.delete(session)
    const answer = error
      ? await ask("error", session, { error })
      : await ask("idle", session, { text: last ? written(last.parts) : "" })
    await toast(answer.toast, "info")
    const untouched = () => before === (prompts.get(session) ?? 0)
    if (answer.again && untouched()) setTimeout(() => untouched() && resume(session, asked), answer.again * 1000)
    if (answer.brief && untouched()) await prompt(session, answer.brief, asked)
  }

  const prompt = (session, text, asked) => {
    const parts = [{ type: "text", text }]
    return client.session.promptAsync({ path: { id: session }, body: { agent: asked?.agent, model: asked?.model, parts } })
  }

  const resume = async (session, asked) => {
    const answer = await ask("prompt", session, { prompt: "/untilgreen go" })
    await toast(answer.toast || answer.refused, "info")
    if (answer.brief) await prompt(session, answer.brief, asked)
  }

  return {
    "command.execute.before": async (input, output) => {
      if (!COMMANDS.includes(input.command)) return
      await prompted(input.sessionID, `/${input.command} ${input.arguments}`, output.parts)
    },
    "chat.message": async (input, output) => {
      await prompted(input.sessionID, written(output.parts), output.parts)
    },
    event: async ({ event }) => {
      const session = event.properties?.sessionID ?? event.properties?.info?.id
      if (event.type === "session.error" && session) failures.set(session, event.properties.error)
      if (event.type === "session.idle") ended(session).catch(() => {})
      if (event.type === "session.deleted") {
        gates.get(session)?.kill()
        ask("deleted", session).catch(() => {})
      }
    },
  }
}

function written(parts) {
  const texts = parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
  return texts.map((part) => part.text).join("\n")
}

function replace(parts, text) {
  const own = parts.find((part) => part.type === "text")
  if (own) own.text = text
  else parts.push({ type: "text", text })
}

function run(event, payload) {
  const limit = SECONDS[event]
  const words = ["hook", event, "--agent", "opencode", "--deadline", String(limit), ...STATE_DIR]
  let child
  try {
    child = spawn(PROGRAM, words, { cwd: payload.cwd, stdio: ["pipe", "pipe", "ignore"] })
  } catch {
    return { answer: Promise.resolve({}) } // the program is gone: never hold anyone up
  }
  const answer = new Promise((resolve) => {
    const chunks = []
    const timer = setTimeout(() => child.kill(), limit * 1000)
    const done = () => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(Buffer.concat(chunks).toString() || "{}"))
      } catch {
        resolve({})
      }
    }
    child.on("error", done)
    child.on("close", done)
    child.on("exit", () => setTimeout(done, 500)) // another process may keep its output open
    child.stdout.on("data", (chunk) => chunks.push(chunk))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(payload))
  })
  return { child, answer }
}
