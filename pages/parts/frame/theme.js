// Runs again when the theme changes: the server, which colours the charts, is asked for the page once more.
const seen = new WeakMap()

export default function ({ parentElement, setTriggerValue }) {
  const before = seen.get(parentElement)
  const now = getComputedStyle(parentElement.querySelector("span")).getPropertyValue(
    "--st-background-color",
  )
  seen.set(parentElement, now)
  if (before !== undefined && before !== now) setTriggerValue("changed", true)
}
