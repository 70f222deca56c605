// A sentence twice, and a curve for every weight of one head: from the query that looks to the key
// that is looked at. What a visitor typed is only ever set as text.
import { el } from "../../../viz/explorer/browser/element.js"
import { brightness, contrast, fitted } from "../../../viz/explorer/browser/paint.js"
/** @import { Mounting } from "../../../viz/explorer/browser/types.js" */
/** @import { At, Curve, Drawn, Figure, Held, Plan, Side, Spot, Word } from "./sentence_types.js" */

const DRAWING = "http://www.w3.org/2000/svg"
const SIZES = [26, 22, 18, 15, 13] // pixels of type, the largest that fits
const ALONE = 1.5 // times as large where nothing stands around the picture
const [LEAST_GAP, MOST_GAP, JOINED_GAP, PADDING] = [8, 56, 0, 5]
// Pixels: a line of numbers, the height of the curves, small type.
const [LINE, CURVES, SMALL] = [20, 168, 12]
const HEADING = 64 // pixels that "to key" takes at the left, on the line of the numbers
const NARROW = 560 // pixels; below, the sentence runs down the page
// Of the width for the words of a side; pixels a row, from so many rows.
const [ROOM, ROW, DENSE_ROW, DENSE] = [0.36, 28, 22, 20]
const DRAGGED = 8 // pixels
/** @type {Side[]} */
const SIDES = ["rows", "columns"]
/** @type {WeakMap<HTMLElement, Held>} */
const mounted = new WeakMap()

/** @param {Mounting<Figure>} mounting */
export default function ({ data, parentElement, setTriggerValue }) {
  const held = mounted.get(parentElement) ?? mount(parentElement)
  const before = held.data
  Object.assign(held, { data, tell: setTriggerValue })
  if (!before || before.name !== data.name)
    Object.assign(held, { kept: null, pointed: null, taken: null, swaps: false })
  const written = JSON.stringify(data)
  const same = held.written === written && held.width === held.root.clientWidth
  held.written = written
  if (same)
    // The page ran for something else: thousands of curves stay as they are.
    held.observer.observe(held.root)
  else draw(held)
  return () => held.observer.disconnect()
}

/** @type {(parentElement: HTMLElement) => Held} */
function mount(parentElement) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".sentence"))
  const sheet = el("div", { className: "sheet" })
  const readout = el("p", { className: "said", "aria-live": "polite" })
  const [cut, wider] = ["cut", "wider"].map((className) => el("p", { className }))
  const swap = el("button", { type: "button", className: "swap" }, "Swap two words")
  root.replaceChildren(sheet, el("div", { className: "below" }, readout, wider, cut, swap))
  /** @type {Partial<Held>} */
  const parts = { root, sheet, readout, cut, wider, swap }
  Object.assign(parts, { kept: null, pointed: null, taken: null, swaps: false })
  const held = /** @type {Held} */ (parts)
  swap.onclick = () => {
    Object.assign(held, { swaps: !held.swaps, taken: null, kept: null })
    light(held)
  }
  held.observer = new ResizeObserver(() => root.clientWidth !== held.width && draw(held))
  held.observer.observe(root)
  sheet.addEventListener("pointerleave", () => point(held, null))
  sheet.addEventListener("keydown", (event) => move(held, event))
  mounted.set(parentElement, held)
  return held
}

