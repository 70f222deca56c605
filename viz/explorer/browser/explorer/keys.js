// The keyboard: what each key does to an explorer.
import { SHOWS } from "./controls.js"
/** @import { Explorer } from "./explorer.js" */

/** @type {Record<string, number>} */
const STEPS = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }
/** @type {Record<string, string>} */
const NEXT_SPECIAL = { shown: "hidden", hidden: "renormalised", renormalised: "shown" }
const TYPED_IN = ["INPUT", "SELECT", "TEXTAREA"]
const PRESSED = ["BUTTON", "SUMMARY"] // by the space bar

/** @type {(explorer: Explorer, event: KeyboardEvent) => void} */
export function press(explorer, event) {
  const target = /** @type {Element} */ (event.composedPath()[0]).tagName
  const modified = event.ctrlKey || event.metaKey || event.altKey
  if (TYPED_IN.includes(target) || modified || !explorer.model || scrolls(explorer, event)) return
  const step = STEPS[event.key]
  if (event.shiftKey && step) return pan(explorer, event, step)
  if (event.key === " " && PRESSED.includes(target)) return
  const act = actionOf(explorer, event.key.length === 1 ? event.key.toLowerCase() : event.key)
  if (!act) return
  event.preventDefault()
  act()
  explorer.speak()
}

// A key that scrolls the table.
/** @type {(explorer: Explorer, event: KeyboardEvent) => boolean} */
const scrolls = (explorer, event) =>
  event.composedPath().includes(explorer.table.host) &&
  (event.key === " " || event.key.startsWith("Arrow"))

/** @type {(explorer: Explorer, event: KeyboardEvent, step: number) => void} */
function pan(explorer, event, step) {
  event.preventDefault()
  const across = ["ArrowLeft", "ArrowRight"].includes(event.key)
  explorer.pan(across ? step : 0, across ? 0 : step)
}

/** @type {(explorer: Explorer, key: string) => (() => void) | false | undefined} */
function actionOf(explorer, key) {
  const { kind, state, view } = explorer
  const { settings } = explorer.controls
  const show = Object.keys(SHOWS)[Number(key) - 1]
  if (show) return () => explorer.change({ show })
  /** @type {(index: number, count: number) => number} */
  const wrapped = (index, count) => (index + STEPS[key] + count) % count
  const toLayer = () => explorer.change({ layer: wrapped(view.layer, kind.layers) })
  const toHead = () => explorer.solo(view.layer, wrapped(state.current, kind.heads))
  /** @type {Record<string, (() => void) | false>} */
  const actions = {
    ArrowUp: toLayer,
    ArrowDown: toLayer,
    ArrowLeft: toHead,
    ArrowRight: toHead,
    " ": () => explorer.toggle(view.layer, state.current),
    a: () => explorer.chooseHeads("every"),
    n: () => explorer.chooseHeads("none"),
    i: () => explorer.chooseHeads("invert"),
    o: () => explorer.chooseHeads("only"),
    l: () => explorer.chooseHeads("layer"),
    s: settings.has("special") && (() => explorer.change({ special: NEXT_SPECIAL[view.special] })),
    w: settings.has("words") && (() => explorer.change({ words: !view.words })),
    "+": () => explorer.zoom("zoomIn"),
    "-": () => explorer.zoom("zoomOut"),
    0: () => explorer.zoom("zoomReset"),
    Escape: () => explorer.change({ query: null, key: null }),
    "?": () => explorer.controls.toggleKeys(),
  }
  return actions[key]
}
