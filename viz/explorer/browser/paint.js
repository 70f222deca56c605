// Colours, and what the canvases of all views share. THEMES is viz/theme.py's, layout.js stands for
// viz/explorer/layout.py: source.py puts both in front.
import { READABLE, SHADES, THEMES } from "./layout.js"
/** @import { Context, Shades, Theme } from "./types.js" */

// The colours of the page: which of the two themes it has shows in its background.
/** @type {(element: Element) => Theme} */
export function themeOf(element) {
  const style = getComputedStyle(element)
  const background = style.getPropertyValue("--st-background-color").trim()
  const dark = background
    ? brightness(rgb(background)) < 0.2
    : matchMedia("(prefers-color-scheme: dark)").matches
  return {
    ...(dark ? THEMES.dark : THEMES.light),
    dark,
    font: style.getPropertyValue("--st-font") || THEMES.font,
  }
}

/** @type {(colour: string) => number[]} */
function rgb(colour) {
  if (colour.startsWith("#")) {
    const digits =
      colour.length === 4
        ? [...colour.slice(1)].map((digit) => digit + digit).join("")
        : colour.slice(1)
    return [0, 2, 4].map((start) => parseInt(digits.slice(start, start + 2), 16))
  }
  return (colour.match(/[\d.]+/g) ?? []).map(Number)
}

// 256 colours from weight 0, the page's background, to full strength.
/** @type {(theme: Theme, name: string) => Shades} */
export function shadesOf(theme, name) {
  const key = `${theme.dark} ${name}`
  const shades = scales.get(key) ?? interpolated(theme, name)
  scales.set(key, shades)
  return shades
}

/** @type {Map<string, Shades>} */
const scales = new Map()

/** @type {(theme: Theme, name: string) => Shades} */
function interpolated(theme, name) {
  const stops = theme.scales[name].map(rgb)
  const shades = new Uint8ClampedArray(SHADES * 3)
  for (let shade = 0; shade < SHADES; shade++) {
    const place = (shade / (SHADES - 1)) * (stops.length - 1)
    const left = Math.min(Math.floor(place), stops.length - 2)
    for (let channel = 0; channel < 3; channel++) {
      const [low, high] = [stops[left][channel], stops[left + 1][channel]]
      shades[shade * 3 + channel] = low + (high - low) * (place - left)
    }
  }
  return shades
}

/** @type {(shades: Shades, strength: number) => string} */
export function shade(shades, strength) {
  const start = Math.round(strength * (SHADES - 1)) * 3
  return `rgb(${shades[start]},${shades[start + 1]},${shades[start + 2]})`
}

// A label on a shade: the page's own colours where they can be read on it, else white or black, of
// which one always can.
/** @type {(theme: Theme, shades: Shades, strength: number) => string} */
export function inkOn(theme, shades, strength) {
  const number = Math.round(strength * (SHADES - 1))
  const inks = inksOn.get(shades) ?? []
  inksOn.set(shades, inks)
  inks[number] ??= readableInk(theme, shades.subarray(number * 3, number * 3 + 3))
  return inks[number]
}

// Of the scales of one theme, whose colours do not change: a long text asks for every token.
/** @type {WeakMap<Shades, string[]>} */
const inksOn = new WeakMap()

/** @type {(theme: Theme, colour: Shades) => string} */
function readableInk(theme, colour) {
  const ground = brightness(colour)
  const inks = [theme.text, theme.background, "#ffffff", "#000000"]
  return inks.find((ink) => contrast(brightness(rgb(ink)), ground) >= READABLE) ?? theme.text
}

// Relative luminance and contrast ratio as in WCAG 2.2.
/** @type {(colour: Iterable<number>) => number} */
export function brightness(colour) {
  const [red, green, blue] = [...colour].map((channel) => {
    const share = channel / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** @type {(one: number, other: number) => number} */
export const contrast = (one, other) =>
  (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)

// A matrix as a small picture, one pixel a cell; `strengths` gives 0 to 1 for a cell's number.
/**
 * @param {number} height
 * @param {number} width
 * @param {Shades} shades
 * @param {(cell: number) => number} strengthAt
 */
export function picture(height, width, shades, strengthAt) {
  const canvas = document.createElement("canvas")
  canvas.width = Math.max(1, width)
  canvas.height = Math.max(1, height)
  const context = contextOf(canvas)
  const image = context.createImageData(canvas.width, canvas.height)
  const colours = packedColours(shades)
  const pixels = new Uint32Array(image.data.buffer)
  for (let cell = 0; cell < width * height; cell++)
    pixels[cell] = colours[Math.round(strengthAt(cell) * (SHADES - 1))]
  context.putImageData(image, 0, 0)
  return canvas
}

/** @type {WeakMap<Shades, Uint32Array>} */
const packed = new WeakMap()

// The shades with four bytes as one number, in the order of this machine; made once for each scale.
/** @type {(shades: Shades) => Uint32Array} */
function packedColours(shades) {
  const before = packed.get(shades)
  if (before) return before
  const bytes = new Uint8Array(SHADES * 4).fill(255)
  for (let at = 0; at < SHADES; at++) bytes.set(shades.subarray(at * 3, at * 3 + 3), at * 4)
  const colours = new Uint32Array(bytes.buffer)
  packed.set(shades, colours)
  return colours
}

/** @type {(canvas: HTMLCanvasElement) => Context} */
export const contextOf = (canvas) => /** @type {Context} */ (canvas.getContext("2d"))

// Sizes a canvas for the screen it is on and returns its context, cleared, in CSS pixels.
/** @type {(canvas: HTMLCanvasElement, width: number, height: number) => Context} */
export function prepared(canvas, width, height) {
  const density = window.devicePixelRatio || 1
  const [across, down] = [Math.round(width * density), Math.round(height * density)]
  if (canvas.width !== across || canvas.height !== down) {
    canvas.width = across
    canvas.height = down
    canvas.style.width = `${width}px`
    canvas.style.height = `${height}px`
  }
  const context = contextOf(canvas)
  context.setTransform(density, 0, 0, density, 0, 0)
  context.clearRect(0, 0, width, height)
  return context
}

// The name of a token that is unknown to the model without the mark that says so.
/** @type {(name: string) => string} */
function withoutMark(name) {
  return name.replace(/^(\u2068?)(?:\[UNK\]|<unk>) (?=.)/, "$1")
}

// The text, cut at the end so that it fits; the mark of an unknown token goes before its word does.
// What isolates text that runs from right to left stays around it.
/** @type {(context: Context, whole: string, room: number) => string} */
export function fitted(context, whole, room) {
  if (context.measureText(whole).width <= room) return whole
  const text = withoutMark(whole)
  if (context.measureText(text).width <= room) return text
  const letters = [...text]
  const end = text.startsWith("\u2068") ? "…\u2069" : "…"
  let [low, high] = [0, letters.length]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (context.measureText(letters.slice(0, middle).join("") + end).width <= room) low = middle
    else high = middle - 1
  }
  return letters.slice(0, low).join("") + end
}
