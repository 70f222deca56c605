// Every setting of the view, visible and labelled. A control shows the view that it is given and
// reports what was chosen.
import { counted } from "../data.js"
import { el } from "../element.js"
import { MANY_KEYS, MOST_LINES } from "../layout.js"
import { largestMagnitude, valueText } from "../panels/grid.js"
/** @import { Model } from "../data.js" */
/** @import { Choices, DrawnScene, HeadMeasure, Kind, Scene, Zooming } from "../types.js" */

/** @typedef {[name: string | number, label: string, onclick: () => void]} Button */

/** @type {Record<string, string>} */
export const SHOWS = {
  all: "All",
  grid: "Grid",
  lines: "Lines",
  matrix: "Matrix",
  text: "Text",
  table: "Table",
}
const SPECIAL = {
  shown: "shown",
  hidden: "hidden, rows as they are",
  renormalised: "hidden, rows add up to 1 again",
}
const SEGMENTS = { all: "all", AA: "A → A", AB: "A → B", BA: "B → A", BB: "B → B" }
const SCALES = { root: "square root", linear: "linear", log: "logarithm" }
const MAXIMA = {
  auto: "by the length of the text",
  one: "weight 1",
  shared: "largest of these heads",
  head: "largest of each head",
}
const COLOURS = { blue: "blue", orange: "orange", grey: "grey" }
const ORDERS = { layers: "layer by layer", measure: "largest first" }
const MEASURE_HELP =
  "A bar and a number under each thumbnail: what the measure is of that head. “Beyond chance” is the score less what the head would score by accident."
const ORDER_HELP =
  "Thumbnails layer by layer, or the head with the largest number first; of effects, the largest change, up or down."
/** @type {Record<string, string>} */
export const KINDS = { encoder: "encoder", decoder: "decoder", cross: "decoder → encoder" }
const KEYS = [
  ["↑ ↓", "layer before, layer after"],
  ["← →", "head before, head after, alone"],
  ["Space", "switch the current head on or off; on a button, press it"],
  ["A N I O", "all heads, none, the others, only the current one"],
  ["L", "switch the whole layer on or off"],
  ["1 – 6", "all views, grid, lines, matrix, text, table"],
  [
    "Tab",
    "to the next control, and into the tokens; ← → there go from token to token, Enter keeps one as the query",
  ],
  ["Shift Enter", "keeps the token as the key of the query that is kept"],
  ["S W", "special tokens, word pieces, where there are any"],
  ["+ − 0", "zoom in, out, back"],
  ["Shift ↑ ↓ ← →", "move the zoomed picture"],
  ["Esc", "let go of the token that is kept"],
  ["?", "this list"],
]

export class Controls {
  /** @param {Choices} actions */
  constructor(actions) {
    this.actions = actions
    this.shows = el("div", { className: "choices", role: "group", "aria-label": "Views" })
    this.kinds = el("div", { className: "choices", role: "group", "aria-label": "Attention" })
    this.layers = el("div", { className: "choices", role: "group", "aria-label": "Layer" })
    this.heads = el("div", { className: "choices", role: "group", "aria-label": "Heads" })
    this.kindRow = row("Attention", this.kinds)
    for (const reached of ["pointerover", "focusin", "pointerdown"])
      this.layers.addEventListener(reached, ({ target, type }) =>
        this.actions.near(
          Number(/** @type {HTMLElement} */ (target).dataset.name),
          type === "pointerdown",
        ),
      )
    this.layers.onpointerleave = () => this.actions.near()
    this.top = el(
      "div",
      { className: "top" },
      row("Views", this.shows),
      this.kindRow,
      row("Layer", this.layers),
      row("Heads", this.heads),
    )
    this.side = el("div", {
      className: "side",
      role: "group",
      "aria-label": "Settings of the picture",
    })
    /** @type {Map<string, HTMLInputElement | HTMLSelectElement>} */
    this.settings = new Map()
    this.least = el("b") // no output: the slider itself says its number to screen-reader users
    this.more = el("details")
    this.keys = listOf("Keyboard (?)", KEYS)
    this.fitted = ""
    this.built = false
    this.note = el("p", { className: "note" })
  }

  /** @type {(name: string) => HTMLElement} */
  headButton(name) {
    return /** @type {HTMLElement} */ (this.heads.querySelector(`[data-name="${name}"]`))
  }