/** @param {Held} held */
function draw(held) {
  const { data, root, sheet } = held
  held.observer.observe(root)
  held.width = root.clientWidth
  if (!data || !held.width) return
  held.family = getComputedStyle(root).fontFamily
  held.full = Math.max(...data.weights.flat(), 1e-6)
  held.plan = held.width < NARROW ? down(held) : across(held)
  const svg = shape("svg", {
    role: "group",
    "aria-label": data.label,
    viewBox: `0 0 ${held.plan.width} ${held.plan.height}`,
  })
  svg.setAttribute("width", String(held.plan.width))
  svg.setAttribute("height", String(held.plan.height))
  held.curves = curvesOf(held)
  /** @param {Side} side */
  const wordsOf = (side) => held.plan[side].map((at, place) => wordOf(held, side, at, place))
  held.words = { rows: wordsOf("rows"), columns: wordsOf("columns") }
  held.headings = held.plan.headings.map(({ x, y, anchor, content }) =>
    label(x, y, SMALL, anchor, content, data.colours.quiet),
  )
  svg.append(
    ...held.curves.map(({ path }) => path),
    ...SIDES.flatMap((side) => held.words[side].map(({ group }) => group)),
    ...held.headings,
  )
  const page = /** @type {Document | ShadowRoot} */ (held.root.getRootNode())
  const focus = sheet.contains(page.activeElement) ? held.at : null
  sheet.replaceChildren(svg)
  held.wider.hidden = held.plan.width <= held.width
  held.wider.textContent = "The sentence is wider than the picture: scroll it sideways. ↔"
  held.cut.hidden = !data.cut
  held.cut.textContent = data.cut
  held.swap.hidden = !data.swaps || data.swappable.every((side) => data[side].length < 2)
  rove(held, keyboardAt(held))
  if (focus && held.at) held.words[held.at.side][held.at.place].group.focus()
  if (data.finding_key !== null && held.plan.width > held.width) {
    sheet.scrollLeft = held.plan.columns[data.finding_key].x - held.width / 2
  }
  light(held)
}

// Where everything is: the words of both sides, and where the curves begin and end

/** @type {(held: Held) => Plan} */
function across(held) {
  const { data, width } = held
  const times = data.alone ? ALONE : 1
  const sizes = data.alone ? [SIZES[0] * ALONE, ...SIZES] : SIZES
  const size =
    sizes.find((each) => SIDES.every((side) => total(held, side, each) <= width)) ??
    SIZES[SIZES.length - 1]
  const widest = Math.max(width, ...SIDES.map((side) => total(held, side, size)))
  const tall = Math.round(size * 1.5)
  const tops = { rows: LINE, columns: LINE + tall + CURVES * times }
  const height = tops.columns + tall + LINE
  /** @type {(side: Side) => Spot[]} */
  const spots = (side) => {
    const gaps = data[side].filter((word, place) => place && !word.joined).length
    const gap =
      LEAST_GAP +
      Math.min(MOST_GAP - LEAST_GAP, gaps ? (widest - total(held, side, size)) / gaps : 0)
    const long = total(held, side, size) + gaps * (gap - LEAST_GAP)
    let x = (widest - long) / 2
    const y = tops[side] + tall / 2
    const [touch, numbers] =
      side === "rows"
        ? [tops.rows + tall, LINE / 2]
        : [tops.columns, tops.columns + tall + LINE / 2]
    return data[side].map((word, place) => {
      const wide = wordWidth(held, word, size)
      x += place ? (word.joined ? JOINED_GAP : gap) : 0
      const [left, middle] = [x, x + wide / 2]
      x += wide
      const top = Math.min(y - tall / 2, numbers - LINE / 2)
      return {
        x: middle,
        y,
        left,
        wide,
        tall,
        anchor: "middle",
        text: middle,
        end: [middle, touch],
        touch: { x: left, y: top, width: wide, height: tall + LINE },
        content: word.text,
        number: { x: middle, y: numbers, anchor: "middle" },
        size: sizeOf(word, size),
      }
    })
  }
  const headings = [
    { x: 0, y: LINE / 2, anchor: "start", content: "query attends" },
    { x: 0, y: height - LINE / 2, anchor: "start", content: "to key" },
  ]
  const [rows, columns] = [spots("rows"), spots("columns")]
  return { width: Math.ceil(widest), height, vertical: false, rows, columns, headings }
}

