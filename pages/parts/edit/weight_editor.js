// The weights of one head as cells that can be dragged, painted and typed, and the answer beside
// them. What a visitor typed is only ever set as text.
import { el } from "../../../viz/explorer/browser/element.js"
import {
  contextOf,
  fitted,
  inkOn,
  prepared,
  shade,
  shadesOf,
  themeOf,
} from "../../../viz/explorer/browser/paint.js"
import { encodedRow, fractions, rowOf, rowSum, setKeys, sharedRow } from "./weight_rows.js"
/** @import { Mounting } from "../../../viz/explorer/browser/types.js" */
/** @import { Answer, Cell, Context, Figure, Held, Row, Tools } from "./weight_editor_types.js" */

// Pixels.
const [LARGEST, SMALLEST, TALLEST, NUMBERED] = [44, 18, 390, 22] // a cell, the matrix, a cell with a number
const [NAMES, NAME_SHARE, KEY_NAMES, TYPE] = [110, 0.27, 84, 13]
const [DRAG_PIXELS, MOVED, BESIDE] = [140, 3, 720] // from 0 to 1; of a drag; a width with room beside the matrix
const FEW = 14 // keys: the answer stands close to their matrix
const [STEP, FINE_STEP] = [0.05, 0.01]
const SHOWN = 1e-4 // percent: the field of a smaller weight says 0
const WAIT = 350 // milliseconds after the last key
const BRUSHES = [0, 0.5, 1]
/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }
const HELP =
  "Weights of one head. Arrow keys move, Enter types a value, plus and minus change it, Delete puts the row back."
const DRAG = "Drag a cell up or down to change its weight, or select it and type a number."
const TAP = "Tap a cell, then drag it up or down, or type a number."
const PAINT =
  "Paint over cells: each gets the value of the brush, as far as its row has room; several in a row share it."
const WIDE = "The picture is wider than the page: move it sideways to see the other keys."
const NO_NUMBER = "This is no number: type one from 0 to 100."
const inRange = (/** @type {number} */ share) =>
  `A weight is between 0 and 100 %: this one is ${100 * share} % now.`
const MASKED = "The mask hides this token from the query. Allow masked cells to set it anyway."
const HIDDEN = "A kept edit hides this token from every head, so its weight stays 0."
const ALONE = "Nothing else in the row could take the weight: the query may look at no other token."
/** @type {WeakMap<HTMLElement, Held>} */
const editors = new WeakMap()

/** @param {Mounting<Figure>} mounting */
export default function ({ data, parentElement, setTriggerValue }) {
  const held = editors.get(parentElement) ?? mountEditor(parentElement, data)
  const written = JSON.stringify(data)
  const isNews = held.written !== written
  Object.assign(held, { data, tell: setTriggerValue, written })
  held.observer.observe(held.root)
  held.answer.removeAttribute("aria-busy")
  if (isNews && !held.stroke) takeData(held)
  drawEditor(held)
  return () => held.observer.disconnect()
}

/** @type {(parentElement: HTMLElement, data: Figure) => Held} */
function mountEditor(parentElement, data) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".editor"))
  const canvas = el("canvas", { "aria-hidden": "true" })
  const handle = el("div", { role: "gridcell", tabIndex: 0, className: "handle" })
  const row = el("div", { role: "row" }, handle)
  const grid = el("div", { role: "grid", "aria-label": HELP, className: "grid" }, row)
  const sheet = el("div", { className: "sheet" }, canvas, grid)
  const [caption, said, cut] = ["caption", "said", "cut"].map((name) =>
    el("p", { className: name }),
  )
  const answer = el("section", { className: "answer", "aria-label": "Answer", role: "group" })
  said.setAttribute("aria-live", "polite")
  const tools = mountTools()
  const left = el("div", { className: "left" }, caption, tools.element, said, sheet, cut)
  root.replaceChildren(left, answer)
  /** @type {Partial<Held>} */
  const parts = { root, caption, tools, said, sheet, canvas, handle, row, grid, cut, answer }
  const none = { written: "", width: 0, stroke: null, ended: false, timer: 0 }
  Object.assign(parts, none, { message: "", keepsMessage: false })
  // An edit that comes with the page goes on as it was made.
  const renormalises = !data.cells.length || data.cells.some(([, , , renormalise]) => renormalise)
  Object.assign(parts, { painting: false, brush: 1, renormalises, pastMask: false })
  const held = /** @type {Held} */ (parts)
  held.observer = new ResizeObserver(() => root.clientWidth !== held.width && drawEditor(held))
  hear(held)
  editors.set(parentElement, held)
  Object.assign(root, { held }) // for those who measure
  return held
}

