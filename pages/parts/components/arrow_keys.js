// Counts the arrow keys, right as 1 and left as -1, and tells the sum. A sum, because of presses that come while the
// server is busy it is told the last alone: none is lost, as those of a button's own shortcut are.
const TAKEN =
  "input, textarea, select, canvas, [contenteditable], [role=listbox], [role=menu], [role=slider], [role=grid]"
const STEPS = { ArrowLeft: -1, ArrowRight: 1 }
const heard = new WeakMap()

export default function ({ parentElement, setStateValue }) {
  const told = heard.get(parentElement)?.told ?? {
    mounted: performance.timeOrigin + performance.now(),
    steps: 0,
  }
  const press = (event) => {
    const step = STEPS[event.key]
    const modified = event.ctrlKey || event.altKey || event.metaKey || event.shiftKey
    if (!step || modified || event.defaultPrevented || event.composedPath()[0].closest?.(TAKEN))
      return
    event.preventDefault()
    told.steps += step
    setStateValue("presses", { ...told })
  }
  document.removeEventListener("keydown", heard.get(parentElement)?.press)
  document.addEventListener("keydown", press)
  heard.set(parentElement, { told, press })
  return () => document.removeEventListener("keydown", press)
}