/** @type {(held: Held) => Plan} */
function down(held) {
  const { data, width } = held
  const most = Math.max(data.rows.length, data.columns.length)
  const [tall, size] = most > DENSE ? [DENSE_ROW, 14] : [ROW, 16]
  const room = Math.min(width * ROOM, 180)
  /** @type {(side: Side) => Spot[]} */
  const spots = (side) => {
    const left = side === "rows"
    const start = LINE + ((most - data[side].length) * tall) / 2
    return data[side].map((word, place) => {
      const type = sizeOf(word, size)
      context.font = `${type}px ${held.family}`
      const content = fitted(context, word.text, room - 44)
      const wide = textWidth(held, content, type) + 2 * PADDING
      const x = left ? room - wide : width - room
      const y = start + (place + 0.5) * tall
      const number = { x: left ? 0 : width, y, anchor: left ? "start" : "end" }
      const reach = { x: left ? 0 : width - room, y: y - tall / 2, width: room, height: tall }
      return {
        x,
        y,
        left: x,
        wide,
        tall: tall - 2,
        touch: reach,
        anchor: "start",
        text: x + PADDING,
        content,
        end: [left ? room : width - room, y],
        number,
        size: type,
      }
    })
  }
  const headings = [
    { x: room, y: LINE / 2, anchor: "end", content: "query attends" },
    { x: width - room, y: LINE / 2, anchor: "start", content: "to key" },
  ]
  const [rows, columns] = [spots("rows"), spots("columns")]
  return { width, height: LINE + tall * most + 4, vertical: true, rows, columns, headings }
}

/** @type {(held: Held, side: Side, size: number) => number} */
function total(held, side, size) {
  return held.data[side].reduce(
    (sum, word, place) =>
      sum + (place ? (word.joined ? JOINED_GAP : LEAST_GAP) : 0) + wordWidth(held, word, size),
    0,
  )
}

/** @type {(held: Held, word: Word, size: number) => number} */
function wordWidth(held, word, size) {
  return textWidth(held, word.text, sizeOf(word, size)) + (word.joined ? 1 : 2) * PADDING
}

/** @type {(word: Word, size: number) => number} */
function sizeOf(word, size) {
  return word.special ? Math.max(11, Math.round(size * 0.6)) : size
}

const context = /** @type {CanvasRenderingContext2D} */ (el("canvas").getContext("2d"))

/** @type {(held: Held, content: string, size: number) => number} */
function textWidth(held, content, size) {
  context.font = `${size}px ${held.family}`
  return context.measureText(content).width
}

// What is drawn

/** @param {Held} held */
function curvesOf(held) {
  const { data, plan, full } = held
  /** @type {Curve[]} */
  const curves = []
  for (const [query, row] of data.weights.entries()) {
    for (const [key, weight] of row.entries()) {
      if (weight >= data.look.faintest * full)
        curves.push({ query, key, weight, marked: data.marked[query].includes(key) })
    }
  }
  curves.sort((left, right) => left.weight - right.weight)
  return curves.slice(-data.look.most).map((curve) => ({
    ...curve,
    path: curveOf(held, curve, plan.rows[curve.query].end, plan.columns[curve.key].end),
  }))
}

/**
 * @param {Held} held
 * @param {Curve} curve
 * @param {[number, number]} from
 * @param {[number, number]} to
 */
function curveOf(held, { query, key, weight }, [x, y], [toX, toY]) {
  const bend = held.plan.vertical ? (toX - x) / 2 : (toY - y) / 2
  const [first, second] = held.plan.vertical
    ? [
        [x + bend, y],
        [toX - bend, toY],
      ]
    : [
        [x, y + bend],
        [toX, toY - bend],
      ]
  const { thinnest, thicker, crowded } = held.data.look
  const wide =
    thinnest + thicker * Math.min(1, crowded / held.data.rows.length) * (weight / held.full)
  const path = shape("path", {
    class: "curve",
    d: `M${x} ${y}C${first} ${second} ${toX} ${toY}`,
    "stroke-width": wide,
  })
  Object.assign(path.dataset, {
    query: held.data.rows[query].place,
    key: held.data.columns[key].place,
    weight,
  })
  return path
}