/** @type {() => Tools} */
function mountTools() {
  /** @type {(text: string) => HTMLButtonElement} */
  const button = (text) => el("button", { type: "button" }, text)
  const modes = [button("Drag"), button("Paint")]
  const rests = [button("make room"), button("stay as they are")]
  const brushes = BRUSHES.map((value) => button(`${100 * value} %`))
  const slider = el("input", {
    type: "range",
    min: "0",
    max: "100",
    step: "5",
    "aria-label": "Value of the brush, in percent",
  })
  const brush = el("span", { className: "brush" }, "Value", ...brushes, slider)
  const pastMask = el("input", { type: "checkbox" })
  const pastMaskLabel = el("label", {}, pastMask, "allow masked cells")
  const name = el("span", { className: "name" })
  // As text: a field of numbers drops a comma in some languages, and 33,3 would be 333.
  const number = el("input", {
    type: "text",
    inputMode: "decimal",
    "aria-label": "Weight of the selected cell, in percent",
  })
  const back = button("Put the row back")
  const element = el(
    "div",
    { className: "tools" },
    el("div", {}, group("Drag or paint", modes), brush, pastMaskLabel),
    el("div", {}, "When a weight is set, the others", group("The other weights of the row", rests)),
    el("div", { className: "one" }, name, el("span", {}, number, " %"), back),
  )
  const choices = { modes, brush, slider, brushes, rests, pastMask, pastMaskLabel }
  return { element, ...choices, name, number, back }
}

/** @type {(name: string, buttons: HTMLElement[]) => HTMLElement} */
const group = (name, buttons) =>
  el("span", { className: "choice", role: "group", "aria-label": name }, ...buttons)

/** @param {Held} held */
function hear(held) {
  const { canvas, handle, tools } = held
  for (const target of [canvas, handle]) {
    target.onpointerdown = (event) => press(held, event)
    target.onpointermove = (event) => move(held, event)
    target.onpointerup = () => release(held)
    target.onpointercancel = () => giveUp(held)
  }
  canvas.onclick = (event) => selectAt(held, event)
  handle.onkeydown = (event) => pressKey(held, event)
  tools.modes.forEach((button, place) => {
    button.onclick = () => redraw(held, { painting: place === 1, message: "" })
  })
  tools.rests.forEach((button, place) => {
    button.onclick = () => redraw(held, { renormalises: place === 0, message: "" })
  })
  tools.brushes.forEach((button, place) => {
    button.onclick = () => redraw(held, { brush: BRUSHES[place] })
  })
  tools.slider.oninput = () => redraw(held, { brush: Number(tools.slider.value) / 100 })
  tools.pastMask.onchange = () => redraw(held, { pastMask: tools.pastMask.checked, message: "" })
  tools.number.onchange = () => typeNumber(held)
  tools.number.onkeydown = (event) => leaveNumber(held, event)
  tools.back.onclick = () => putBack(held)
}

/** @type {(held: Held, changes: Partial<Held>) => void} */
function redraw(held, changes) {
  Object.assign(held, changes)
  drawEditor(held)
}

