// Counts the arrow keys, right as 1 and left as -1, and tells the sum. A sum, because of presses
// that come while the server is busy it is told the last alone: none is lost, as those of a
// button's own shortcut are.
/** @import { Mounting } from "../../../viz/explorer/browser/types.js" */

/** @typedef {{ mounted: number, steps: number }} Told */

// A closed list is not written in: whoever has just chosen in it goes on from there.
const TAKEN =
  "input:not([role=combobox][aria-expanded=false]), textarea, select, canvas, [contenteditable], " +
  "[role=listbox], [role=menu], [role=slider], [role=grid]"
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
    if (!step || modified || event.defaultPrevented || takesKeys(event.composedPath()[0])) return
    event.preventDefault()
    told.steps += step
    setStateValue("presses", { ...told })
  }
  const before = heard.get(parentElement)
  if (before) document.removeEventListener("keydown", before.press)
  document.addEventListener("keydown", press)
  heard.set(parentElement, { told, press })
  return () => document.removeEventListener("keydown", press)
}

/** @param {EventTarget} target */
const takesKeys = (target) => target instanceof Element && Boolean(target.closest(TAKEN))