  // What can be chosen depends on the model and the kind of attention alone; built anew, the
  // controls would lose the focus.
  /** @type {(model: Model, kind: Kind, measures: HeadMeasure[]) => void} */
  fitTo(model, kind, measures) {
    const facts = [kind.queryText, kind.keyText].map((text) => [
      text.special?.some(Boolean),
      Boolean(text.words),
      Boolean(text.segments),
    ])
    const key = JSON.stringify([
      [...model.kinds.keys()],
      kind.layers,
      kind.heads,
      kind.shape[1],
      facts,
      measures.map(({ name }) => name),
    ])
    if (key === this.fitted) return
    const root = /** @type {Document | ShadowRoot} */ (this.top.getRootNode())
    const active = /** @type {HTMLElement | null} */ (root.activeElement)
    const focused = active?.dataset.name
    const group = active?.parentElement
    this.fitted = key
    this.build(model, kind, measures)
    if (focused)
      [...(group?.querySelectorAll("button") ?? [])]
        .find((button) => button.dataset.name === focused)
        ?.focus()
  }

  /** @type {(model: Model, kind: Kind, measures: HeadMeasure[]) => void} */
  build(model, kind, measures) {
    this.buttons(
      this.shows,
      Object.entries(SHOWS).map(([name, label]) => [
        name,
        label,
        () => this.actions.change({ show: name }),
      ]),
    )
    this.buttons(
      this.kinds,
      [...model.kinds.keys()].map((name) => [name, KINDS[name], () => this.actions.kind(name)]),
    )
    this.kindRow.hidden = model.kinds.size < 2
    this.buttons(
      this.layers,
      counted(kind.layers).map((layer) => [
        layer,
        String(layer + 1),
        () => this.actions.change({ layer }),
      ]),
    )
    /** @type {[string, string][]} */
    const tools = [
      ["every", "All"],
      ["none", "None"],
      ["only", "Only head 1"],
      ["invert", "Invert"],
      ["layer", "Layer off"],
    ]
    this.buttons(
      this.heads,
      counted(kind.heads).map((head) => [head, String(head + 1), () => this.actions.toggle(head)]),
    )
    this.buttons(
      this.heads,
      tools.map(([name, label]) => [name, label, () => this.actions.heads(name)]),
      true,
    )
    this.headButton("every").setAttribute("aria-label", "All heads")
    this.buildSide(kind, measures)
    for (const chosen of [this.layers, this.heads])
      for (const button of chosen.querySelectorAll("button")) this.explain(button)
  }

  /** @param {HTMLElement} button */
  explain(button) {
    const index = Number(button.dataset.name)
    if (!Number.isNaN(index)) button.title = `Counted from 0, as in addresses and code: ${index}`
  }

  /** @type {(host: HTMLElement, entries: Button[], more?: boolean) => void} */
  buttons(host, entries, more = false) {
    const buttons = entries.map(([name, label, onclick]) => {
      const button = el("button", { type: "button", onclick, textContent: label })
      button.dataset.name = String(name)
      return button
    })
    if (more) host.append(el("span", { className: "gap" }), ...buttons)
    else host.replaceChildren(...buttons)
  }

  /** @type {(kind: Kind, measures: HeadMeasure[]) => void} */
  buildSide(kind, measures) {
    const texts = [kind.queryText, kind.keyText]
    /** @type {(fact: "special" | "words" | "segments") => boolean} */
    const has = (fact) => texts.some((text) => text[fact])
    /** @type {HTMLElement[][]} */
    const [rows, folded] = [[], []]
    /** @type {[string, string][]} */
    const explained = []
    /**
     * @param {HTMLElement[]} host
     * @param {string} name
     * @param {string} label
     * @param {HTMLInputElement | HTMLSelectElement} input
     * @param {string} help
     * @param {...HTMLElement} more
     */
    const add = (host, name, label, input, help, ...more) => {
      this.settings.set(name, input)
      explained.push([label, help])
      input.ariaLabel = label // else the options of a select would be part of its name
      host.push(el("label", { title: help }, el("span", {}, label, " ", ...more), input))
    }
    // The first option is what nobody has chosen.
    /**
     * @param {string} name
     * @param {string} label
     * @param {Record<string, string>} options
     * @param {string} help
     */
    const pick = (name, label, options, help) => {
      const input = el("select", { onchange: () => this.actions.change({ [name]: input.value }) })
      input.append(
        ...Object.entries(options).map(([value, text]) =>
          el("option", { value, textContent: text }),
        ),
      )
      add(folded, name, label, input, help)
    }
    this.settings.clear()
    const least = el("input", {
      type: "range",
      min: "0",
      max: "1",
      step: "0.01",
      oninput: () => this.actions.change({ threshold: clamped(least) }),
    })
    add(
      rows,
      "threshold",
      "Draw weights from",
      least,
      "Smaller weights are left out of the picture; no number changes.",
      this.least,
    )
    const most = el("input", {
      type: "number",
      min: "0",
      max: String(kind.shape[1]),
      step: "1",
      onchange: () => this.actions.change({ top: clamped(most) }),
    })
    add(
      rows,
      "top",
      "Largest per query",
      most,
      "Only so many keys of each query are drawn; 0 draws all.",
    )
    if (has("words")) this.wordsBox(rows, explained)
    if (measures.length) {
      const by = el("select", { onchange: () => this.actions.change({ measure: by.value }) })
      by.append(el("option", { value: "", textContent: "nothing" }), ...optionsOf(measures))
      add(rows, "measure", "Heads by", by, MEASURE_HELP)
      const order = el("select", { onchange: () => this.actions.change({ order: order.value }) })
      order.append(
        ...Object.entries(ORDERS).map(([value, textContent]) =>
          el("option", { value, textContent }),
        ),
      )
      add(rows, "order", "Order of heads", order, ORDER_HELP)
      // On a phone they stand above the thumbnails that they change, all others below the pictures.
      for (const label of rows.slice(-2)) label.className = "of-heads"
    }
    if (texts.some((text) => text.special?.some(Boolean)))
      pick("special", "Special tokens", SPECIAL, "Tokens that the tokenizer added.")
    if (kind.queryText.segments && kind.keyText.segments)
      pick("segments", "Sentence", SEGMENTS, "Queries of the one sentence, keys of the other.")
    pick("scale", "Scale", SCALES, "How colour and width grow with the weight.")
    pick(
      "maximum",
      "Full colour",
      MAXIMA,
      `The weight that is drawn at full strength: of up to ${MANY_KEYS} tokens weight 1, of more the largest of each head, unless you choose.`,
    )
    pick("colours", "Colours", COLOURS, "From the page's background, weight 0, to full strength.")
    this.more = el(
      "details",
      { className: "list more" },
      el("summary", {}, "More settings"),
      ...folded,
    )
    this.built = true
    this.side.replaceChildren(
      ...rows,
      this.more,
      this.zoomRow(),
      this.note,
      listOf("What these settings do", explained),
      this.keys,
    )
  }