/** @type {(held: Held, side: Side, at: Spot, place: number) => Drawn} */
function wordOf(held, side, at, place) {
  const { data, plan } = held
  const group = shape("g", { class: "word", role: "button", tabindex: -1 })
  const tall = plan.vertical ? at.tall : at.tall - 4
  const box = shape("rect", {
    class: "box",
    x: at.left,
    y: at.y - tall / 2,
    width: at.wide,
    height: tall,
    rx: 5,
  })
  const text = label(at.text, at.y, at.size, at.anchor, at.content, data.colours.text)
  const number = label(at.number.x, at.number.y, SMALL, at.number.anchor, "", data.colours.quiet)
  number.classList.add("number")
  group.setAttribute(
    "aria-label",
    `${side === "rows" ? "Query" : "Key"} ${data[side][place].place + 1}: ${data[side][place].text}`,
  )
  Object.assign(group.dataset, { side, place: data[side][place].place })
  group.append(shape("rect", { ...at.touch, fill: "transparent" }), box, text, number)
  group.addEventListener(
    "pointerenter",
    (event) => event.pointerType === "mouse" && point(held, { side, place }),
  )
  group.addEventListener("focus", () => {
    rove(held, { side, place })
    if (group.matches(":focus-visible")) point(held, { side, place })
  })
  group.addEventListener("blur", () => point(held, null))
  group.addEventListener("pointerdown", (event) => press(held, event, { side, place }))
  return { group, box, text, number }
}

// The word that is pointed at, or else kept by a click, alone has its curves and its numbers.
/** @param {Held} held */
function light(held) {
  const { data, words, curves, plan } = held
  const active = held.pointed ?? held.kept
  const { shades, quiet, text } = data.colours
  const { lightest, darker, faded } = data.look
  const strong = shades[shades.length - 3]
  for (const { path, query, key, weight, marked } of curves) {
    const lit = !active || (active.side === "rows" ? query : key) === active.place
    const dark = active ? lit : marked
    path.setAttribute("stroke", dark ? strong : quiet)
    path.setAttribute(
      "stroke-opacity",
      lit
        ? ((dark ? lightest : lightest / 2) + darker * (weight / held.full)).toFixed(3)
        : String(faded),
    )
  }
  for (const side of SIDES) {
    words[side].forEach((word, place) => {
      const weight = weightOf(held, active, side, place)
      const share =
        weight === null ? (side === "columns" && !active ? received(held, place) : 0) : weight
      paint(held, word, Math.sqrt(share), data[side][place].special)
      word.number.textContent =
        weight === null
          ? restNumber(held, active, side, place)
          : short(weight, plan[side][place].wide)
      word.number.setAttribute("x", String(inside(held, plan[side][place].number, word.number)))
      word.number.setAttribute("fill", weight === null || weight < 0.05 ? quiet : text)
      /** @param {At | null} one */
      const same = (one) => one && one.side === side && one.place === place
      word.group.classList.toggle("kept", Boolean(same(held.kept)))
      word.group.classList.toggle("taken", Boolean(same(held.taken)))
      word.group.setAttribute("aria-pressed", String(Boolean(same(held.kept))))
    })
  }
  const crowded = words.columns.some(
    ({ number }, place) => number.textContent && plan.columns[place].left < HEADING,
  )
  held.headings.forEach((heading, place) => {
    heading.setAttribute(
      "visibility",
      !plan.vertical && (active || (place && crowded)) ? "hidden" : "visible",
    )
  })
  held.swap.setAttribute("aria-pressed", String(held.swaps))
  held.readout.textContent = held.swaps
    ? swapSaid(held)
    : active
      ? sentenceOf(held, active)
      : resting(held)
}

/** @type {(held: Held, word: Drawn, strength: number, special: boolean) => void} */
function paint(held, { box, text }, strength, special) {
  const { shades, text: ink, page, quiet } = held.data.colours
  const colour = mixed(shades, strength)
  box.setAttribute("fill", strength > 0.03 ? colour : "transparent")
  const plain = special ? quiet : ink
  const [ground, dark, light] = [colour, ink, page].map((each) => brightness(channels(each)))
  const readable = contrast(ground, dark) >= contrast(ground, light) ? ink : page
  text.setAttribute("fill", strength > 0.03 ? readable : plain)
}

// Where a number stands: what is wider than its word would run off the picture at the first and the last.
/** @type {(held: Held, at: Spot["number"], number: SVGElement) => number} */
function inside(held, at, number) {
  if (at.anchor !== "middle") return at.x
  const half = textWidth(held, number.textContent ?? "", SMALL) / 2 + 1 // edges are softened
  return Math.max(half, Math.min(at.x, held.plan.width - half))
}

