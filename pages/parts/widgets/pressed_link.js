// Presses a hidden link, once for each time that the server asks: it may be drawn after this.

const LINK = ".st-key-links_of_lead a"
const WATCHED = 50 // milliseconds between two looks
const PATIENCE = 10000 // milliseconds
let pressed = 0

/** @param {{ data: { time: number } }} mounting */
export default function ({ data }) {
  const end = performance.now() + PATIENCE
  const watch = setInterval(() => {
    const link = /** @type {HTMLAnchorElement | null} */ (document.querySelector(LINK))
    const app = /** @type {HTMLElement | null} */ (document.querySelector("[data-testid=stApp]"))
    const rests = app?.dataset.testScriptState === "notRunning"
    if (data.time <= pressed || performance.now() > end) return clearInterval(watch)
    if (!link || !rests) return
    clearInterval(watch)
    pressed = data.time
    link.click()
  }, WATCHED)
  return () => clearInterval(watch)
}
