// Marks the current page, folds a phone's sidebar once a page was chosen in it, lets the button
// that opens it scroll away, has Back lead where it leads, however soon it is pressed, and a link,
// whatever is pressed after it or wherever it opens.
/** @import { Mounting } from "../../../viz/explorer/browser/types.js" */

const WIDEST_PHONE = 768
const HEADER = "[data-testid=stHeader]"
const UNSENT = "data-unsent" // on the root element, by bar.js
const COLLAPSE = "[data-testid=stSidebarCollapseButton] button"
const LEAVING = 3000 // milliseconds for which presses wait for the page that a link leads to
const ARRIVING = 30000 // milliseconds at most until that page comes
const FINDING = "[data-testid=stMain] .st-key-finding" // every page has one
const TIMES = 3 // that it is asked for again
const WATCHED = 250 // milliseconds between two looks
const RESTED = 1500 // milliseconds at rest, after which nothing more will come
/** @type {WeakMap<HTMLElement, (event: Event) => void>} */
const listening = new WeakMap()
// The link to another page that was pressed last: when, at which path, whether it names a page
// alone, and what was written since.
const leaving = { since: -Infinity, from: "", bare: false, written: /** @type {URL[]} */ ([]) }
// The page that this was drawn for last, and the one that a link or Back has led away from.
// And the link that led away, until something is pressed on the page that it leads to.
const page = {
  here: "",
  path: "",
  left: "",
  since: -Infinity,
  link: /** @type {HTMLAnchorElement | null} */ (null),
  watch: 0,
  isRepeated: false,
}

/** @param {Mounting<{ here: string; came: string }>} mounting */
export default function ({ parentElement, data }) {
  const root = /** @type {Partial<ShadowRoot>} */ (parentElement.getRootNode())
  const sidebar =
    root.host?.closest("[data-testid=stSidebar]") ??
    document.querySelector("[data-testid=stSidebar]")
  /** @param {Event} event */
  const chosen = (event) => {
    if (window.innerWidth > WIDEST_PHONE || !targetOf(event).closest?.("a")) return
    collapseButton(sidebar)?.click()
  }
  // Streamlit may leave the page that follows scrolled to where the last one's link was.
  if (page.here && page.here !== data.here)
    document.querySelector("[data-testid=stMain]")?.scrollTo({ top: 0 })
  Object.assign(page, { here: data.here, path: location.pathname })
  scrollButton()
  followBack(data.came)
  followLinks()
  sidebar?.querySelector(".st-key-page_here p")?.setAttribute("aria-current", "page")
  const before = listening.get(parentElement)
  if (before) sidebar?.removeEventListener("click", before)
  sidebar?.addEventListener("click", chosen)
  listening.set(parentElement, chosen)
  return () => sidebar?.removeEventListener("click", chosen)
}

// The button stands beside what scrolls, and would lie over a phone's page wherever it is.
function scrollButton() {
  if (window.headlightScrolls) return
  window.headlightScrolls = true
  /** @param {Event} event */
  const scrolled = (event) => {
    const target = targetOf(event)
    if (target.dataset?.testid !== "stMain") return
    const header = /** @type {HTMLElement | null} */ (document.querySelector(HEADER))
    if (header)
      header.style.transform =
        window.innerWidth > WIDEST_PHONE ? "" : `translateY(${-target.scrollTop}px)`
  }
  document.addEventListener("scroll", scrolled, { capture: true, passive: true })
}

// Streamlit pushes an entry for the page of every run that begins. One that began just before the
// visitor pressed Back would bring the page back that was left, and end Forward. Between Back and
// the next press nothing leads to a page. Such a run also empties the screen, where it comes after
// that of the page that Back leads to: that page is asked for again. And Streamlit does not hear
// Back before it knows the pages: the first run was then of another address than the present.
//
// came: the query of the address that the first run went by.
/** @param {string} came */
function followBack(came) {
  if (window.headlightFollows) return
  window.headlightFollows = true
  const { pushState } = History.prototype
  let left = false
  /** @param {boolean} now */
  const setLeft = (now) => () => {
    left = now
  }
  addEventListener("popstate", setLeft(true))
  for (const press of ["click", "keydown"]) addEventListener(press, setLeft(false), true)
  history.pushState = (state, title, url) => {
    const to = new URL(url ?? "", location.href)
    const stays = to.pathname === location.pathname
    /** @param {URL[]} addresses */
    const push = (addresses) => {
      for (const one of addresses) pushState.call(history, state, title, one)
    }
    if (left && !stays) askAgain()
    else if (stays && leaving.bare && isLeaving(ARRIVING)) {
      leaving.written.push(to)
      setTimeout(() => push(leaving.written.splice(0)), LEAVING)
    } else {
      const written = leaving.written.splice(0)
      push(written.at(-1)?.search === to.search ? written.slice(0, -1) : written)
      push([to])
    }
  }
  // An address that the server has written since is the last in the history.
  if (window.navigation?.canGoForward && query(came) !== query(location.search)) askAgain()
}