  /** @type {(rows: HTMLElement[], explained: [string, string][]) => void} */
  wordsBox(rows, explained) {
    const input = el("input", {
      type: "checkbox",
      onchange: () => this.actions.change({ words: input.checked }),
    })
    this.settings.set("words", input)
    const help =
      "Pieces of a word become one: a key's weight is the sum over its pieces, a query's the mean."
    explained.push(["Whole words", help])
    rows.push(el("label", { title: help }, el("span", {}, "Whole words"), input))
  }

  zoomRow() {
    /** @type {(label: string, text: string, name: Zooming) => HTMLElement} */
    const zoom = (label, text, name) =>
      el("button", {
        type: "button",
        textContent: text,
        title: label,
        "aria-label": label,
        onclick: () => this.actions.zoom(name),
      })
    const buttons = [
      zoom("Zoom in", "+", "zoomIn"),
      zoom("Zoom out", "−", "zoomOut"),
      zoom("Reset zoom", "Reset", "zoomReset"),
    ]
    return el(
      "div",
      { className: "zoom", role: "group", "aria-label": "Zoom of lines and matrix" },
      el("span", {}, "Zoom"),
      ...buttons,
    )
  }

  toggleKeys() {
    if (this.keys.toggleAttribute("open")) this.keys.scrollIntoView({ block: "nearest" })
  }

  /** @param {DrawnScene} scene */
  show(scene) {
    const { view, kind, off, current, theme } = scene
    /** @type {(host: HTMLElement, on: (name: string | undefined) => boolean) => void} */
    const press = (host, on) => {
      for (const button of host.querySelectorAll("button"))
        button.setAttribute("aria-pressed", String(on(button.dataset.name)))
    }
    press(this.shows, (name) => name === view.show)
    press(this.kinds, (name) => name === view.attention)
    press(this.layers, (name) => Number(name) === view.layer)
    for (const button of this.heads.querySelectorAll("button")) {
      const head = Number(button.dataset.name)
      if (Number.isNaN(head)) continue
      button.setAttribute("aria-pressed", String(!off.has(`${view.layer}.${head}`)))
      button.setAttribute("aria-label", `Head ${head + 1}`)
      button.style.setProperty("--head", theme.heads[head % theme.heads.length])
      button.classList.toggle("current", head === current)
    }
    for (const layer of this.layers.querySelectorAll("button")) {
      const number = Number(layer.dataset.name)
      layer.classList.toggle("empty", headsOff(off, number) === kind.heads)
      layer.setAttribute("aria-label", `Layer ${number + 1}`)
    }
    this.headButton("only").textContent = `Only head ${current + 1}`
    this.headButton("layer").textContent = scene.heads.length ? "Layer off" : "Layer on"
    const measure = scene.measure?.name ?? ""
    this.showSettings({ ...view, maximum: scene.maximum, measure })
    const order = this.settings.get("order")
    const label = order?.closest("label")
    if (label) label.hidden = !measure
  }

