// The bar at the top of every page: what is read, by which model, examples, what to share, and
// files to take away. What is typed stays in the field until it is shown: Enter or Show does that,
// Shift + Enter begins a new line. So does a link to another page, which then leads on with it.
import { el } from "../../../viz/explorer/browser/element.js"
/** @import { Mounting } from "../../../viz/explorer/browser/types.js" */

/**
 * What bar.py shows.
 * @typedef {object} Shown
 * @property {string | null} text null: the page reads none, and the bar has menus alone
 * @property {string | null} pair
 * @property {Option[]} models
 * @property {string} model
 * @property {Option[]} devices
 * @property {string} device
 * @property {string[]} examples
 * @property {number} longest characters of a text
 */
/** @typedef {[value: string, label: string]} Option */
/** @typedef {{ text: string, pair: string }} Message */
/** @typedef {{ button: HTMLButtonElement, label: string, explained: string }} File */

// On the root element: the style sheet of the page greys what is of the text before.
const UNSENT = "data-unsent"
const FILE = "[data-testid=stDownloadButton] button"
// The page's own download buttons, which are hidden.
const FILES = "[class*=st-key-files] [data-testid=stElementContainer]:not(.st-key-share_picture *)"
const SHARED_PICTURE = ".st-key-share_picture [data-testid=stElementContainer]"
const WATCHED = 400 // milliseconds
const PAGE_LINK = "[data-testid=stPageLink] a"
const LONGEST_ANSWER = 10000 // milliseconds
const UNANSWERED = 2000 // for so long the server rests, and has not shown what was sent to it
const TIMES = 2 // that it is sent again
/** @type {[string, string]} */
// In an address: the finding and the picture with nothing around them.
const ALONE = ["view", "picture"]
// The last of the models: any other, by its id. No checkpoint is called so.
/** @type {Option} */
const OTHER = [":other", "Another model …"]
const LONGEST_ID = 200 // characters
const NEAR_THE_END = 0.8 // of the longest text: from there on characters are counted
/** @type {WeakMap<HTMLElement, Bar>} */
const held = new WeakMap()
/** @type {Map<string, string>} */
// What was typed and not shown, by field: it goes along to other pages, whatever text they show.
const drafts = new Map()

/** @param {Mounting<Shown>} mounting */
export default function ({ data, parentElement, setTriggerValue }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".bar"))
  const bar = held.get(parentElement) ?? new Bar(root)
  held.set(parentElement, bar)
  bar.tell = setTriggerValue
  bar.receive(data)
  document.addEventListener("pointerdown", bar.closeFromOutside, true)
  document.addEventListener("click", bar.showFirst, true)
  return () => {
    document.removeEventListener("pointerdown", bar.closeFromOutside, true)
    document.removeEventListener("click", bar.showFirst, true)
    clearInterval(bar.waiting)
    clearInterval(bar.following)
    document.documentElement.removeAttribute(UNSENT)
  }
}

// A list under a button. What fills it is asked for anew whenever it opens, and, of what the page
// offers, while it is open: a page that is still computing has its files later.
class Menu {
  /**
   * @param {string} name
   * @param {Bar} bar
   * @param {(list: HTMLElement) => void} fill
   */
  constructor(name, bar, fill) {
    this.watch = 0
    this.offered = ""
    this.list = el("div", { className: "list", role: "group", "aria-label": name })
    this.summary = el("summary", {}, name)
    this.host = el("details", { className: `menu ${name.toLowerCase()}` }, this.summary, this.list)
    this.host.addEventListener("toggle", () => {
      clearInterval(this.watch)
      if (!this.host.open) return
      for (const other of bar.menus) if (other !== this) other.close(false)
      this.offered = ""
      this.refill(fill)
      this.watch = setInterval(() => this.refill(fill), WATCHED)
    })
    this.host.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.host.open) return
      event.stopPropagation() // on a phone it would close what the menu stands in, too
      this.close()
    })
  }

  /** @param {(list: HTMLElement) => void} fill */
  refill(fill) {
    if (!this.host.isConnected) return clearInterval(this.watch)
    const now = JSON.stringify(
      [...offered(FILES), ...offered(SHARED_PICTURE)].map(({ button, label }) => [
        label,
        button.disabled,
      ]),
    )
    if (now === this.offered) return
    this.offered = now
    fill(this.list)
    this.place()
  }

  // The list stays within the window, whatever its button's place.
  place() {
    this.list.style.right = ""
    const { left } = this.list.getBoundingClientRect()
    if (left < 8) this.list.style.right = `${left - 8}px`
  }

  close(focus = true) {
    if (!this.host.open) return
    this.host.open = false
    if (focus) this.summary.focus()
  }
}

