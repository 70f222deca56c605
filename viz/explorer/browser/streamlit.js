// The explorer in the app. Its numbers come as bytes; what steers it, and exact rows, come through a mailbox of the page,
// because a component is called with one value only and the large one should not be sent again for a small one.
import { opened } from "./data.js"
import { Explorer } from "./explorer.js"

const EVENT = "headlight-explorer"
const PATIENCE = 600 // milliseconds to wait for the view before drawing the default
const mounted = new WeakMap()

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  let held = mounted.get(parentElement)
  if (!held) {
    const root = parentElement.querySelector(".headlight")
    const server = { commit: (view) => held.set("view", view), exact: (request) => held.trigger("row", request) }
    held = { explorer: new Explorer(root, server), applied: -1 }
    mounted.set(parentElement, held)
  }
  held.set = setStateValue
  held.trigger = setTriggerValue
  const { explorer } = held
  const { name } = opened(data).header

  const read = () => {
    const { steer, layer } = window.headlight ?? {}
    if (steer?.name !== name) return // it speaks of another text: that one's numbers are on their way
    if (steer.revision > held.applied) explorer.steer(steer.view, data)
    else if (held.started !== data) explorer.receive(data)
    held.applied = steer.revision
    held.started = data
    if (steer.exact) explorer.answer(steer.exact)
    if (layer && held.layer !== layer) explorer.addLayer(layer)
    held.layer = layer
  }

  window.addEventListener(EVENT, read)
  read()
  const timer = setTimeout(() => held.started === data || explorer.receive(data), PATIENCE)
  return () => {
    window.removeEventListener(EVENT, read)
    clearTimeout(timer)
  }
}
