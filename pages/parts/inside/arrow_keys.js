// Counts the arrow keys, right as 1 and left as -1, and tells the sum. A sum, because of presses
// that come while the server is busy it is told the last alone: none is lost, as those of a
// button's own shortcut are.
/** @import { Mounting } from "../../../viz/explorer/browser/types.js" */

/** @typedef {{ mounted: number, steps: number }} Told */

const TAKEN =
  "input, textarea, select, canvas, [contenteditable], [role=listbox], [role=menu], [role=slider], [role=grid]"
// Whoever has chosen in a list goes on from there: closed, it has no use for these keys, but tells nobody of them.
const CLOSED_LIST = "input[role=combobox][aria-expanded=false]"
/** @type {Record<string, number>} */
const STEPS = { ArrowLeft: -1, ArrowRight: 1 }
/** @type {WeakMap<HTMLElement, { told: Told, press: (event: KeyboardEvent) => void }>} */
const heard = new WeakMap()

/** @param {Mounting<null>} mounting */
export default function ({ parentElement, setStateValue }) {
  const told = heard.get(parentElement)?.told ?? {
    mounted: performance.timeOrigin + performance.now(),
    steps: 0,
  }
  /** @param {KeyboardEvent} event */
  const press = (event) => {
    const step = STEPS[event.key]
    const modified = event.ctrlKey || event.altKey || event.metaKey || event.shiftKey
    const capturing = event.eventPhase === Event.CAPTURING_PHASE
    if (!step || modified || event.defaultPrevented) return
    if (is(event, CLOSED_LIST) ? !capturing : capturing || is(event, TAKEN)) return
    event.preventDefault()
    told.steps += step
    setStateValue("presses", { ...told })
  }
  const before = heard.get(parentElement)
  if (before) unhear(before.press)
  document.addEventListener("keydown", press)
  document.addEventListener("keydown", press, true)
  heard.set(parentElement, { told, press })
  return () => unhear(press)
}

/** @param {(event: KeyboardEvent) => void} press */
function unhear(press) {
  document.removeEventListener("keydown", press)
  document.removeEventListener("keydown", press, true)
}

/** @type {(event: KeyboardEvent, elements: string) => boolean} */
function is(event, elements) {
  const [target] = event.composedPath()
  return target instanceof Element && Boolean(target.closest(elements))
}