// The weight between the active word and one of the other side; null for a word of its own side, or
// at rest.
/** @type {(held: Held, active: At | null, side: Side, place: number) => number | null} */
function weightOf({ data }, active, side, place) {
  if (!active || active.side === side) return null
  return side === "columns" ? data.weights[active.place][place] : data.weights[place][active.place]
}

/** @type {(held: Held, key: number) => number} */
function received({ data }, key) {
  return data.weights.reduce((sum, row) => sum + row[key], 0) / data.weights.length
}

// Beside a word that stands in a column there is no room for more than the number.
/** @type {(held: Held, active: At | null, side: Side, place: number) => string} */
function restNumber({ data, plan }, active, side, place) {
  if (active || side !== "columns" || place !== data.finding_key) return ""
  return data.mean && !plan.vertical ? `mean ${data.note}` : data.note
}

/** @type {(held: Held) => string} */
function resting({ data, full }) {
  return `Point at any word to see its weights in ${data.head.replace("L", "l")}. The thickest curve is ${percent(full)}.`
}

/** @type {(held: Held, at: At) => string} */
function sentenceOf({ data }, { side, place }) {
  /** @type {Side} */
  const others = side === "rows" ? "columns" : "rows"
  /** @type {[weight: number, word: Word][]} */
  const weights = data[others].map((word, other) => [
    side === "rows" ? data.weights[place][other] : data.weights[other][place],
    word,
  ])
  weights.sort((left, right) => right[0] - left[0])
  const first = weights.slice(0, 3).map(([weight, word]) => [`“${word.text}”`, percent(weight)])
  const name = `“${data[side][place].text}”`
  if (side === "rows")
    return `${name} attends to ${first.map(([word, share]) => `${word} with ${share}`).join(", ")}.`
  return `${name} gets ${first.map(([word, share]) => `${share} of the attention of ${word}`).join(", ")}.`
}

/** @type {(held: Held) => string} */
function swapSaid({ data, taken }) {
  return taken
    ? `Choose the word that changes places with “${data[taken.side][taken.place].text}”.`
    : "Choose two words, one after the other; or drag one onto another."
}

// What a visitor does

/** @type {(held: Held, active: At | null) => void} */
function point(held, active) {
  held.pointed = active
  light(held)
}

/** @type {(held: Held) => At} */
const keyboardAt = (held) => held.at ?? { side: "rows", place: 0 }

/** @type {(held: Held, at: At) => void} */
function rove(held, at) {
  for (const side of SIDES)
    for (const { group } of held.words[side]) group.setAttribute("tabindex", "-1")
  held.at = held.words[at.side][at.place] ? at : { side: "rows", place: 0 }
  held.words[held.at.side][held.at.place].group.setAttribute("tabindex", "0")
}

/** @type {(held: Held, at: At) => void} */
function keep(held, at) {
  if (held.swaps) return take(held, at)
  const same = held.kept && held.kept.side === at.side && held.kept.place === at.place
  held.kept = same ? null : at
  if (same) held.pointed = null
  light(held)
}

/** @type {(held: Held, at: At) => void} */
function take(held, at) {
  if (!held.data.swappable.includes(at.side)) return
  if (held.taken && held.taken.place !== at.place) return swap(held, held.taken, at)
  held.taken = held.taken ? null : at
  light(held)
}

/** @type {(held: Held, one: At, other: At) => void} */
function swap(held, one, other) {
  const places = [one, other].map(({ side, place }) => held.data[side][place].place)
  Object.assign(held, { taken: null, swaps: false })
  light(held)
  held.tell("swap", places)
}

