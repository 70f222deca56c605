// What head_matrices.js draws and keeps, for the type check alone: nothing of this reaches a
// browser.
import type { Box, Context, Mounting, Theme } from "../../../viz/explorer/browser/types.js"

export type Part =
  | "query"
  | "key"
  | "products"
  | "mask"
  | "scores"
  | "weights"
  | "value"
  | "context"

export interface Token {
  text: string
  place: number // in the text, from 0
}

// What viz/walkthrough/whole_head.py gives, and what head_matrices.py adds.
export interface Figure {
  caption: string
  formula: { text: string; part: Part | "" }[]
  titles: Record<Part, string>
  rows: Token[]
  columns: Token[]
  first: number // of the columns among the keys that were sent
  sent: number // keys
  headWidth: number
  scale: number
  scaleName: string
  cap: number | null
  full: number // what the strongest colour of a weight stands for
  matrices: Record<string, string>
  chosen: [row: number, column: number]
  cut: string
  knob: boolean
  chooses: boolean
  alone: boolean
}

// The matrices as numbers, row by row; of products, bias, scores and weights a row has all keys that
// were sent.
export interface Numbers {
  query: Float32Array
  key: Float32Array
  value: Float32Array
  context: Float32Array
  products: Float32Array
  bias: Float32Array | null
  scores: Float32Array
  weights: Float32Array
}

export interface Panel extends Box {
  part: Part
  rows: number
  columns: number
}

export interface Plan {
  cell: number // pixels of a token
  width: number
  height: number
  panels: Panel[]
  arrows: { x: number; y: number }[]
  rowLabels: Box[] // where the queries' names end, one place for every line of matrices
  keyLabels: { x: number; y: number; room: number; upright: boolean }[]
}

export type At = [row: number, column: number]

// One picture and what a visitor did in it.
export interface Held {
  root: HTMLElement
  caption: HTMLElement
  formula: HTMLElement
  sheet: HTMLElement
  under: HTMLCanvasElement
  over: HTMLCanvasElement
  readout: HTMLElement
  knob: HTMLElement
  slider: HTMLInputElement
  jumps: HTMLButtonElement[]
  scaled: HTMLElement
  wider: HTMLElement
  cut: HTMLElement
  observer: ResizeObserver
  data: Figure
  tell: Mounting<Figure>["setTriggerValue"]
  written: string
  width: number
  theme: Theme
  model: Numbers // as the model computed them
  numbers: Numbers // as they are drawn: at the scale of the knob
  scale: number
  plan: Plan
  pointed: At | null
  part: Part | null // the matrix that is pointed at
  painted: number // times that what is lit was drawn, for those who measure
}

export type { Context }
