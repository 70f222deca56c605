// Marks the current page, folds a phone's sidebar once a page was chosen in it, lets the button that opens it scroll away,
// and lets Back leave a page for good.
const WIDEST_PHONE = 768
const listening = new WeakMap()

export default function ({ parentElement }) {
  const sidebar = parentElement.getRootNode().host?.closest("[data-testid=stSidebar]") ?? document.querySelector("[data-testid=stSidebar]")
  const chosen = (event) => {
    if (window.innerWidth > WIDEST_PHONE || !event.target.closest?.("a")) return
    sidebar.querySelector("[data-testid=stSidebarCollapseButton] button")?.click()
  }
  scrollButton()
  leaveForGood()
  sidebar?.querySelector(".st-key-page_here p")?.setAttribute("aria-current", "page")
  sidebar?.removeEventListener("click", listening.get(parentElement))
  sidebar?.addEventListener("click", chosen)
  listening.set(parentElement, chosen)
  return () => sidebar?.removeEventListener("click", chosen)
}

// The button stands beside what scrolls, and would lie over a phone's page wherever it is.
function scrollButton() {
  if (window.headlightScrolls) return
  window.headlightScrolls = true
  const scrolled = ({ target }) => {
    const header = target.dataset?.testid === "stMain" && document.querySelector("[data-testid=stHeader]")
    if (header) header.style.transform = window.innerWidth > WIDEST_PHONE ? "" : `translateY(${-target.scrollTop}px)`
  }
  document.addEventListener("scroll", scrolled, { capture: true, passive: true })
}

// Streamlit pushes an entry for the page of every run that begins. One that began just before the visitor pressed Back
// would bring the page back that was left, and end Forward. Between Back and the next press nothing leads to a page.
function leaveForGood() {
  if (window.headlightLeaves) return
  window.headlightLeaves = true
  const { pushState } = History.prototype
  let left = false
  addEventListener("popstate", () => (left = true))
  for (const press of ["click", "keydown"]) addEventListener(press, () => (left = false), true)
  history.pushState = (state, title, url) => {
    if (left && new URL(url ?? "", location).pathname !== location.pathname) return
    pushState.call(history, state, title, url)
  }
}
