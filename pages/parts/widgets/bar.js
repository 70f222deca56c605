// The bar at the top of every page: what is read, by which model, examples, and the address to share.
// What is typed stays in the field until it is shown: Enter or Show does that, Shift + Enter begins a new line.
const UNSENT = "data-unsent" // on the root element: the style sheet of the page greys what is of the text before
const NEAR_THE_END = 0.8 // of the longest text: from there on characters are counted
const held = new WeakMap()
const drafts = new Map() // what was typed and not shown, by field and by the text that was shown: it outlives a page

export default function ({ data, parentElement, setTriggerValue }) {
  const bar = held.get(parentElement) ?? new Bar(parentElement.querySelector(".bar"))
  held.set(parentElement, bar)
  bar.tell = setTriggerValue
  bar.receive(data)
  document.addEventListener("pointerdown", bar.closeFromOutside, true)
  return () => {
    document.removeEventListener("pointerdown", bar.closeFromOutside, true)
    document.documentElement.removeAttribute(UNSENT)
  }
}

function made(tag, properties, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") element.setAttribute(name, value)
    else element[name] = value
  }
  element.append(...children)
  return element
}

// One text: a line high, and as high as its text while it is being edited, over what lies below.
class Field {
  constructor(name, label, hint, bar) {
    Object.assign(this, { name, bar, shown: null, sent: null })
    this.input = made("textarea", { rows: 1, spellcheck: false, "aria-label": label, placeholder: label, title: hint })
    this.more = made("span", { className: "more", textContent: "…", "aria-hidden": "true" })
    this.host = made("div", { className: "field" }, this.input, this.more)
    this.input.addEventListener("input", () => this.typed())
    this.input.addEventListener("focus", () => this.fit())
    this.input.addEventListener("blur", () => this.fit())
    this.input.addEventListener("keydown", (event) => this.press(event))
  }

  get draftKey() {
    return `${this.name}\n${this.shown}`
  }

  // A text from the server takes the place of a draft only where it is not the one that was sent from here.
  receive(text) {
    if (text === this.shown) return
    const first = this.shown === null
    const own = text === this.sent
    this.shown = text
    if (first && drafts.has(this.draftKey)) this.input.value = drafts.get(this.draftKey)
    else if (!own) this.input.value = text
    this.sent = null
    this.fit()
  }

  get unsent() {
    return this.shown !== null && this.input.value !== (this.sent ?? this.shown)
  }

  typed() {
    if (this.unsent) drafts.set(this.draftKey, this.input.value)
    else drafts.delete(this.draftKey)
    this.fit()
    this.bar.mark()
  }

  // Enter in the middle of composing a character, as in Japanese, only ends that.
  press(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return
    event.preventDefault()
    this.bar.show()
  }

  fit() {
    const { input } = this
    const open = input.getRootNode().activeElement === input
    this.host.classList.toggle("open", open)
    input.style.height = ""
    const cut = input.scrollWidth > input.clientWidth + 1
    if (open) input.style.height = `${Math.min(input.scrollHeight + 2, window.innerHeight * 0.6)}px`
    else input.scrollLeft = input.scrollTop = 0
    this.more.hidden = open || !cut
  }
}

class Bar {
  constructor(root) {
    this.root = root
    this.text = new Field("text", "Text", "Enter shows it, Shift + Enter begins a new line.", this)
    this.pair = new Field("pair", "Second text", "Read after the first, as a segment of its own; it may be empty.", this)
    this.go = made("button", { type: "button", className: "go", textContent: "Show", onclick: () => this.show() })
    this.status = made("span", { className: "status", role: "status" })
    this.model = made("select", { "aria-label": "Model", onchange: () => this.tell("model", this.model.value) })
    this.device = made("select", { "aria-label": "Device", className: "device", onchange: () => this.tell("device", this.device.value) })
    this.examples = made("div", { className: "list", role: "group", "aria-label": "Examples" })
    this.share = made("button", { type: "button", textContent: "Share", title: "Copy the address of this view", onclick: () => this.copy() })
    this.menu = made("details", { className: "menu" }, made("summary", {}, "Examples"), this.examples)
    this.menu.addEventListener("keydown", (event) => event.key === "Escape" && this.close())
    this.menu.addEventListener("toggle", () => this.menu.open && this.placeList())
    // A press outside the bar closes the list; one that opens a page has to be seen before it is gone.
    this.closeFromOutside = (event) => event.composedPath().includes(this.menu) || this.close(false)
    const row = made("div", { className: "row" }, this.text.host, this.go, this.model, this.device, this.menu, this.share)
    root.replaceChildren(row, this.pair.host, this.status)
  }

