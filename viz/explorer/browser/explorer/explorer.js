// The explorer: one model's attention, one view of it, and all pictures of that view. What is
// chosen is in state.js, the numbers that are drawn in scene.js; here is when what is drawn, and
// what the server is told.
import { Controls } from "./controls.js"
import { Model } from "../data.js"
import { el } from "../element.js"
import { Grid, standsBeside } from "../panels/grid.js"
import { press } from "./keys.js"
import { PANELS_OF, TITLES } from "../layout.js"
import { Lines } from "../panels/lines.js"
import { Matrix } from "../panels/matrix.js"
import { shadesOf, themeOf } from "../paint.js"
import { Requests } from "./requests.js"
import { activeIn, framedTiles, plainTiles, sceneOf } from "./scene.js"
import { Readout, aroundOf, awaitedSentence, sentenceOf } from "./sentences.js"
import { State } from "./state.js"
import { Table, Words } from "../panels/words.js"
/** @import { Actions, Choices, DrawnScene, ExactRow, HeadMeasure, Kind, LayerRequest } from "../types.js" */
/** @import { Pointed, Server, View, ViewMessage, Zooming } from "../types.js" */

const REST = 300 // milliseconds without a movement before the server is asked or told
const NEAR = 30 // milliseconds over what opens a layer before it is asked for: less is passing by
const COMES = 1000 // milliseconds in which a layer that was asked for is awaited
const SHOWN = /** @type {Record<string, string[]>} */ (PANELS_OF)

