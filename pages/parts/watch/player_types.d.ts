// What the player of a training holds, for the type check alone.
import type { Theme } from "../../../viz/explorer/browser/types.js"

// As viz/watched/player.py has it.
export interface Run {
  name: string
  last: number
  layers: number
  heads: number
  curve: { step: number[]; loss: number[]; accuracy: number[] }
  steps: number[]
  lines: {
    kind: string
    site: [layer: number, head: number]
    scores: number[]
    nulls: number[]
    seen: boolean
  }[]
  change: { step: number; before: number; after: number } | null
  tokens: string[]
  guesses: string[][]
  hits: (boolean | null)[][]
  written: string[] | null
  weights: string
}

// step: where the film stands as it opens; null: it plays. live: it is still being made.
export interface Film {
  runs: Run[]
  names: Record<string, string>
  seconds: number
  shown: string[]
  key: string
  step: number | null
  revision: number
  live: boolean
}

// One training as it is drawn.
export interface Screen {
  run: Run
  element: HTMLElement
  accuracy: HTMLElement
  loss: HTMLElement
  charts: HTMLElement
  heads: HTMLElement
  pointed: HTMLElement
  guesses: HTMLElement
  written: HTMLElement
  weights: Uint8Array
  theme: Theme
  playheads: SVGElement[]
  plot: number
  place: number
}

// A player, as it stays on the page. at: on the axis of time, 0 to 1; place: of the snapshot that is seen.
export interface Held {
  root: HTMLElement
  play: HTMLButtonElement
  speed: HTMLSelectElement
  slider: HTMLInputElement
  readout: HTMLElement
  legend: HTMLElement
  runs: HTMLElement
  observer: ResizeObserver
  screens: Screen[]
  data: Film
  steps: number[]
  last: number
  shown: Set<string>
  revision: number
  told: number | undefined
  at: number
  place: number
  width: number
  frame: number
  tell: (name: string, value: number) => void
}