// What the server sent, in place of what was edited here.
/** @param {Held} held */
function takeData(held) {
  const { data } = held
  const bytes = (/** @type {string} */ text) =>
    Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
  // An edit of the page's own, of a pattern for instance, selects its cell; of one made here the answer has no say.
  const isOfPage = written(data.cells) !== written(cellsOf(held.edited ?? new Map()))
  held.base = new Float32Array(bytes(data.base).buffer)
  held.mask = bytes(data.mask)
  held.edited = new Map()
  for (const [query, key, value, renormalise] of data.cells) {
    const row = held.edited.get(query) ?? new Map()
    row.set(key, { value, renormalise })
    held.edited.set(query, row)
  }
  const isThere = held.head === data.head && placeOf(held, held.selected) !== null
  const isChosenAnew = String(data.chosen) !== String(held.chosen)
  if (!isThere || isChosenAnew || isOfPage) held.selected = data.chosen
  held.head = data.head
  held.chosen = data.chosen
  if (!held.keepsMessage) held.message = ""
  held.keepsMessage = false
}

// Where things are

/** @type {(held: Held, cell: [number, number]) => [number, number] | null} */
function placeOf({ data }, [query, key]) {
  const row = query - data.rows[0].place
  const column = key - data.columns[0].place
  const isDrawn = row >= 0 && row < data.rows.length && column >= 0 && column < data.columns.length
  return isDrawn ? [row, column] : null
}

/** @type {(held: Held, event: { clientX: number, clientY: number }) => [number, number] | null} */
function cellAt({ canvas, data, plan }, event) {
  const { left, top } = canvas.getBoundingClientRect()
  const column = Math.floor((event.clientX - left - plan.left) / plan.cell)
  const row = Math.floor((event.clientY - top - plan.top) / plan.cell)
  if (!data.rows[row] || !data.columns[column]) return null
  return [data.rows[row].place, data.columns[column].place]
}

/** @type {(held: Held, query: number) => number} */
const startOf = ({ data }, query) => (query - data.rows[0].place) * data.sent

/** @type {(held: Held, query: number) => Float32Array} */
export const baseRow = (held, query) => {
  const start = startOf(held, query)
  return held.base.subarray(start, start + held.data.sent)
}

/** @type {(held: Held, query: number) => Uint8Array} */
const maskRow = (held, query) => {
  const start = startOf(held, query)
  return held.mask.subarray(start, start + held.data.sent)
}

/** @type {(held: Held, query: number) => Float32Array} */
const shownRow = (held, query) => rowOf(baseRow(held, query), held.edited.get(query))

// What is done

/** @type {(held: Held, event: PointerEvent) => void} */
function press(held, event) {
  const cell = cellAt(held, event)
  held.ended = false
  if (!cell || event.button) return
  const isSelected = String(cell) === String(held.selected)
  if (event.pointerType === "touch" && !held.painting && !isSelected) return // the page scrolls; a tap selects
  event.preventDefault()
  held.handle.focus({ preventScroll: true })
  const target = /** @type {HTMLElement} */ (event.currentTarget)
  target.setPointerCapture(event.pointerId)
  held.stroke = {
    pointer: event.pointerId,
    painting: held.painting,
    y: event.clientY,
    start: shownRow(held, cell[0])[cell[1]],
    moved: false,
    before: new Map(held.edited),
    painted: new Map(),
  }
  held.selected = cell
  held.message = ""
  if (held.painting) paintCell(held, cell, held.brush)
  drawEditor(held)
}

