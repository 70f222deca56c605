// The map of a model: an SVG whose boxes are links to pages, or buttons that the page answers.
/** @import { Mounting } from "../explorer/browser/types.js" */

/**
 * @typedef {object} Map
 * @property {string} svg as viz/architecture/drawing.py draws it
 * @property {string} links the class of the container that holds the page links
 * @property {Record<string, number>} pages the place of the page link that each box presses
 */

/** @param {Mounting<Map>} mounting */
export default function ({ data, parentElement, setTriggerValue }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".map"))
  const page = /** @type {Document | ShadowRoot} */ (root.getRootNode())
  const focused = boxOf(page.activeElement)
  const picture = new DOMParser().parseFromString(data.svg, "image/svg+xml").documentElement
  root.replaceChildren(document.importNode(picture, true))
  const opens = /** @type {SVGElement[]} */ ([...root.querySelectorAll(".opens")])
  for (const box of opens) {
    box.onclick = (event) => {
      if (isForAnotherTab(event)) return
      event.preventDefault()
      open(boxOf(box), data, setTriggerValue)
    }
    box.onkeydown = (event) => {
      if (box.localName === "a" || !["Enter", " "].includes(event.key)) return
      event.preventDefault()
      open(boxOf(box), data, setTriggerValue)
    }
  }
  if (focused) opens.find((box) => boxOf(box) === focused)?.focus()
}

// A page link of Streamlit's makes one entry in the history, of page and address together.
/** @type {(box: string, map: Map, tell: (name: string, value: unknown) => void) => void} */
function open(box, { links, pages }, tell) {
  if (!(box in pages)) return tell("press", box)
  /** @type {NodeListOf<HTMLAnchorElement>} */
  const anchors = document.querySelectorAll(`.${links} a[href]`)
  anchors[pages[box]]?.click()
}

/** @type {(element: Element | null) => string} */
const boxOf = (element) => element?.getAttribute("data-box") ?? ""

/** @type {(event: MouseEvent) => boolean} */
const isForAnotherTab = (event) => event.ctrlKey || event.metaKey || event.shiftKey