  receive(data) {
    this.longest = data.longest
    this.text.receive(data.text)
    this.pair.host.hidden = data.pair === null
    this.pair.receive(data.pair ?? "")
    this.fill(this.model, data.models, data.model)
    this.fill(this.device, data.devices, data.device)
    this.device.hidden = data.devices.length < 2
    if (this.written !== String(data.examples)) this.examples.replaceChildren(...data.examples.map((text) => this.example(text)))
    this.written = String(data.examples) // made anew only where they changed: whoever is in the list would lose the place
    this.menu.hidden = !data.examples.length
    this.mark()
  }

  // Options are written anew only where they changed: an open list would close.
  fill(select, options, chosen) {
    const written = JSON.stringify(options)
    if (select.written !== written) {
      select.replaceChildren(...options.map(([value, label]) => made("option", { value, textContent: label })))
      select.written = written
    }
    select.value = chosen
    select.title = select.selectedOptions[0]?.textContent ?? ""
  }

  example(text) {
    const choose = () => {
      this.close()
      this.tell("example", text)
    }
    return made("button", { type: "button", textContent: text, onclick: choose })
  }

  // The list stays within the window, whatever its button's place.
  placeList() {
    this.examples.style.right = ""
    const { left } = this.examples.getBoundingClientRect()
    if (left < 8) this.examples.style.right = `${left - 8}px`
  }

  close(focus = true) {
    if (!this.menu.open) return
    this.menu.open = false
    if (focus) this.menu.querySelector("summary").focus()
  }

  // What is typed and not shown is marked, here and on the picture; near the end of the room characters are counted.
  mark() {
    const unsent = this.text.unsent || (!this.pair.host.hidden && this.pair.unsent)
    const { length } = this.text.input.value
    const counted = length > NEAR_THE_END * this.longest ? `${length.toLocaleString("en")} of ${this.longest.toLocaleString("en")} characters. ` : ""
    this.root.classList.toggle("unsent", unsent)
    const said = counted + (unsent ? "Not shown yet: press Enter." : "")
    if (this.status.textContent !== said) this.status.textContent = said // or it would be read out at every key
    document.documentElement.toggleAttribute(UNSENT, unsent)
  }

  show() {
    const message = { text: this.text.input.value, pair: this.pair.host.hidden ? "" : this.pair.input.value }
    for (const field of [this.text, this.pair]) {
      drafts.delete(field.draftKey)
      field.sent = message[field.name]
    }
    this.tell("show", message)
    this.mark()
  }

  async copy() {
    const address = window.location.href
    let copied = true
    try {
      await navigator.clipboard.writeText(address)
    } catch {
      copied = this.copyTheOldWay(address)
    }
    this.share.textContent = this.status.textContent = copied ? "Copied" : "Not copied"
    clearTimeout(this.timer)
    this.timer = setTimeout(() => {
      this.share.textContent = "Share"
      this.mark()
    }, 2000)
  }

  // Where the clipboard is closed (an insecure origin, an old browser) the older command does it.
  copyTheOldWay(address) {
    const field = made("textarea", { value: address })
    document.body.append(field)
    field.select()
    const copied = document.execCommand("copy")
    field.remove()
    return copied
  }
}