/** @type {(held: Held, event: PointerEvent) => void} */
function move(held, event) {
  const { stroke } = held
  if (!stroke || stroke.pointer !== event.pointerId) return
  event.preventDefault()
  if (stroke.painting) {
    for (const each of event.getCoalescedEvents?.() ?? [event]) {
      const cell = cellAt(held, each)
      if (cell && !stroke.painted.get(cell[0])?.has(cell[1])) paintCell(held, cell, held.brush)
    }
  } else {
    const up = stroke.y - event.clientY
    stroke.moved ||= Math.abs(up) > MOVED
    if (!stroke.moved) return
    const finer = event.shiftKey ? 5 : 1
    stroke.painted.clear()
    paintCell(held, held.selected, clamped(stroke.start + up / DRAG_PIXELS / finer))
  }
  drawEditor(held)
}

/** @param {Held} held */
function release(held) {
  const { stroke } = held
  held.stroke = null
  held.ended = stroke !== null // the click that follows is the end of it, wherever it was released
  if (stroke?.painted.size && String(cellsOf(stroke.before)) !== String(cellsOf(held.edited)))
    send(held)
}

/** @param {Held} held */
function giveUp(held) {
  if (held.stroke) held.edited = held.stroke.before
  held.stroke = null
  drawEditor(held)
}

/** @type {(value: number) => number} */
const clamped = (value) => Math.round(1000 * Math.min(1, Math.max(0, value))) / 1000

// A weight that the stroke sets, beside the others that it has set in this row.
/** @type {(held: Held, cell: [number, number], value: number) => void} */
function paintCell(held, [query, key], value) {
  const { stroke } = held
  const refusal = refusalOf(held, query, key)
  held.selected = [query, key]
  held.message = refusal
  if (refusal || !stroke) return
  const painted = stroke.painted.get(query) ?? new Map()
  painted.set(key, value)
  stroke.painted.set(query, painted)
  setRow(held, query, painted, stroke.before.get(query))
}

/** @type {(held: Held, query: number, key: number) => string} */
function refusalOf(held, query, key) {
  const allowed = maskRow(held, query)[key]
  if (allowed === 2) return HIDDEN
  return allowed || held.pastMask || shownRow(held, query)[key] > 0 ? "" : MASKED
}

// The row with these weights set. before: what was overwritten in it until now.
/** @type {(held: Held, query: number, painted: Map<number, number>, before: Row | undefined) => void} */
function setRow(held, query, painted, before) {
  const [base, mask] = [baseRow(held, query), maskRow(held, query)]
  const now = rowOf(base, before)
  const wanted = sharedRow(now, base, mask, painted, held.renormalises)
  const isAlone =
    held.renormalises &&
    now.every((weight, key) => painted.has(key) || !(mask[key] === 1 || weight))
  if (!wanted || isAlone) {
    held.message = ALONE
    return
  }
  const touched = new Set([...(before?.keys() ?? []), ...painted.keys()])
  const row = encodedRow(base, wanted, touched, held.renormalises)
  held.edited = new Map(held.edited)
  if (row.size) held.edited.set(query, row)
  else held.edited.delete(query)
}

/** @type {(held: Held, value: number) => boolean} */
function setSelected(held, value) {
  const [query, key] = held.selected
  held.message = refusalOf(held, query, key)
  if (held.message) return false
  setRow(held, query, new Map([[key, value]]), held.edited.get(query))
  return true
}

/** @param {Held} held */
function typeNumber(held) {
  const [written, [query, key]] = [held.tools.number.value, held.selected]
  const value = Number(written.replace(",", "."))
  const isNew = written !== inField(shownRow(held, query)[key])
  if (isNew && !Number.isFinite(value)) {
    Object.assign(held, { message: NO_NUMBER, keepsMessage: true })
  } else if (written.trim() !== "" && isNew) {
    const share = Math.min(100, Math.max(0, value)) / 100
    if (setSelected(held, share)) send(held)
    if (value !== 100 * share && !held.message) {
      held.message = inRange(share)
      held.keepsMessage = true
    }
  }
  drawEditor(held)
}

/** @type {(held: Held, event: KeyboardEvent) => void} */
function leaveNumber(held, event) {
  if (event.key !== "Enter" && event.key !== "Escape") return
  if (event.key === "Escape") showNumber(held)
  else typeNumber(held)
  event.preventDefault()
  event.stopPropagation()
  held.handle.focus({ preventScroll: true })
}