// The files that elements of the page offer: a hidden button, and the text after it that says what
// the file is. While a run puts its elements in their places, that of an earlier one may stand
// behind a button, the same file twice.
/** @type {(selector: string) => File[]} */
function offered(selector) {
  const elements = [...document.querySelectorAll(selector)]
  /** @type {Map<string, File>} */
  const files = new Map()
  elements.forEach((element, place) => {
    const button = /** @type {HTMLButtonElement | null} */ (element.querySelector(FILE))
    const label = button?.textContent.trim() ?? ""
    if (!button || files.has(label)) return
    const note = elements.slice(place + 1).find((other) => !other.querySelector(FILE))
    files.set(label, { button, label, explained: note?.textContent.trim() ?? "" })
  })
  return [...files.values()]
}

// One text: a line high, and as high as its text while it is being edited, over what lies below.
class Field {
  /**
   * @param {"text" | "pair"} name
   * @param {string} label
   * @param {string} hint
   * @param {Bar} bar
   */
  constructor(name, label, hint, bar) {
    this.name = name
    this.bar = bar
    /** @type {string | null} */
    this.pageText = null
    /** @type {string | null} */
    this.sent = null
    this.folded = false
    this.input = el("textarea", {
      rows: 1,
      spellcheck: false,
      "aria-label": label,
      placeholder: label,
      title: hint,
    })
    this.more = el("span", { className: "more", textContent: "…", "aria-hidden": "true" })
    this.host = el("div", { className: "field" }, this.input, this.more)
    this.input.addEventListener("input", () => this.typed())
    for (const moved of ["focus", "blur", "pointerdown"])
      this.input.addEventListener(moved, () => this.unfold())
    this.input.addEventListener("keydown", (event) => this.press(event))
  }

  // A text from the server takes the place of a draft only where it is not the one that was sent
  // from here.
  /** @param {string} text */
  receive(text) {
    if (text === this.pageText) return
    const first = this.pageText === null
    const own = text === this.sent
    this.pageText = text
    const draft = drafts.get(this.name)
    if (first && draft !== undefined) this.input.value = draft
    else if (!own) this.input.value = text
    if (!first && !own) drafts.delete(this.name)
    this.sent = null
    this.fit()
  }

  get unsent() {
    return this.pageText !== null && this.input.value !== (this.sent ?? this.pageText)
  }

  // What was sent and is not shown is a draft again.
  takeBack() {
    this.sent = null
    if (this.unsent) drafts.set(this.name, this.input.value)
  }

  // All of the text is to be seen, over what lies below: until it has been sent.
  unfold(open = true) {
    this.folded = !open
    this.fit()
    this.bar.mark()
  }

  typed() {
    this.folded = false
    if (this.unsent) drafts.set(this.name, this.input.value)
    else drafts.delete(this.name)
    this.fit()
    this.bar.mark()
  }

  // Enter in the middle of composing a character, as in Japanese, only ends that.
  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) {
      if (this.folded && event.key.startsWith("Arrow")) this.unfold()
      return
    }
    event.preventDefault()
    this.bar.show()
  }

  fit() {
    const { input } = this
    const root = /** @type {Document | ShadowRoot} */ (input.getRootNode())
    const open = root.activeElement === input && !this.folded
    this.host.classList.toggle("open", open)
    input.style.height = ""
    const cut = input.scrollWidth > input.clientWidth + 1
    if (open) input.style.height = `${Math.min(input.scrollHeight + 2, window.innerHeight * 0.6)}px`
    else input.scrollLeft = input.scrollTop = 0
    this.more.hidden = open || !cut
  }
}

