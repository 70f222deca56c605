// The explorer in a file of its own: nothing is asked of anybody.
import { Explorer } from "./explorer/explorer.js"

/** @type {(id: string) => string} */
const contentOf = (id) => document.getElementById(id)?.textContent.trim() ?? ""

const bytes = Uint8Array.from(atob(contentOf("packed")), (letter) => letter.charCodeAt(0))
const root = /** @type {HTMLElement} */ (document.querySelector(".headlight"))
const explorer = new Explorer(root)
explorer.steer(JSON.parse(contentOf("view")), bytes)
explorer.setMeasures(JSON.parse(contentOf("measures")))