/** @param {Held} held */
function putBack(held) {
  const [query] = held.selected
  held.message = ""
  if (held.edited.has(query)) {
    held.edited = new Map(held.edited)
    held.edited.delete(query)
    send(held)
  }
  drawEditor(held)
}

/** @type {(held: Held, event: KeyboardEvent) => void} */
function pressKey(held, event) {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = event
  if ((ctrlKey || metaKey) && key.toLowerCase() === "z")
    held.tell(shiftKey ? "redone" : "undone", Date.now())
  else if (ctrlKey || metaKey || altKey) return
  else if (MOVES[key]) step(held, MOVES[key])
  else if (key === "Enter" || /^[0-9.]$/.test(key)) enterNumber(held, key)
  else if (key === "+" || key === "-" || key === "−" || key === "=" || key === "_")
    nudge(held, key === "+" || key === "=" ? 1 : -1, shiftKey && key !== "+")
  else if (key === " ") brushSelected(held)
  else if (key === "Delete" || key === "Backspace") putBack(held)
  else if (key === "Escape" && held.stroke) giveUp(held)
  else if (key === "Escape") held.handle.blur()
  else return
  event.preventDefault()
}

/** @type {(held: Held, by: [number, number]) => void} */
function step(held, [down, right]) {
  const place = placeOf(held, held.selected) ?? [0, 0]
  const { rows, columns } = held.data
  const row = Math.min(Math.max(place[0] + down, 0), rows.length - 1)
  const column = Math.min(Math.max(place[1] + right, 0), columns.length - 1)
  held.selected = [rows[row].place, columns[column].place]
  held.message = refusalOf(held, ...held.selected)
  drawEditor(held)
  held.handle.scrollIntoView({ block: "nearest", inline: "nearest" })
}

/** @type {(held: Held, key: string) => void} */
function enterNumber({ tools }, key) {
  tools.number.focus()
  if (key === "Enter") tools.number.select()
  else tools.number.value = key === "." ? "0." : key
}

/** @type {(held: Held, sign: number, fine: boolean) => void} */
function nudge(held, sign, fine) {
  const [query, key] = held.selected
  const by = sign * (fine ? FINE_STEP : STEP)
  if (setSelected(held, clamped(shownRow(held, query)[key] + by))) sendSoon(held)
  drawEditor(held)
}

/** @param {Held} held */
function brushSelected(held) {
  if (held.painting && setSelected(held, held.brush)) sendSoon(held)
  drawEditor(held)
}

/** @type {(held: Held, event: MouseEvent) => void} */
function selectAt(held, event) {
  const cell = cellAt(held, event)
  const { ended } = held
  held.ended = false
  if (ended || !cell || String(cell) === String(held.selected)) return
  held.selected = cell
  held.message = refusalOf(held, ...cell)
  drawEditor(held)
}

// All that is overwritten, as plain values.
/** @type {(edited: Map<number, Row>) => Cell[]} */
const cellsOf = (edited) =>
  [...edited].flatMap(([query, row]) =>
    [...row].map(
      ([key, { value, renormalise }]) => /** @type {Cell} */ ([query, key, value, renormalise]),
    ),
  )

/** @type {(cells: Cell[]) => string} */
const written = (cells) => cells.map(String).sort().join()

/** @param {Held} held */
function sendSoon(held) {
  clearTimeout(held.timer)
  held.timer = window.setTimeout(() => send(held), WAIT)
}

/** @param {Held} held */
function send(held) {
  clearTimeout(held.timer)
  const [cells, { data }] = [cellsOf(held.edited), held]
  const isThere =
    written(cells) === written(data.cells) && String(held.selected) === String(data.chosen)
  if (isThere && !held.answer.hasAttribute("aria-busy")) return // no answer would come: nothing is new
  held.answer.setAttribute("aria-busy", "true")
  held.chosen = held.selected // what the answer will say, whatever is selected until it comes
  held.tell("edited", { head: held.head, cells, place: held.selected })
}