// Until the server has heard of a link, it would put a press after it into one run with it, which
// draws neither page. Back to the page that the link stood on ends the wait. A component that asks
// by itself waits for the page (`window.headlightLeaving`): the run of its fragment, after that of
// the page, names the page that was left, and the browser takes away what the new one had drawn.
//
// The page that a bare link leads to has its query pushed before its path: on the page that is left that
// would be an entry of its own, and Back would need two steps. What is written there waits for the
// path, and the last of it goes if it is what comes with the path.
function followLinks() {
  if (window.headlightLeaves) return
  window.headlightLeaves = true
  /** @param {Event} event */
  const press = (event) => {
    const link = linkOf(event)
    if (event.isTrusted && page.here !== page.left) page.link = null
    // The bar shows what was typed before it follows a link, by a press of its own.
    const waits = event.isTrusted && document.documentElement.hasAttribute(UNSENT)
    if (link && event.type === "click") {
      const leavesNow = leads(link) && !waits
      const since = leavesNow ? performance.now() : -Infinity
      Object.assign(leaving, { since, from: location.pathname, bare: !link.search })
      if (leavesNow && !page.isRepeated) setOut(link)
    }
    if (link || !isLeaving(LEAVING) || !targetOf(event).closest?.("[data-testid=stMain]")) return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  for (const kind of ["click", "keydown"]) addEventListener(kind, press, true)
  addEventListener("popstate", () => {
    Object.assign(leaving, { since: -Infinity, written: [] })
    if (location.pathname === page.path) page.since = -Infinity
    else if (!page.isRepeated) setOut(null)
  })
  window.headlightLeaving = () =>
    page.here === page.left && performance.now() - page.since < ARRIVING
  for (const kind of ["pointerover", "pointerdown", "focusin"]) addEventListener(kind, linkOf, true)
  watch()
}

// From now on another page is on its way: by a link, or where the address names another by now.
/** @param {HTMLAnchorElement | null} link */
function setOut(link) {
  Object.assign(page, { left: page.here, since: performance.now(), link })
  watch()
}

// For a while, sees to it that the page comes which the address names. What a component asked just
// before may reach the server together with the link, or after the page: then the page that was
// left is drawn once more, or none. Where the server rests and that page is not there, the link is
// pressed again, or the page asked for again.
function watch() {
  let [rested, times] = [0, TIMES]
  const end = performance.now() + ARRIVING
  clearInterval(page.watch)
  page.watch = setInterval(() => {
    if (!times || performance.now() > end) clearInterval(page.watch)
    const { link } = page
    const isLost = link && window.headlightLeaving?.() && link.pathname !== location.pathname
    const isMissing = !document.querySelector(FINDING) || isAnother()
    const app = /** @type {HTMLElement | null} */ (document.querySelector("[data-testid=stApp]"))
    const rests = app?.dataset.testScriptState === "notRunning" && (isLost || isMissing)
    rested = rests ? rested + WATCHED : 0
    if (rested < RESTED) return
    rested = 0
    times -= 1
    if (!isLost) return askAgain()
    page.isRepeated = true
    pressable(link)?.click()
    page.isRepeated = false
  }, WATCHED)
}

// This link, or where the page that it stood on was drawn anew: the same, or one that leads to that page.
/** @type {(link: HTMLAnchorElement) => HTMLAnchorElement | undefined} */
function pressable(link) {
  if (link.isConnected) return link
  /** @type {NodeListOf<HTMLAnchorElement>} */
  const every = document.querySelectorAll("[data-testid=stPageLink] a")
  const links = [...every]
  return (
    links.find((one) => one.href === link.href) ??
    links.find((one) => pathOf(one) === link.pathname)
  )
}

// Whether the page on the screen is not the one that the address names: only to others it has links.
function isAnother() {
  const links = document.querySelectorAll("[data-testid=stSidebar] [data-testid=stPageLink] a")
  return [...links].some((link) => pathOf(link) === location.pathname)
}

/** @param {Element} link */
const pathOf = (link) => new URL(atRoot(link.getAttribute("href") ?? ""), location.href).pathname

// The link of an event. To the page that opens at the root Streamlit writes none but a query:
// opened in a new tab, that would lead to the page that it stands on.
/** @type {(event: Event) => HTMLAnchorElement | null} */
function linkOf(event) {
  /** @type {HTMLAnchorElement | null} */
  const link = targetOf(event).closest?.("a[href]")
  const written = link?.getAttribute("href")
  if (typeof written === "string" && atRoot(written) !== written)
    link?.setAttribute("href", atRoot(written))
  return link
}

/** @type {(written: string) => string} */
const atRoot = (written) => (written === "" || written.startsWith("?") ? `./${written}` : written)

/** @param {number} limit milliseconds */
const isLeaving = (limit) =>
  location.pathname === leaving.from && performance.now() - leaving.since < limit

// Whether a press on a link leads to another page, here.
/** @param {HTMLAnchorElement} link */
function leads(link) {
  const here =
    link.target !== "_blank" && !link.hasAttribute("download") && link.origin === location.origin
  return here && link.pathname !== location.pathname
}

// The document, in which things scroll as well, has no `closest`: every use asks for it.
/** @param {Event} event */
const targetOf = (event) => /** @type {HTMLElement} */ (event.target)

/** @type {(sidebar: Element | null) => HTMLElement | null | undefined} */
const collapseButton = (sidebar) => sidebar?.querySelector(COLLAPSE)

/** @param {string} text */
const query = (text) => new URLSearchParams(text).toString()

// Streamlit answers this event with the page of the address.
function askAgain() {
  setTimeout(() => {
    page.isRepeated = true
    dispatchEvent(new PopStateEvent("popstate"))
    page.isRepeated = false
  })
}
