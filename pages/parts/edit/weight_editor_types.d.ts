// What weight_editor.js draws and keeps, for the type check alone: nothing of this reaches a browser.
import type { Context, Mounting, Theme } from "../../../viz/explorer/browser/types.js"

export interface Token {
  text: string
  place: number // in the text, from 0
}

export type Cell = [query: number, key: number, value: number, renormalise: boolean]

export interface Answer {
  title: string
  note: string
  edited: boolean
  rows: { name: string; before: number; after: number; said: string }[]
  texts: { name: string; text: string }[]
}

// What viz/charts/causes/weight_editor.py gives, and what weight_editor.py adds.
export interface Figure {
  head: string // which head of which text this is, for the server
  caption: string
  rows: Token[]
  columns: Token[] // those that are drawn
  first: number // of the rows that were sent, its position
  sent: number // keys
  base: string
  mask: string
  cells: Cell[]
  chosen: [query: number, key: number]
  cut: string
  answer: Answer
  alone: boolean
}

// One row: what is overwritten in it.
export type Row = Map<number, { value: number; renormalise: boolean }>

export interface Plan {
  cell: number
  left: number
  top: number
  width: number
  height: number
}

export interface Stroke {
  pointer: number
  painting: boolean
  y: number
  start: number // the weight where the drag began
  moved: boolean
  before: Map<number, Row> // the rows as they were
  painted: Map<number, Map<number, number>>
}

export interface Held {
  root: HTMLElement
  caption: HTMLElement
  tools: Tools
  said: HTMLElement
  sheet: HTMLElement
  canvas: HTMLCanvasElement
  handle: HTMLElement
  row: HTMLElement
  grid: HTMLElement
  cut: HTMLElement
  answer: HTMLElement
  observer: ResizeObserver
  data: Figure
  tell: Mounting<Figure>["setTriggerValue"]
  written: string
  head: string // of the data that was taken last
  width: number
  theme: Theme
  base: Float32Array
  mask: Uint8Array
  edited: Map<number, Row>
  plan: Plan
  selected: [query: number, key: number]
  chosen: [query: number, key: number] // the cell of the address, as far as the browser knows
  stroke: Stroke | null
  ended: boolean // a stroke, just now
  timer: number
  message: string
  keepsMessage: boolean // for the answer to what was sent with it
  painting: boolean
  brush: number
  renormalises: boolean
  pastMask: boolean
}

export interface Tools {
  element: HTMLElement
  modes: HTMLButtonElement[]
  brush: HTMLElement
  slider: HTMLInputElement
  brushes: HTMLButtonElement[]
  rests: HTMLButtonElement[]
  pastMask: HTMLInputElement
  pastMaskLabel: HTMLElement
  name: HTMLElement
  number: HTMLInputElement
  back: HTMLButtonElement
}

export type { Context }