// What is drawn

/** @param {Held} held */
function drawEditor(held) {
  const { data, root } = held
  held.width = root.clientWidth
  if (!data || !held.width) return
  held.theme = themeOf(root)
  root.classList.toggle("alone", data.alone)
  root.classList.toggle("beside", held.width >= BESIDE)
  root.classList.toggle("few", data.columns.length <= FEW)
  root.style.setProperty("--second", held.theme.second)
  root.style.setProperty("--quiet", held.theme.quiet)
  root.style.setProperty("--edge", held.theme.grid)
  held.caption.textContent = data.caption
  plan(held)
  const isWide = held.plan.width > held.sheet.clientWidth + 1
  held.cut.textContent = [data.cut, ...(isWide ? [WIDE] : [])].filter(Boolean).join(" ")
  held.cut.hidden = !held.cut.textContent
  paint(held)
  showTools(held)
  showHandle(held)
  showAnswer(held.answer, data.answer)
}

/** @param {Held} held */
function plan(held) {
  const { data, sheet, canvas, theme } = held
  const width = sheet.clientWidth
  const [rows, columns] = [data.rows.length, data.columns.length]
  const context = contextOf(canvas)
  context.font = `700 ${TYPE}px ${theme.font}`
  /** @type {(tokens: { text: string }[]) => number} */
  const longest = (tokens) =>
    Math.ceil(Math.max(...tokens.map(({ text }) => context.measureText(text).width))) + 12
  const left = Math.min(longest(data.rows), NAMES, Math.ceil(width * NAME_SHARE))
  const top = Math.min(longest(data.columns), KEY_NAMES)
  const room = Math.min((width - left - 4) / columns, TALLEST / rows, LARGEST)
  const cell = Math.max(SMALLEST, Math.floor(room))
  held.plan = { cell, left, top, width: left + columns * cell + 4, height: top + rows * cell + 4 }
}

/** @param {Held} held */
function paint(held) {
  const { data, plan, theme, canvas } = held
  const context = prepared(canvas, plan.width, plan.height)
  paintNames(held, context)
  const shades = shadesOf(theme, "blue")
  data.rows.forEach(({ place: query }, row) => {
    const [weights, mask] = [shownRow(held, query), maskRow(held, query)]
    data.columns.forEach(({ place: key }, column) => {
      const x = plan.left + column * plan.cell
      const y = plan.top + row * plan.cell
      const strength = Math.sqrt(Math.min(1, Math.max(0, weights[key])))
      context.fillStyle = shade(shades, strength)
      context.fillRect(x, y, plan.cell, plan.cell)
      if (mask[key] !== 1 && !weights[key]) hatch(context, theme.quiet, x, y, plan.cell)
      else if (plan.cell >= NUMBERED && weights[key] >= 0.005)
        writeNumber(
          context,
          inkOn(theme, shades, strength),
          theme.font,
          weights[key],
          x,
          y,
          plan.cell,
        )
      context.strokeStyle = theme.grid
      context.lineWidth = 1
      context.strokeRect(x + 0.5, y + 0.5, plan.cell, plan.cell)
    })
  })
  outline(held, context)
}