class Bar {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root
    /** @type {Mounting<Shown>["setTriggerValue"]} */
    this.tell = () => {}
    /** @type {string[]} */
    this.texts = []
    /** @type {Map<HTMLSelectElement, string>} */
    this.written = new Map() // the options of each, to know when they changed
    this.longest = this.notes = this.timer = this.waiting = this.following = 0
    this.text = new Field("text", "Text", "Enter shows it, Shift + Enter begins a new line.", this)
    this.pair = new Field(
      "pair",
      "Second text",
      "Read after the first, as a segment of its own; it may be empty.",
      this,
    )
    this.go = el("button", {
      type: "button",
      className: "go",
      textContent: "Show",
      onclick: () => this.show(),
    })
    this.status = el("span", { className: "status", role: "status" })
    this.model = el("select", {
      "aria-label": "Model",
      onchange: () => this.chooseModel(),
    })
    this.chosen = ""
    this.other = el("input", {
      type: "text",
      className: "other",
      hidden: true,
      maxLength: LONGEST_ID,
      spellcheck: false,
      autocapitalize: "none",
      "aria-label": "Hugging Face id",
      placeholder: "gpt2 or owner/name, then Enter",
      title: "Looks for this model on the Hugging Face hub, on the page Models.",
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.pressInOther(event),
      onblur: () => this.askForOther(false),
    })
    this.device = el("select", {
      "aria-label": "Device",
      className: "device",
      onchange: () => this.tell("device", this.device.value),
    })
    this.examples = new Menu("Examples", this, (list) =>
      list.replaceChildren(...this.texts.map((text) => this.example(text))),
    )
    this.share = new Menu("Share", this, (list) => list.replaceChildren(...this.shared()))
    this.download = new Menu("Download", this, (list) => list.replaceChildren(...this.files(FILES)))
    this.menus = [this.examples, this.share, this.download]
    this.folded = el("div", { className: "folded" }, ...this.menus.map((menu) => menu.host))
    this.more = el("button", {
      type: "button",
      className: "others",
      textContent: "⋯",
      "aria-label": "More",
      "aria-expanded": "false",
    })
    this.more.onclick = () => this.unfold(!this.folded.classList.contains("open"))
    this.folded.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return
      this.unfold(false)
      this.more.focus()
    })
    // A press outside the bar closes the list; one that opens a page has to be seen before it is
    // gone.
    /** @param {Event} event */
    this.closeFromOutside = (event) => {
      const path = event.composedPath()
      if (!path.includes(this.folded) && !path.includes(this.more)) this.close(false)
    }
    /** @param {MouseEvent} event */
    this.showFirst = (event) => {
      clearInterval(this.following) // whatever is pressed meanwhile is meant instead
      const link = /** @type {HTMLElement} */ (event.target).closest?.(PAGE_LINK)
      const here = !(event.button || event.ctrlKey || event.metaKey || event.shiftKey)
      if (!(link instanceof HTMLAnchorElement) || !here || !event.isTrusted || !this.unsent) return
      if (this.tooLong) return
      event.preventDefault()
      event.stopImmediatePropagation()
      this.show()
      this.follow(link)
    }
    const row = el(
      "div",
      { className: "row" },
      this.text.host,
      this.go,
      this.model,
      this.other,
      this.device,
      this.folded,
      this.more,
    )
    root.replaceChildren(row, this.pair.host, this.status)
  }

  /** @param {Shown} data */
  receive(data) {
    this.longest = data.longest
    this.root.classList.toggle("menus-alone", data.text === null)
    if (data.text === null) this.text.pageText = null
    else this.text.receive(data.text)
    this.pair.host.hidden = data.pair === null
    this.pair.receive(data.pair ?? "")
    this.chosen = data.model
    this.fill(this.model, data.models, data.model, [OTHER])
    this.fill(this.device, data.devices, data.device)
    this.device.hidden = data.devices.length < 2
    this.texts = data.examples
    this.examples.host.hidden = !data.examples.length
    this.mark()
  }

  // Options are written anew only where they changed: an open list would close.
  /** @type {(select: HTMLSelectElement, options: Option[], chosen: string, after?: Option[]) => void} */
  fill(select, options, chosen, after = []) {
    const written = JSON.stringify(options)
    if (this.written.get(select) !== written) {
      select.replaceChildren(
        ...[...options, ...after].map(([value, label]) =>
          el("option", { value, textContent: label }),
        ),
      )
      this.written.set(select, written)
    }
    select.value = chosen
    const label = select.selectedOptions[0]?.textContent ?? ""
    select.title = options.length > 1 ? label : `${label}: no other here fits this page`
  }

  // The last entry asks for a model that is not listed, in a field in the list's place.
  chooseModel() {
    if (this.model.value !== OTHER[0]) return this.tell("model", this.model.value)
    this.model.value = this.chosen
    this.askForOther(true)
  }

  /** @param {boolean} open */
  askForOther(open) {
    this.model.hidden = open
    this.other.hidden = !open
    if (open) this.other.focus()
    else this.other.value = ""
  }

  /** @param {KeyboardEvent} event */
  pressInOther(event) {
    if (event.key === "Escape") {
      this.askForOther(false)
      this.model.focus()
    }
    const id = this.other.value.trim()
    if (event.key !== "Enter" || event.isComposing || !id) return
    this.tell("other", id)
    this.askForOther(false)
    this.say("Looking for it.")
  }

  /** @param {string} text */
  example(text) {
    return this.entry(text, "", () => this.tell("example", text))
  }

  // The button is looked for at the press: the page may have been drawn anew since the menu was
  // opened.
  /** @param {string} selector */
  files(selector) {
    return offered(selector).map(({ button, label, explained }) => {
      const entry = this.entry(label, explained, () => {
        offered(selector)
          .find((file) => file.label === label)
          ?.button.click()
        this.say("The file is being made.")
      })
      for (const own of entry.querySelectorAll("button")) own.disabled = button.disabled
      return entry
    })
  }

  shared() {
    const alone = new URL(window.location.href)
    alone.searchParams.set(...ALONE)
    return [
      this.entry("Copy the address", "It opens this page with all that is chosen on it.", () =>
        this.copy(window.location.href),
      ),
      this.entry(
        "Copy the address of the picture alone",
        "For a slide or a frame of another page.",
        () => this.copy(alone.href),
      ),
      ...this.files(SHARED_PICTURE),
    ]
  }

  // A line of a menu: what a press does, and in small letters what comes of it.
  /** @type {(label: string, explained: string, act: () => void) => HTMLElement} */
  entry(label, explained, act) {
    const choose = () => {
      this.close()
      act()
    }
    const button = el("button", { type: "button", textContent: label, onclick: choose })
    if (!explained) return el("div", { className: "entry" }, button)
    this.notes += 1
    const note = el("span", {
      className: "note",
      id: `note-${this.notes}`,
      textContent: explained,
    })
    button.setAttribute("aria-describedby", note.id)
    return el("div", { className: "entry" }, button, note)
  }

  // On a phone the menus stand in a list of their own.
  /** @param {boolean} open */
  unfold(open) {
    this.folded.classList.toggle("open", open)
    this.more.setAttribute("aria-expanded", String(open))
  }

  close(focus = true) {
    for (const menu of this.menus) menu.close(focus)
    this.unfold(false)
  }

  get unsent() {
    return this.text.unsent || (!this.pair.host.hidden && this.pair.unsent)
  }

  // What is typed and not shown is marked, here and on the picture; near the end of the room
  // its characters are counted.
  mark() {
    const { unsent } = this
    this.root.classList.toggle("unsent", unsent)
    const sentence = this.counted() + (unsent && !this.tooLong ? "Not shown yet: press Enter." : "")
    // Only where it changed: it would be read out at every key.
    if (this.status.textContent !== sentence) this.status.textContent = sentence
    this.go.disabled = this.tooLong
    this.putStatus()
    document.documentElement.toggleAttribute(UNSENT, unsent)
  }

  // What is said of a text stands at its field: on its lower edge, that it is not shown yet; under
  // it, the count.
  putStatus() {
    const fields = [this.text, this.pair].filter(({ host }) => !host.hidden)
    const open = fields.find(({ host }) => host.classList.contains("open"))
    const unsent = fields.filter((field) => field.unsent)
    const counted = Boolean(this.counted())
    const field = unsent.find((one) => one === open) ?? unsent[0]
    this.status.classList.toggle("refused", this.tooLong)
    this.placeStatus(field, counted)
  }

  /** @type {(field: Field | undefined, counted: boolean) => void} */
  placeStatus(field, counted) {
    const { classList, style } = this.status
    classList.toggle("under", Boolean(field) && counted)
    classList.toggle("on-edge", Boolean(field) && !counted)
    Object.assign(style, { left: "", top: "", width: "" })
    if (!field) return
    const edge = field.host.offsetTop + field.input.offsetHeight
    style.left = `${field.host.offsetLeft + (counted ? 0 : 8)}px`
    style.top = `${edge + (counted ? 4 : -9)}px`
    if (counted) style.width = `${field.host.offsetWidth}px`
  }

  // Characters as the server counts them: one outside the first plane is two here. The longer of
  // the texts counts.
  get characters() {
    const fields = this.pair.host.hidden ? [this.text] : [this.text, this.pair]
    return Math.max(...fields.map(({ input }) => [...input.value].length))
  }

  get tooLong() {
    return this.characters > this.longest
  }

  counted() {
    const [count, longest] = [this.characters, this.longest]
    if (count <= NEAR_THE_END * longest || !(this.unsent || this.tooLong)) return ""
    const sentence = `${count.toLocaleString("en")} of ${longest.toLocaleString("en")} characters`
    return this.tooLong
      ? `${sentence}: shorten it by ${(count - longest).toLocaleString("en")} to have it shown.`
      : `${sentence}. `
  }

  // What is too long stays in the field, and the picture of the text before on the page.
  show() {
    if (this.tooLong) return this.mark()
    const message = {
      text: this.text.input.value,
      pair: this.pair.host.hidden ? "" : this.pair.input.value,
    }
    for (const field of [this.text, this.pair]) {
      drafts.delete(field.name)
      field.sent = message[field.name]
      field.unfold(false) // or a long text would cover what is found in it
      // Without the focus a phone folds the keyboard that covers the rest.
      if (matchMedia("(pointer: coarse)").matches) field.input.blur()
    }
    this.send(message, TIMES)
    this.mark()
  }

  // Streamlit loses a message where another makes it start over before it has begun with this one:
  // what is not shown is sent again, unless the visitor has gone elsewhere meanwhile. What is not
  // shown even then is a draft again, as where Back was pressed before it was read.
  /** @type {(message: Message, times: number) => void} */
  send(message, times) {
    const { href } = location
    let rested = 0
    this.tell("show", message)
    clearInterval(this.waiting)
    this.waiting = setInterval(() => {
      const app = /** @type {HTMLElement | null} */ (document.querySelector("[data-testid=stApp]"))
      rested = app?.dataset.testScriptState === "notRunning" ? rested + WATCHED : 0
      if (rested < UNANSWERED) return
      clearInterval(this.waiting)
      if (times && this.isWaiting && location.href === href) return this.send(message, times - 1)
      for (const field of [this.text, this.pair]) field.takeBack()
      this.mark()
    }, WATCHED)
  }

  // Whether the page does not show yet what was sent.
  get isWaiting() {
    return [this.text, this.pair].some(({ sent, pageText }) => (sent ?? pageText) !== pageText)
  }

  // A link is followed once its page shows what was typed, for only then it leads on with that.
  /** @param {HTMLAnchorElement} link */
  follow(link) {
    const [start, { pathname }] = [performance.now(), location]
    clearInterval(this.following)
    this.following = setInterval(() => {
      const app = /** @type {HTMLElement | null} */ (document.querySelector("[data-testid=stApp]"))
      const rests = !this.isWaiting && app?.dataset.testScriptState === "notRunning"
      if (!rests && performance.now() - start < LONGEST_ANSWER) return
      clearInterval(this.following)
      if (link.isConnected && location.pathname === pathname) link.click()
    }, 50)
  }

  /** @param {string} address */
  async copy(address) {
    let copied = true
    try {
      await navigator.clipboard.writeText(address)
    } catch {
      copied = this.copyTheOldWay(address)
    }
    this.say(copied ? "Copied" : "Not copied")
  }

  // A word on what was done, for a moment.
  /** @param {string} words */
  say(words) {
    this.status.textContent = words
    this.placeStatus(undefined, false)
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.mark(), 2500)
  }

  // Where the clipboard is closed (an insecure origin, an old browser) the older command does it.
  /** @param {string} address */
  copyTheOldWay(address) {
    const field = el("textarea", { value: address })
    document.body.append(field)
    field.select()
    const copied = document.execCommand("copy")
    field.remove()
    return copied
  }
}
