// The explorer in a file of its own: nothing is asked of anybody.
import { Explorer } from "./explorer.js"

const bytes = Uint8Array.from(
  atob(document.getElementById("packed").textContent.trim()),
  (letter) => letter.charCodeAt(0),
)
new Explorer(document.querySelector(".headlight")).steer(
  JSON.parse(document.getElementById("view").textContent),
  bytes,
)