export class Explorer {
  // `server` may be asked and told: commit(view), exact(request), layer(request), drawn(). Without
  // one, what the browser has must do.
  /**
   * @param {HTMLElement & { explorer?: Explorer }} root
   * @param {Server | null} server
   */
  constructor(root, server = null) {
    this.root = root
    root.explorer = this // where scripts find it
    this.server = server
    this.state = new State()
    this.requests = new Requests()
    this.readout = new Readout()
    /** @type {Model | null} */
    this.model = null
    /** @type {Uint8Array | null} */
    this.packed = null
    /** @type {DrawnScene | null} */
    this.scene = null
    /** @type {Pointed | null} */
    this.hovered = null
    /** @type {number | null} */
    this.waiting = null // the layer that is on its way
    /** @type {Record<string, HeadMeasure[]>} */
    this.measures = {} // of the heads, by attention
    this.asked = { key: "", at: -Infinity } // the layer that was asked for last, and when
    this.dirty = false
    this.painted = 0
    this.frameRequest = 0
    this.commitTimer = this.nearTimer = this.restTimer = 0
    /** @type {Model | null} */
    this.wordsOf = null
    this.wordsKey = ""
    /** @type {Model | null} */
    this.tilesOf = null
    this.tilesKey = ""
    this.controls = new Controls(this.choices())
    this.grid = new Grid(this.tileActions())
    this.lines = new Lines(this.tokenActions())
    this.matrix = new Matrix(this.tokenActions())
    this.words = new Words(this.tokenActions())
    this.table = new Table()
    const { words: text, grid, lines, matrix, table } = this
    const hosts = Object.entries({ text, grid, lines, matrix, table })
    const titles = /** @type {Record<string, string>} */ (TITLES)
    this.panels = new Map(hosts.map(([name, { host }]) => [name, panel(name, titles[name], host)]))
    this.views = el("div", { className: "views" }, ...this.panels.values())
    this.root.replaceChildren(this.frame())
    new ResizeObserver(() => this.schedule()).observe(this.views)
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.schedule())
  }

  // What the controls report.
  /** @returns {Choices} */
  choices() {
    return {
      change: (changes) => this.change(changes),
      kind: (name) => this.changeKind(name),
      near: (layer, pressed) => this.near(layer, pressed),
      toggle: (head) => this.toggle(this.view.layer, head),
      heads: (name) => this.chooseHeads(name),
      zoom: (name) => this.zoom(name),
    }
  }

  // What a visitor does in the grid.
  /** @returns {Actions} */
  tileActions() {
    return {
      hover: (place) => this.hover(place),
      redraw: () => this.schedule(),
      press: (place) => this.near(place?.layer),
      choose: (place, event) => this.chooseTile(place, event),
      open: (place) => this.openTile(place),
    }
  }

  // What a visitor does in the pictures of tokens.
  /** @returns {Actions} */
  tokenActions() {
    return {
      hover: (place) => this.hover(place),
      redraw: () => this.schedule(),
      choose: (place) => this.keep(place),
      chooseKey: (key) => this.keepKey(key),
    }
  }

  // It can be focused, by a click: whoever has clicked into a picture may go on with the keys.
  frame() {
    const frame = el(
      "div",
      { className: "explorer", tabIndex: -1, onkeydown: (event) => press(this, event) },
      this.controls.top,
      this.readout.host,
      el("div", { className: "body" }, this.views, this.controls.side),
      this.readout.live,
    )
    frame.addEventListener("focusout", ({ relatedTarget }) => {
      if (!frame.contains(/** @type {Node | null} */ (relatedTarget))) this.flush()
    })
    return frame
  }

  get view() {
    return this.state.view
  }

  get kind() {
    return /** @type {Model} */ (this.model).kindOf(this.view.attention)
  }

  get visiblePanels() {
    const show = this.scene?.view.show ?? "all"
    return SHOWN[show] ?? [show]
  }

  // What is pointed at, or else kept.
  /** @param {DrawnScene} scene */
  activeOf(scene) {
    const { query, key } = this.view
    return activeIn(scene, this.hovered ?? { query, key })
  }

  /** @type {(kind: Kind, layer?: number) => number[]} */
  headsOn(kind, layer = this.view.layer) {
    return this.state.headsOn(kind, layer)
  }

  // ---- what comes in

  /** @param {Uint8Array<ArrayBuffer>} packed */
  receive(packed) {
    if (packed !== this.packed) {
      this.packed = packed
      const before = this.model && shapeOf(this.model)
      this.model = new Model(packed)
      // The same heads with other numbers, of muting say, stay off.
      if (shapeOf(this.model) !== before) this.state.offOf.clear()
      this.requests.begin(this.model.header.name)
      this.measures = {}
      this.hovered = null
    }
    return this.fit()
  }

  // A view from outside, for these numbers.
  /** @type {(view: Partial<ViewMessage>, packed: Uint8Array<ArrayBuffer>) => Promise<void>} */
  steer(view, packed) {
    this.state.open(view)
    return this.receive(packed)
  }

  /** @param {Iterable<Uint8Array<ArrayBuffer>>} all */
  addLayers(all) {
    for (const packed of all) this.model?.addLayer(packed)
    if (this.waiting !== null) return this.refresh() // others come before anybody asks
  }

  // They come after the numbers that they are of.
  /** @param {Record<string, HeadMeasure[]>} measures */
  setMeasures(measures) {
    if (this.measures === measures) return
    this.measures = measures
    return this.fit()
  }

  /** @returns {HeadMeasure[]} */
  get ownMeasures() {
    return this.measures[this.view.attention] ?? []
  }

  /** @param {ExactRow} reply */
  answer(reply) {
    this.requests.add(reply)
    this.showWords()
  }

  fit() {
    if (this.model) {
      this.state.fit(this.model)
      this.controls.fitTo(this.model, this.kind, this.ownMeasures)
    }
    return this.refresh()
  }

  // ---- what is chosen

  /** @param {Partial<View>} changes */
  change(changes) {
    Object.assign(this.view, changes)
    this.changed()
  }

  changed() {
    this.hovered = null
    this.refresh()
    clearTimeout(this.commitTimer)
    // Told before what follows from it is asked for: Streamlit would put the two into one.
    if (this.server) this.commitTimer = setTimeout(() => this.commit(), REST)
    this.speak()
    if (this.model && !this.model.has(this.kind, this.view.layer)) this.askLayer(this.view.layer)
  }

  /** @param {string} attention */
  changeKind(attention) {
    this.state.openKind(attention)
    this.fit()
    this.changed()
  }

  /** @type {(layer: number, head: number) => void} */
  toggle(layer, head) {
    this.state.toggle(layer, head)
    this.changed()
  }

  /** @param {string} name */
  chooseHeads(name) {
    this.state.chooseHeads(this.kind, name)
    this.changed()
  }

  /** @type {(layer: number, head: number) => void} */
  solo(layer, head) {
    this.state.solo(this.kind, layer, head)
    this.changed()
  }

  // A thumbnail opens its head alone, or with a key held switches it; a layer's mean, or its
  // number, all of its heads.
  /** @type {(place: Pointed | null, event: MouseEvent) => void} */
  chooseTile(place, event) {
    if (!place) return
    const { kind } = this
    const { layer, head } = place
    if (layer === undefined || layer >= kind.layers) return
    if (head === undefined || head >= kind.heads) {
      this.state.openLayer(kind, layer, event.shiftKey)
      this.changed()
    } else if (event.shiftKey || event.ctrlKey || event.metaKey) this.toggle(layer, head)
    else this.solo(layer, head)
  }

  /** @param {Pointed | null} place */
  openTile(place) {
    const { layer, head } = place ?? {}
    if (head === undefined || layer === undefined) return
    if (layer < this.kind.layers) this.change({ show: "matrix" })
  }

  /** @param {Pointed | null} place */
  keep(place) {
    if (!place) return
    this.state.keep(place)
    this.changed()
    this.ask()
  }

  /** @param {number} key */
  keepKey(key) {
    this.state.keepKey(key)
    this.changed()
    this.ask()
  }

  /** @param {Pointed | null} place */
  hover(place) {
    this.hovered = place
    this.near(place?.layer)
    this.speak()
    this.scheduleOverlay()
  }

  /** @param {Zooming} name */
  zoom(name) {
    for (const stack of [this.lines, this.matrix]) if (stack.inner) stack[name]()
    this.speak()
  }

  /** @type {(across: number, down: number) => void} */
  pan(across, down) {
    for (const stack of [this.lines, this.matrix]) stack.pan(across, down)
  }

  // ---- what is told and asked

  // Whoever points at a layer may open it: its numbers come while the pointer is on its way to
  // press, and while a finger is, which nothing announces, until it is lifted.
  /** @type {(layer?: number, pressed?: boolean) => void} */
  near(layer, pressed = false) {
    clearTimeout(this.nearTimer)
    const { model, server } = this
    if (!server || !model || layer === undefined) return
    const { kind } = this
    if (!(layer < kind.layers) || model.has(kind, layer)) return
    if (pressed) this.askLayer(layer)
    else this.nearTimer = setTimeout(() => this.askLayer(layer), NEAR)
  }

  // What was just asked for is on its way: a second question would have the server begin again.
  /** @param {number} layer */
  askLayer(layer) {
    clearTimeout(this.nearTimer)
    const [key, now] = [`${this.requests.name} ${this.kind.name} ${layer}`, performance.now()]
    if (this.asked.key === key && now - this.asked.at < COMES) return
    this.asked = { key, at: now }
    this.server?.layer({ attention: this.kind.name, layer })
  }

  // Whether the numbers of a layer have come.
  /** @type {(request: LayerRequest) => boolean} */
  holds({ attention, layer }) {
    const kind = this.model?.kinds.get(attention)
    return Boolean(kind && this.model?.has(kind, layer))
  }

  // Tell the server at once what it has not been told yet.
  flush() {
    if (this.commitTimer) this.commit()
  }

  // What the server has not been told yet stays untold.
  forget() {
    clearTimeout(this.commitTimer)
    this.commitTimer = 0
  }

  commit() {
    this.forget()
    this.server?.commit(this.state.message())
  }

  ask() {
    const { scene, server } = this
    if (!server || !scene) return
    const request = this.requests.needed(scene, this.activeOf(scene))
    if (request && !this.requests.has(request)) server.exact(request)
  }

  // After a key or a movement, the line for screen readers says where it led.
  speak() {
    clearTimeout(this.restTimer)
    this.restTimer = setTimeout(() => this.rested(), REST)
  }

  rested() {
    // There is nothing yet to ask about.
    if (!this.scene || this.waiting !== null) return this.speak()
    this.ask()
    const { zoom } = this.visiblePanels.includes("matrix") ? this.matrix : this.lines
    this.readout.speak(aroundOf(this.scene, zoom, this.controls.note.textContent))
  }

  // ---- what is shown

  async refresh() {
    const [model, view] = [this.model, this.view]
    if (!model) return
    const kind = model.kindOf(view.attention)
    const thumbs = await model.thumbnails(kind)
    this.waiting = null
    if (!(await model.layer(kind, view.layer))) {
      this.waiting = view.layer
      if (this.scene) this.controls.show({ ...this.scene, ...this.state.chosen(this.kind) })
      this.readout.sentence.textContent = awaitedSentence(view.layer).text
      return
    }
    if (this.model !== model || this.kind !== kind || !model.ready(kind, this.view.layer)) return
    if (this.scene && this.scene.model !== model) this.speak()
    const measure = this.ownMeasures.find(({ name }) => name === view.measure) ?? null
    const scene = { ...sceneOf(model, kind, thumbs, this.state.chosen(kind)), measure }
    this.scene = /** @type {DrawnScene} */ (scene) // its colours come as it is drawn
    this.dirty = true
    // At once: the next frame shows it, where waiting for that frame would show it one later.
    this.paint()
    // What an address keeps is asked for as if it had been clicked.
    if (view.query !== null || view.key !== null || view.show === "table") this.speak()
  }

  schedule() {
    this.dirty = true
    this.scheduleOverlay()
  }

  scheduleOverlay() {
    if (this.frameRequest || !this.scene) return
    this.frameRequest = requestAnimationFrame(() => this.paint())
  }

  paint() {
    cancelAnimationFrame(this.frameRequest)
    this.frameRequest = 0
    if (!this.scene) return
    if (this.dirty) this.draw(this.scene)
    this.dirty = false
    this.drawOverlays(this.scene)
    this.painted += 1
    this.server?.drawn()
  }

  /** @param {DrawnScene} scene */
  draw(scene) {
    scene.theme = themeOf(this.root)
    scene.shades = shadesOf(scene.theme, scene.view.colours)
    this.root.style.setProperty("--quiet", scene.theme.quiet)
    const { visiblePanels, lines, matrix } = this
    this.views.className = `views show-${scene.view.show}${standsBeside(scene.kind, this.views.clientWidth) ? " beside" : ""}`
    for (const [name, host] of this.panels) host.hidden = !visiblePanels.includes(name)
    this.controls.show(scene)
    this.buildWords(scene)
    if (visiblePanels.includes("grid")) this.drawGrid(scene)
    if (visiblePanels.includes("matrix")) matrix.setNumbers(scene)
    for (const [name, stack] of Object.entries({ lines, matrix }))
      if (visiblePanels.includes(name)) stack.draw(scene, stack.host.clientWidth)
    this.controls.tell(scene, visiblePanels.includes("lines") && Boolean(lines.more))
  }

  /** @param {DrawnScene} scene */
  buildWords(scene) {
    const key = `${scene.kind.name} ${scene.frame.key}`
    if (this.wordsOf === scene.model && this.wordsKey === key) return
    this.wordsOf = scene.model
    this.wordsKey = key
    this.words.build(scene)
  }

  /** @param {DrawnScene} scene */
  drawGrid(scene) {
    const { view, kind, frame, theme } = scene
    const key = [
      kind.name,
      scene.tilesPlain ? "plain" : frame.key,
      view.scale,
      view.maximum,
      view.colours,
      theme.dark,
    ].join(" ")
    if (this.tilesOf !== scene.model || this.tilesKey !== key) {
      if (this.tilesOf !== scene.model) this.grid.forget()
      this.tilesOf = scene.model
      this.tilesKey = key
      if (scene.tilesPlain) this.grid.setTiles(plainTiles(scene), scene)
      else this.awaitTiles(scene, key)
    }
    this.grid.draw(scene, this.grid.host.clientWidth)
  }

  /** @type {(scene: DrawnScene, key: string) => Promise<void>} */
  async awaitTiles(scene, key) {
    const areWanted = () => this.tilesOf === scene.model && this.tilesKey === key
    const tiles = await framedTiles(scene, areWanted)
    if (!tiles || !areWanted()) return
    this.grid.setTiles(tiles, scene)
    this.schedule()
  }

  /** @param {DrawnScene} scene */
  drawOverlays(scene) {
    const { visiblePanels, grid, lines, matrix } = this
    const active = this.activeOf(scene)
    for (const [name, stack] of Object.entries({ grid, lines, matrix }))
      if (visiblePanels.includes(name)) stack.drawOverlay(scene, active)
    this.showWords()
  }

  showWords() {
    const { scene, visiblePanels, requests } = this
    // Other numbers have come, and are said once they are drawn.
    if (!scene || scene.model !== this.model) return
    const active = this.activeOf(scene)
    if (visiblePanels.includes("text")) this.words.show(scene, active)
    if (visiblePanels.includes("table")) {
      const exact = requests.answer(requests.ofRow(scene, Math.max(active.row, 0)))
      this.table.show(scene, active, exact)
    }
    this.readout.show(
      this.waiting === null ? sentenceOf(scene, active, requests) : awaitedSentence(this.waiting),
    )
  }
}

// The element around one picture.
/** @type {(name: string, title: string, host: HTMLElement) => HTMLElement} */
const panel = (name, title, host) =>
  el(
    "section",
    { className: `panel ${name}-panel`, "aria-label": `${title} view` },
    el("p", { className: "title", "aria-hidden": "true" }, title),
    host,
  )

/** @type {(model: Model) => string} */
const shapeOf = ({ kinds }) =>
  [...kinds.values()].map(({ name, layers, heads }) => `${name} ${layers} ${heads}`).join()
