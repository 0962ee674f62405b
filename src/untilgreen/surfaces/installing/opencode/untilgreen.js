// installed by untilgreen: exec @QUOTED@ hook stop --agent opencode --deadline @SECONDS@
// Loops inside of OpenCode's sessions: tells `untilgreen hook` what happens, and does what it answers.
// All decisions are made there; without the program nothing happens.
import { spawn } from "node:child_process"

const PROGRAM = @PROGRAM@
const SECONDS = { idle: @SECONDS@, error: @SECONDS@, prompt: @PROMPT_SECONDS@, deleted: @QUICK_SECONDS@ }
const COMMANDS = ["ralph", "cancel-ralph", "untilgreen"]

export const Untilgreen = async ({ client, directory }) => {
  const first = Symbol.for(`untilgreen ${directory}`)
  globalThis[first] ??= import.meta.url
  if (globalThis[first] !== import.meta.url) return {} // installed twice, for a person and for a project

  const prompts = new Map() // how often a person wrote something, by session
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
    if (!/^\s*\/(ralph|cancel-ralph|untilgreen)\b/.test(text)) gates.get(session)?.kill() // a person waits
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
    if (!answer.brief || before !== (prompts.get(session) ?? 0)) return
    const parts = [{ type: "text", text: answer.brief }]
    await client.session.promptAsync({ path: { id: session }, body: { agent: asked?.agent, model: asked?.model, parts } })
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
  const words = ["hook", event, "--agent", "opencode", "--deadline", String(limit)]
  let child
  try {
    child = spawn(PROGRAM, words, { cwd: payload.cwd, stdio: ["pipe", "pipe", "ignore"] })
  } catch {
    return { answer: Promise.resolve({}) } // it is gone, and nobody is kept from anything
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
    child.on("exit", () => setTimeout(done, 500)) // somebody else may keep its output open
    child.stdout.on("data", (chunk) => chunks.push(chunk))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(payload))
  })
  return { child, answer }
}