// A press that ends where it began keeps the word; one that ends on another word of the same text
// swaps the two.
/** @type {(held: Held, event: PointerEvent, at: At) => void} */
function press(held, event, at) {
  const from = [event.clientX, event.clientY]
  /** @param {PointerEvent} later */
  const far = (later) => Math.hypot(later.clientX - from[0], later.clientY - from[1]) > DRAGGED
  const drags =
    event.pointerType === "mouse" && held.data.swaps && held.data.swappable.includes(at.side)
  /** @param {PointerEvent} later */
  const dragging = (later) => {
    if (!drags || !far(later) || held.taken) return
    held.taken = at
    light(held)
  }
  /** @param {PointerEvent} later */
  const ended = (later) => {
    window.removeEventListener("pointermove", dragging)
    window.removeEventListener("pointerup", ended)
    window.removeEventListener("pointercancel", ended)
    if (later.type === "pointercancel") return
    if (!far(later)) return keep(held, at)
    if (!drags) return
    held.taken = null
    const path = /** @type {SVGElement[]} */ (later.composedPath())
    const { side, place } = path.find((one) => one.classList?.contains("word"))?.dataset ?? {}
    const target = held.data.swappable.some((one) => one === side) ? Number(place) : null
    if (target === null || target === held.data[at.side][at.place].place) return light(held)
    held.tell("swap", [held.data[at.side][at.place].place, target])
  }
  window.addEventListener("pointermove", dragging)
  window.addEventListener("pointerup", ended)
  window.addEventListener("pointercancel", ended)
}

/** @type {Record<string, [number, number]>} */
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }

/** @type {(held: Held, event: KeyboardEvent) => void} */
function move(held, event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return
  if (["Enter", " "].includes(event.key)) keep(held, keyboardAt(held))
  else if (event.key === "Escape")
    Object.assign(held, { kept: null, pointed: null, taken: null, swaps: false })
  else if (STEPS[event.key]) step(held, STEPS[event.key])
  else return
  event.preventDefault()
  light(held)
}

/** @type {(held: Held, towards: [right: number, down: number]) => void} */
function step(held, [right, down]) {
  const [along, over] = held.plan.vertical ? [down, right] : [right, down]
  const at = keyboardAt(held)
  const side = over ? (over > 0 ? "columns" : "rows") : at.side
  const place = Math.min(Math.max(at.place + along, 0), held.data[side].length - 1)
  held.words[side][place].group.focus()
  held.pointed = { side, place }
}

// Small things

/** @type {(tag: string, attributes: Record<string, string | number>) => SVGElement} */
function shape(tag, attributes) {
  const element = document.createElementNS(DRAWING, tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value))
  return element
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {string} anchor
 * @param {string} content
 * @param {string} colour
 */
function label(x, y, size, anchor, content, colour) {
  const text = shape("text", {
    x,
    y,
    "font-size": size,
    "text-anchor": anchor,
    "dominant-baseline": "central",
    fill: colour,
  })
  text.textContent = content
  return text
}

// As viz/tokens.py says it: "71 %", below 10 % one decimal, and no 0 or 100 that is not one.
/** @type {(share: number) => string} */
function percent(share) {
  const digits = share < 0.0995 ? 1 : 0
  const rounded = (100 * share).toFixed(digits)
  if (share > 0 && Number(rounded) === 0) return "<\u00a00.1\u00a0%"
  if (share < 1 - 1e-6 && Number(rounded) === 100) return ">\u00a099\u00a0%"
  return `${rounded}\u00a0%`
}

/** @type {(share: number, wide: number) => string} */
function short(share, wide) {
  if (share < 0.005) return ""
  const label = share > 0.0995 ? percent(share) : `${Math.round(100 * share)}\u00a0%`
  return wide < 30 ? label.replace(/\u00a0%?/g, "") : label
}

/** @type {(shades: string[], strength: number) => string} */
function mixed(shades, strength) {
  const place = Math.min(Math.max(strength, 0), 1) * (shades.length - 1)
  const low = Math.min(Math.floor(place), shades.length - 2)
  const [from, to] = [channels(shades[low]), channels(shades[low + 1])]
  return `rgb(${from.map((each, at) => Math.round(each + (to[at] - each) * (place - low)))})`
}

/** @type {(colour: string) => number[]} */
function channels(colour) {
  return colour.startsWith("#")
    ? [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16))
    : (colour.match(/\d+/g) ?? []).map(Number)
}