/** @type {(held: Held, context: Context) => void} */
function paintNames(held, context) {
  const { data, plan, theme, selected } = held
  const type = Math.min(TYPE, plan.cell - 3)
  context.fillStyle = theme.text
  context.textBaseline = "middle"
  data.rows.forEach(({ text, place }, row) => {
    context.font = `${place === selected[0] ? "700 " : ""}${type}px ${theme.font}`
    context.textAlign = "right"
    const y = plan.top + (row + 0.5) * plan.cell
    context.fillText(fitted(context, text, plan.left - 8), plan.left - 6, y)
  })
  data.columns.forEach(({ text, place }, column) => {
    context.font = `${place === selected[1] ? "700 " : ""}${type}px ${theme.font}`
    context.save()
    context.translate(plan.left + (column + 0.5) * plan.cell, plan.top - 5)
    context.rotate(-Math.PI / 2)
    context.textAlign = "left"
    context.fillText(fitted(context, text, plan.top - 8), 0, 0)
    context.restore()
  })
}

/** @type {(context: Context, line: string, x: number, y: number, size: number) => void} */
function hatch(context, line, x, y, size) {
  context.strokeStyle = line
  context.lineWidth = 0.75
  context.beginPath()
  for (const from of [0.5, 1, 1.5]) {
    context.moveTo(x + Math.max(0, from - 1) * size, y + Math.min(1, from) * size)
    context.lineTo(x + Math.min(1, from) * size, y + Math.max(0, from - 1) * size)
  }
  context.stroke()
}

/** @type {(context: Context, ink: string, font: string, weight: number, x: number, y: number, size: number) => void} */
function writeNumber(context, ink, font, weight, x, y, size) {
  context.fillStyle = ink
  context.font = `${Math.min(12, size / 2)}px ${font}`
  context.textAlign = "center"
  const rounded = Math.round(100 * weight)
  const number = rounded === 100 && weight < 1 - 1e-6 ? 99 : rounded
  context.fillText(String(number), x + size / 2, y + size / 2 + 0.5)
}

/** @type {(held: Held, query: number) => Set<number>} */
const marked = (held, query) => setKeys(baseRow(held, query), held.edited.get(query) ?? new Map())

// Edited cells have a thick border and a corner, so that colour is not all that tells them.
/** @type {(held: Held, context: Context) => void} */
function outline(held, context) {
  const { data, plan, theme } = held
  context.strokeStyle = context.fillStyle = theme.second
  context.lineWidth = 2
  data.rows.forEach(({ place: query }, row) => {
    const set = marked(held, query)
    data.columns.forEach(({ place: key }, column) => {
      if (!set.has(key)) return
      const [x, y] = [plan.left + column * plan.cell, plan.top + row * plan.cell]
      context.strokeRect(x + 1.5, y + 1.5, plan.cell - 2, plan.cell - 2)
      context.beginPath()
      context.moveTo(x + 1, y + 1)
      context.lineTo(x + 8, y + 1)
      context.lineTo(x + 1, y + 8)
      context.fill()
    })
  })
}

/** @param {Held} held */
function showTools(held) {
  const { tools, data, mask, canvas } = held
  /** @type {(button: HTMLElement, on: boolean) => void} */
  const mark = (button, on) => button.setAttribute("aria-pressed", String(on))
  tools.modes.forEach((button, place) => void mark(button, held.painting === (place === 1)))
  tools.rests.forEach((button, place) => void mark(button, held.renormalises === (place === 0)))
  tools.brushes.forEach((button, place) => void mark(button, held.brush === BRUSHES[place]))
  tools.brush.hidden = !held.painting
  tools.slider.value = String(100 * held.brush)
  tools.pastMaskLabel.hidden = !mask.includes(0)
  tools.pastMask.checked = held.pastMask
  canvas.classList.toggle("painting", held.painting)
  held.handle.classList.toggle("painting", held.painting)
  const [query, key] = held.selected
  const names = [
    data.rows.find(({ place }) => place === query),
    data.columns.find(({ place }) => place === key),
  ]
  tools.name.textContent = `“${names[0]?.text}” looks at “${names[1]?.text}” with`
  tools.back.disabled = !held.edited.has(query)
  showNumber(held)
  held.said.textContent = held.message || noteOf(held)
}

