// Marks the current page, folds a phone's sidebar once a page was chosen in it, lets the button that opens it scroll away,
// has Back lead where it leads, however soon it is pressed, and a link, whatever is pressed after it or wherever it opens.
const WIDEST_PHONE = 768
const LEAVING = 3000 // milliseconds at most from a link to the page that it leads to
const listening = new WeakMap()

export default function ({ parentElement, data }) {
  const sidebar =
    parentElement.getRootNode().host?.closest("[data-testid=stSidebar]") ??
    document.querySelector("[data-testid=stSidebar]")
  const chosen = (event) => {
    if (window.innerWidth > WIDEST_PHONE || !event.target.closest?.("a")) return
    sidebar.querySelector("[data-testid=stSidebarCollapseButton] button")?.click()
  }
  scrollButton()
  followBack(data.came)
  followLinks()
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
    const header =
      target.dataset?.testid === "stMain" && document.querySelector("[data-testid=stHeader]")
    if (header)
      header.style.transform =
        window.innerWidth > WIDEST_PHONE ? "" : `translateY(${-target.scrollTop}px)`
  }
  document.addEventListener("scroll", scrolled, { capture: true, passive: true })
}

// Streamlit pushes an entry for the page of every run that begins. One that began just before the visitor pressed Back
// would bring the page back that was left, and end Forward. Between Back and the next press nothing leads to a page. Such
// a run also empties the screen, where it comes after that of the page that Back leads to: that page is asked for again.
// And Streamlit does not hear Back before it knows the pages: the first run was then of another address than the present.
// came: the query of the address that the first run went by.
function followBack(came) {
  if (window.headlightFollows) return
  window.headlightFollows = true
  const { pushState } = History.prototype
  let left = false
  const setLeft = (now) => () => {
    left = now
  }
  addEventListener("popstate", setLeft(true))
  for (const press of ["click", "keydown"]) addEventListener(press, setLeft(false), true)
  history.pushState = (state, title, url) => {
    if (left && new URL(url ?? "", location).pathname !== location.pathname) askAgain()
    else pushState.call(history, state, title, url)
  }
  // An address that the server has written since is the last in the history.
  if (window.navigation?.canGoForward && query(came) !== query(location.search)) askAgain()
}

// Until the server has heard of a link, it would put a press after it into one run with it, which draws neither page. Back
// to the page that the link stood on ends the wait.
function followLinks() {
  if (window.headlightLeaves) return
  window.headlightLeaves = true
  let [since, from] = [-Infinity, ""]
  const press = (event) => {
    const link = linkOf(event)
    if (link && event.type === "click")
      [since, from] = leads(link) ? [performance.now(), location.pathname] : [-Infinity, ""]
    const leaving = location.pathname === from && performance.now() - since < LEAVING
    if (link || !leaving || !event.target.closest?.("[data-testid=stMain]")) return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  for (const kind of ["click", "keydown"]) addEventListener(kind, press, true)
  addEventListener("popstate", () => {
    since = -Infinity
  })
  for (const kind of ["pointerover", "pointerdown", "focusin"]) addEventListener(kind, linkOf, true)
}

// The link of an event. To the page that opens at the root Streamlit writes none but a query: opened in a new tab, that
// would lead to the page that it stands on.
function linkOf(event) {
  const link = event.target.closest?.("a[href]")
  const written = link?.getAttribute("href")
  if (written === "" || written?.startsWith("?")) link.setAttribute("href", `./${written}`)
  return link
}

// Whether a press on a link leads to another page, here.
function leads(link) {
  const here =
    link.target !== "_blank" && !link.hasAttribute("download") && link.origin === location.origin
  return here && link.pathname !== location.pathname
}

const query = (text) => new URLSearchParams(text).toString()

// Streamlit answers this event with the page of the address.
function askAgain() {
  setTimeout(() => dispatchEvent(new PopStateEvent("popstate")))
}