  /** @type {(scene: Scene, more: boolean) => void} */
  tell(scene, more) {
    this.note.textContent = noteOf(scene, more)
  }

  /** @param {Record<string, any>} view */
  showSettings(view) {
    for (const [name, input] of this.settings) {
      if (input instanceof HTMLInputElement && input.type === "checkbox") input.checked = view[name]
      else if (input.value !== String(view[name])) input.value = view[name]
    }
    this.least.textContent = view.threshold
    // What is not as it would be without anybody's choice is seen from the start; after that the
    // fold is the visitor's.
    if (this.built)
      this.more.open = [...this.more.querySelectorAll("select")].some(
        (select) => select.selectedIndex > 0,
      )
    this.built = false
  }
}

/** @type {(title: string, entries: string[][]) => HTMLElement} */
function listOf(title, entries) {
  const rows = entries.flatMap(([name, what]) => [el("dt", {}, name), el("dd", {}, what)])
  return el("details", { className: "list" }, el("summary", {}, title), el("dl", {}, ...rows))
}

/** @param {HeadMeasure} measure */
const hasNegative = ({ values }) => values.flat().some((value) => (value ?? 0) < 0)

// In the groups that the measures name.
/** @type {(measures: HeadMeasure[]) => HTMLElement[]} */
const optionsOf = (measures) =>
  [...new Set(measures.map(({ group }) => group))].map((group) =>
    el(
      "optgroup",
      { label: group },
      ...measures
        .filter((measure) => measure.group === group)
        .map(({ name, label }) => el("option", { value: name, textContent: label })),
    ),
  )

/** @type {(label: string, content: HTMLElement) => HTMLElement} */
const row = (label, content) =>
  el(
    "div",
    { className: "row" },
    el("span", { className: "name", "aria-hidden": "true" }, label),
    content,
  )

/** @type {(off: Set<string>, layer: number) => number} */
const headsOff = (off, layer) => [...off].filter((site) => site.startsWith(`${layer}.`)).length

/** @type {(input: HTMLInputElement) => number} */
function clamped(input) {
  const value = Number(input.value)
  const places = input.step === "1" ? 0 : 4 // as many as an address carries
  return Number.isFinite(value)
    ? Number(Math.min(Math.max(value, Number(input.min)), Number(input.max)).toFixed(places))
    : 0
}

// What was done to the numbers, in words, whenever something was.
/** @type {(scene: Scene, more: boolean) => string} */
function noteOf({ view, maximum, kind, frame, tilesPlain, measure }, more) {
  const notes = []
  if (measure)
    notes.push(
      `Bars: ${measure.said}; a whole bar is ${valueText(largestMagnitude(measure))}${hasNegative(measure) ? ", and orange is below 0" : ""}.`,
    )
  const hides =
    view.special !== "shown" &&
    [kind.queryText, kind.keyText].some((text) => text.special?.some(Boolean))
  if (hides && view.special === "hidden")
    notes.push("Special tokens are hidden: rows add up to less than 1.")
  if (hides && view.special === "renormalised")
    notes.push(
      "Special tokens are hidden, and each row is divided by what is left of it, so that it adds up to 1.",
    )
  if (view.words && (kind.queryText.words || kind.keyText.words))
    notes.push(
      "Word pieces are merged: the sum over the pieces of a key, the mean over those of a query.",
    )
  if (frame.key !== "plain" && view.segments !== "all")
    notes.push(
      `Only ${view.segments[0]} → ${view.segments[1]}: ${frame.renormalised ? "rows add up to 1 again." : "rows add up to less than 1."}`,
    )
  if (maximum === "auto" && view.maximum === "head")
    notes.push(
      "Among so many tokens most weights are small: full colour is the largest weight of each head.",
    )
  if (view.maximum === "one" && view.scale !== "log" && frame.columns.length > MANY_KEYS)
    notes.push(
      "Among so many tokens most weights are small: “Full colour” and the logarithm under “Scale” bring them out.",
    )
  if (view.threshold > 0 || view.top > 0)
    notes.push("Weights below the limit are not drawn; the numbers are those of all.")
  if (more)
    notes.push(
      `The ${MOST_LINES.toLocaleString("en")} strongest lines are drawn; of a token that is pointed at, all.`,
    )
  if (frame.key !== "plain" && tilesPlain)
    notes.push("The thumbnails show every token: not all layers are in the browser.")
  if (Math.max(...kind.thumb_shape) < Math.max(...kind.shape))
    notes.push("A cell of a thumbnail is the largest weight of the block that it stands for.")
  return notes.join(" ")
}
