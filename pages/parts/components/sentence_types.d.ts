// What sentence_picture.js draws and keeps, for the type check alone: nothing of this reaches a
// browser.
import type { Mounting } from "../../../viz/explorer/browser/types.js"

export type Side = "rows" | "columns"

export interface At {
  side: Side
  place: number
}

export interface Word {
  text: string
  place: number
  special: boolean
  joined: boolean // to the one before: a piece of the same word
}

// As viz/sentences/curve_look.py has it.
export interface Look {
  faintest: number
  most: number
  thinnest: number
  thicker: number
  crowded: number
  lightest: number
  darker: number
  faded: number
}

// What viz/sentences/attention_curves.py gives, and what sentence_picture.py adds.
export interface Figure {
  name: string
  rows: Word[]
  columns: Word[]
  weights: number[][]
  marked: number[][] // the keys of each query
  finding_key: number | null // the key that the finding names
  note: string
  mean: boolean
  head: string
  label: string
  cut: string
  look: Look
  colours: { shades: string[]; text: string; quiet: string; page: string }
  swaps: boolean
  swappable: Side[]
  alone: boolean
}

export interface Label {
  x: number
  y: number
  anchor: string
}

// Where one word stands.
export interface Spot {
  x: number
  y: number
  left: number
  wide: number
  tall: number
  anchor: string
  text: number
  content: string
  size: number
  end: [number, number] // of its curves
  touch: { x: number; y: number; width: number; height: number } // what a press reaches
  number: Label
}

export interface Plan {
  width: number
  height: number
  vertical: boolean
  rows: Spot[]
  columns: Spot[]
  headings: (Label & { content: string })[]
}

export interface Curve {
  query: number
  key: number
  weight: number
  marked: boolean
}

export interface Drawn {
  group: SVGElement
  box: SVGElement
  text: SVGElement
  number: SVGElement
}

// One picture and what a visitor did in it.
export interface Held {
  root: HTMLElement
  sheet: HTMLElement
  readout: HTMLElement
  cut: HTMLElement
  wider: HTMLElement
  swap: HTMLElement
  observer: ResizeObserver
  data: Figure
  tell: Mounting<Figure>["setTriggerValue"]
  written: string
  width: number
  family: string
  full: number // what the strongest colour stands for
  plan: Plan
  curves: (Curve & { path: SVGElement })[]
  words: Record<Side, Drawn[]>
  headings: SVGElement[]
  at?: At // where the keyboard is
  kept: At | null
  pointed: At | null
  taken: At | null
  swaps: boolean
}