/** @param {Held} held */
function showNumber(held) {
  const { number } = held.tools
  const focused = /** @type {Document | ShadowRoot} */ (number.getRootNode()).activeElement
  if (focused === number && !held.stroke) return
  const [query, key] = held.selected
  number.value = inField(shownRow(held, query)[key])
}

// A weight as its field shows it, in percent.
/** @type {(weight: number) => string} */
const inField = (weight) => String(100 * weight < SHOWN ? 0 : Number((100 * weight).toPrecision(4)))

// What there is to know of the selected weight, or what to do.
/** @type {(held: Held) => string} */
function noteOf(held) {
  const [query, key] = held.selected
  const before = baseRow(held, query)[key]
  if (!held.edited.has(query)) {
    if (held.painting) return PAINT
    return matchMedia("(pointer: coarse)").matches ? TAP : DRAG
  }
  const sum = rowSum(shownRow(held, query))
  const off = Math.abs(sum - 1) > 1e-4
  const free = maskRow(held, query).filter((allowed) => allowed === 1).length
  const isWhole = (held.edited.get(query)?.size ?? 0) >= free
  const others = isWhole ? "all of it was set" : "the others keep their shares of the rest"
  const row = off ? `The row sums to ${fractions(sum)}, not to 1.` : `The row sums to 1: ${others}.`
  return `Before: ${percentage(before)}. ${row}`
}

/** @type {(share: number) => string} */
export function percentage(share) {
  if (share > 0 && share < 0.0005) return "< 0.1\u00a0%"
  return `${(100 * share).toFixed(1)}\u00a0%`
}

/** @param {Held} held */
function showHandle(held) {
  const { handle, grid, row, plan, data, selected } = held
  const place = placeOf(held, selected) ?? [0, 0]
  handle.style.left = `${plan.left + place[1] * plan.cell - 2}px`
  handle.style.top = `${plan.top + place[0] * plan.cell - 2}px`
  handle.style.width = handle.style.height = `${plan.cell + 5}px`
  grid.setAttribute("aria-rowcount", String(data.rows.length))
  grid.setAttribute("aria-colcount", String(data.columns.length))
  row.setAttribute("aria-rowindex", String(place[0] + 1))
  handle.setAttribute("aria-colindex", String(place[1] + 1))
  handle.setAttribute("aria-label", cellSaid(held))
}

/** @type {(held: Held) => string} */
function cellSaid(held) {
  const [query, key] = held.selected
  const edited = marked(held, query).has(key) ? ", edited" : ""
  const masked = maskRow(held, query)[key] === 1 ? "" : ", masked"
  return `${held.tools.name.textContent} ${percentage(shownRow(held, query)[key])}${edited}${masked}`
}

/** @type {(element: HTMLElement, answer: Answer) => void} */
function showAnswer(element, { title, note, rows, texts, edited }) {
  /** @type {(className: string, share: number) => HTMLElement} */
  const bar = (className, share) => {
    const each = el("span", { className: `share ${className}` })
    each.style.width = `${Math.max(0.5, 100 * Math.min(1, share))}%`
    return each
  }
  const lines = rows.map(({ name, before, after, said }) => {
    const bars = [bar("before", before), ...(edited ? [bar("after", after)] : [])]
    const number = el("span", { className: "number" }, said)
    const top = el("span", { className: "line" }, el("span", { className: "who" }, name), number)
    return el("div", { className: "row" }, top, ...bars)
  })
  const words = texts.map(({ name, text }) =>
    el("p", { className: "text" }, el("span", { className: "quiet" }, `${name}: `), text),
  )
  const legend = el("p", { className: "quiet" })
  if (edited && rows.length)
    legend.append(
      el("span", { className: "key before" }),
      "before ",
      el("span", { className: "key after" }),
      "after",
    )
  const parts = [el("h3", {}, title), ...lines, legend, ...words]
  if (note) parts.push(el("p", { className: "quiet" }, note))
  element.replaceChildren(...parts)
}
