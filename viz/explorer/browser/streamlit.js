// The explorer in the app. Its numbers come as bytes; what steers it, and exact rows, come through
// a mailbox of the page, because a component is called with one value only and the large one should
// not be sent again for a small one.
import { opened } from "./data.js"
import { Explorer } from "./explorer/explorer.js"
/** @import { Held, Mounting, Server, ToldView } from "./types.js" */

const EVENT = "headlight-explorer"
const PATIENCE = 600 // milliseconds to wait for the view before drawing the default
const AGAIN = 5000 // milliseconds without an answer before the server is asked another time
const TIMES = 6
// Milliseconds after which the rest of the page may come, though nothing could be drawn.
const UNSEEN = 4000
// Milliseconds in which a link or Back may lead away: what is told then could undo it.
const LEAVING = 3000
// Milliseconds, beside those of a run, after which a view that the server has not taken is lost.
const UNTAKEN = 1000
const ON_ITS_WAY = 120 // milliseconds until what was told has left the browser
const STARTED = 500 // milliseconds after which the run that a press has asked for is under way
/** @type {WeakMap<HTMLElement, Held>} */
const mounted = new WeakMap()

/** @param {Mounting<Uint8Array<ArrayBuffer>>} mounting */
export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const held = mounted.get(parentElement) ?? mount(parentElement)
  held.gone = false
  held.set = setStateValue
  held.trigger = setTriggerValue
  held.data = data
  held.name = opened(data).header.name
  // Streamlit calls this again for new data, without a call of what it was given to clean up with.
  clearTimeout(held.timer)
  held.timer = setTimeout(() => held.started === data || held.explorer.receive(data), PATIENCE)
  window.addEventListener(EVENT, held.read)
  held.read()
  // It is called for a change of theme as well.
  requestAnimationFrame(() => held.explorer.schedule())
  return () => {
    held.gone = true
    held.explorer.forget() // told now, it would bring the page back that has just been left
    window.removeEventListener(EVENT, held.read)
    clearTimeout(held.timer)
  }
}

/** @type {(parentElement: HTMLElement) => Held} */
function mount(parentElement) {
  const held = /** @type {Held} */ ({
    applied: -1,
    left: -Infinity,
    committed: -Infinity,
    pressed: -Infinity,
    rested: -Infinity,
  })
  setTimeout(() => server.drawn(), UNSEEN)
  // The revision says which of the server's views the visitor's own was made on.
  /** @type {Server} */
  const server = {
    commit: (view) => {
      held.committed = performance.now()
      const message = { ...view, revision: held.applied, told: held.committed }
      held.set("view", message)
      setTimeout(() => tellAgain(held, message), UNTAKEN)
    },
    exact: (request) => {
      held.row = request
      const done = () => held.row !== request || held.explorer.requests.has(request)
      const ask = () => {
        if (!done()) window.headlight?.ask?.("row", request)
      }
      insist(held, () => afterRun(held, () => Math.max(held.pressed, held.committed), ask), done)
    },
    layer: (request) => {
      held.layer = request
      const done = () => held.layer !== request || held.explorer.holds(request)
      const ask = () => {
        if (done()) return
        window.headlight?.ask?.("layer", JSON.stringify({ name: held.name, ...request }))
      }
      insist(held, () => afterRun(held, () => held.pressed, ask), done)
    },
    drawn: () => {
      if (!held.awaited || held.told === held.data) return
      const seen = held.data
      held.told = seen
      insist(
        held,
        () => held.trigger("drawn", true),
        () => !held.awaited || held.data !== seen,
      )
    },
  }
  held.explorer = new Explorer(
    /** @type {HTMLElement} */ (parentElement.querySelector(".headlight")),
    server,
  )
  held.read = () => read(held)
  // What was chosen must not be overtaken by a control outside, or lost to a link.
  /** @type {(event: Event) => boolean} */
  const outside = (event) => !event.composedPath().includes(parentElement)
  window.addEventListener("pointerdown", (event) => outside(event) && held.explorer.flush(), true)
  for (const press of ["pointerdown", "keydown"]) {
    window.addEventListener(
      press,
      (event) => {
        if (outside(event)) held.pressed = performance.now()
      },
      true,
    )
  }
  window.addEventListener("click", (event) => leave(held, event), true)
  const page = location.pathname
  window.addEventListener("popstate", () => {
    if (location.pathname !== page) held.left = performance.now()
  })
  mounted.set(parentElement, held)
  return held
}

// A link is followed once what was chosen just before has left the browser. Told after it, that
// would come from the page that was left, and the server would go back to it.
/** @type {(held: Held, event: MouseEvent) => void} */
function leave(held, event) {
  const target = /** @type {Element} */ (event.target)
  const link = /** @type {HTMLElement | null} */ (target.closest?.("a, [role=menuitem]"))
  if (!link || held.gone) return
  held.left = performance.now()
  const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey
  if (held.passing || !plain || held.left - held.committed > ON_ITS_WAY) return
  event.preventDefault()
  event.stopImmediatePropagation()
  setTimeout(() => {
    held.passing = true
    link.click()
    held.passing = false
  }, ON_ITS_WAY)
}

// Once the run has ended that the last press or change of view, at the time ``since()``, has asked
// for. A question that is pending at the end of a run makes Streamlit take it for one that was
// broken off: what the run left out, as the line of a muted head that was given back, would stay on
// the page.
/** @type {(held: Held, since: () => number, ask: () => void) => void} */
function afterRun(held, since, ask) {
  if (held.gone) return
  if (since() > held.rested) {
    if (isRunning() || performance.now() - since() < STARTED) {
      setTimeout(() => afterRun(held, since, ask), 50)
      return
    }
    held.rested = since()
  }
  ask()
}

function isRunning() {
  const app = /** @type {HTMLElement | null} */ (document.querySelector("[data-testid=stApp]"))
  return app?.dataset.testScriptState === "running"
}

// A view that Streamlit puts into the run of a fragment, as that of a question asked just before,
// is taken and yet neither in the address nor around the explorer: only a run of the page says that
// it is taken. Another view, of the visitor or of the server, has taken its place.
/** @type {(held: Held, message: ToldView, times?: number) => void} */
function tellAgain(held, message, times = TIMES) {
  const replaced = held.committed !== message.told || held.applied !== message.revision
  if (!times || held.gone || replaced || window.headlight?.steer?.taken === message.told) return
  const waits = isRunning() || performance.now() - held.left <= LEAVING
  if (!waits) held.set("view", message)
  setTimeout(() => tellAgain(held, message, waits ? times : times - 1), UNTAKEN)
}

// A message is lost where the connection breaks, or where Streamlit puts two into one that names
// one of their fragments.
/** @type {(held: Held, send: () => void, done: () => boolean, times?: number) => void} */
function insist(held, send, done, times = TIMES) {
  if (!times || held.gone || done()) return
  if (performance.now() - held.left > LEAVING) send()
  setTimeout(() => insist(held, send, done, times - 1), AGAIN)
}

/** @param {Held} held */
function read(held) {
  const { explorer, data, name } = held
  const { steer, layers, exact, measures } = window.headlight ?? {}
  // It speaks of another text: that one's numbers are on their way.
  if (!steer || steer.name !== name || !data) return
  held.awaited = steer.awaited
  if (steer.revision > held.applied) explorer.steer(steer.view, data)
  else if (held.started !== data) explorer.receive(data)
  held.applied = steer.revision
  held.started = data
  if (measures?.name === name) explorer.setMeasures(measures.measures)
  if (exact) explorer.answer(exact)
  explorer.addLayers(layers?.values() ?? [])
}
