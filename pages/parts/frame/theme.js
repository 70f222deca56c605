// Runs again when the theme changes: the server, which colours the charts, is asked for the page
// once more.
/** @import { Mounting } from "../../../viz/explorer/browser/types.js" */

/** @type {WeakMap<HTMLElement, string>} */
const seen = new WeakMap()

/** @param {Mounting<null>} mounting */
export default function ({ parentElement, setTriggerValue }) {
  const before = seen.get(parentElement)
  const now = getComputedStyle(
    /** @type {Element} */ (parentElement.querySelector("span")),
  ).getPropertyValue("--st-background-color")
  seen.set(parentElement, now)
  if (before !== undefined && before !== now) setTriggerValue("changed", true)
}
