// Fits the figures of the page to the width of a sheet before the browser prints it. No script runs
// between then and the paper, and a canvas that is drawn anew at that moment prints blank in
// Chromium. So each figure keeps the width that it has on the screen, with all that is drawn in it,
// and is made smaller as a whole.
const PRINTING = "data-printing" // on the root element: the style sheet has the sheet's width
const FIGURES = ["stVegaLiteChart", "stPlotlyChart", "stDataFrame"]
  .map((name) => `[data-testid=${name}]`)
  .join(", ")
const COMPONENTS = "[data-testid^=stBidiComponent], [data-testid^=stBidiComponent] *"
const DRAWN = ".headlight, .compared" // the pages' own figures, each in a shadow root
/** @type {Map<HTMLElement, [width: string, zoom: string]>} */
const kept = new Map() // what a figure's own style was

export default function () {
  window.addEventListener("beforeprint", begin)
  window.addEventListener("afterprint", end)
  return () => {
    end()
    window.removeEventListener("beforeprint", begin)
    window.removeEventListener("afterprint", end)
  }
}

/** @type {() => HTMLElement[]} */
function figures() {
  const roots = [...document.querySelectorAll(COMPONENTS)].map((element) =>
    element.shadowRoot?.querySelector(DRAWN),
  )
  const all = [...document.querySelectorAll(FIGURES), ...roots]
  return /** @type {HTMLElement[]} */ (all.filter((figure) => figure?.clientWidth))
}

function begin() {
  end()
  const widths = new Map(figures().map((figure) => [figure, widthOf(figure)]))
  document.documentElement.setAttribute(PRINTING, "")
  for (const [figure, width] of widths) {
    kept.set(figure, [figure.style.width, figure.style.zoom])
    const root = /** @type {ShadowRoot} */ (figure.getRootNode())
    const room = (figure.parentElement ?? root.host).clientWidth
    figure.classList.add("printing")
    figure.style.width = `${width}px`
    figure.style.zoom = String(Math.min(1, room / width))
  }
}

// Of the explorer, without the settings beside it, which do not print.
/** @type {(figure: HTMLElement) => number} */
function widthOf(figure) {
  return figure.querySelector(".views")?.clientWidth ?? figure.clientWidth
}

function end() {
  document.documentElement.removeAttribute(PRINTING)
  for (const [figure, [width, zoom]] of kept) {
    figure.classList.remove("printing")
    Object.assign(figure.style, { width, zoom })
  }
  kept.clear()
}
