// Marks the current page, and folds a phone's sidebar, which lies over the page, once a page was chosen in it.
const WIDEST_PHONE = 768
const listening = new WeakMap()

export default function ({ parentElement }) {
  const sidebar = parentElement.getRootNode().host?.closest("[data-testid=stSidebar]") ?? document.querySelector("[data-testid=stSidebar]")
  const chosen = (event) => {
    if (window.innerWidth > WIDEST_PHONE || !event.target.closest?.("a")) return
    sidebar.querySelector("[data-testid=stSidebarCollapseButton] button")?.click()
  }
  sidebar?.querySelector(".st-key-page_here p")?.setAttribute("aria-current", "page")
  sidebar?.removeEventListener("click", listening.get(parentElement))
  sidebar?.addEventListener("click", chosen)
  listening.set(parentElement, chosen)
  return () => sidebar?.removeEventListener("click", chosen)
}
