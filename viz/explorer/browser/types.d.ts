// What the browser's modules give to each other, for the type check alone: nothing of this reaches
// a browser.
import type { Model } from "./data.js"
import type { Explorer } from "./explorer/explorer.js"

// A text, as packing.py describes it; one entry a position.
export interface TokenText {
  tokens: string[]
  special: boolean[] | null
  words: [first: number, last: number, label: string][] | null
  segments: number[] | null
}

// A stream in the bytes of packing.py.
export type Place = [start: number, length: number]

// One kind of attention.
export interface Kind {
  name: string
  queries: string
  keys: string
  layers: number
  heads: number
  shape: [queries: number, keys: number]
  causal: boolean
  thumb_shape: [height: number, width: number]
  thumbs: Place
  layers_at: Place[]
  queryText: TokenText
  keyText: TokenText
}

export interface Header {
  name: string
  kinds: Omit<Kind, "queryText" | "keyText">[]
  texts: Record<string, TokenText>
}

// As viz/explorer/view.py has it; a head that is off stands as "layer.head".
export interface View {
  attention: string
  layer: number
  off: Set<string>
  show: string
  query: number | null
  key: number | null
  special: string
  words: boolean
  segments: string
  threshold: number
  top: number
  scale: string
  maximum: string
  colours: string
  measure: string
  order: string
}

// A number for each head, as head_measures.py has it; null where there is none.
export interface HeadMeasure {
  name: string
  group: string
  label: string
  said: string
  by_size: boolean
  values: (number | null)[][]
}

// The same as plain values, as the server sends and takes it.
export type ViewMessage = Omit<View, "off"> & { off: Site[] }

export type Site = [layer: number, head: number]

// A row or a column: one token, or the pieces of a word.
export interface Group {
  first: number
  last: number
  label: string
}

// The rows and the columns of a view.
export interface Frame {
  queries: number[]
  keys: number[]
  rows: Group[]
  columns: Group[]
  renormalised: boolean
  plain: boolean
  key: string
}

// A thumbnail.
export interface Tile {
  tile: Float32Array
  height: number
  width: number
  largest: number
}

// What is chosen, at the time of a scene.
export interface Chosen {
  view: View // with what full colour stands for
  maximum: string // what was chosen for that
  off: Set<string>
  heads: number[]
  current: number
}

// The numbers of one view, from which all of its pictures are drawn. A matrix has a row a query and
// a column a key.
export interface Scene extends Chosen {
  model: Model
  kind: Kind
  frame: Frame
  matrices: Map<number, Float32Array>
  mean: Float32Array
  thumbs: Uint8Array
  numbers: Map<number, Float32Array> // what is drawn of each head that is on
  drawnMean: Float32Array
  full: (head: number) => number // what full colour stands for
  fullMean: number
  rowOf: Map<number, number> // of a position
  columnOf: Map<number, number>
  tilesPlain: boolean
  measure: HeadMeasure | null // whose bars the grid has
}

// A scene in the colours of the page.
export interface DrawnScene extends Scene {
  theme: Theme
  shades: Shades
}

// The colours of one theme of viz/theme.py.
export interface Palette {
  background: string
  text: string
  quiet: string
  grid: string
  second: string
  heads: string[]
  accent: string
  scales: Record<string, string[]>
}

export interface Theme extends Palette {
  dark: boolean
  font: string
}

// Colours from weight 0 to full strength, three bytes each.
export type Shades = Uint8ClampedArray

export type Context = CanvasRenderingContext2D

export interface Point {
  x: number
  y: number
}

// In pixels.
export interface Box {
  left: number
  top: number
  width: number
  height: number
}

// What a press of a button did before it was let go: where it was, and where the picture was.
export interface Press extends Point {
  slipped: boolean
  shiftX: number
  shiftY: number
}

// Tokens in a row, as buttons.
export interface Strip {
  side: string
  groups: Group[]
  strip: HTMLElement
  buttons: HTMLElement[]
  title: HTMLElement
}

// A line between two tokens.
export interface Edge {
  head: number
  cell: number
  weight: number
  full: number
}

// A cell of a thumbnail, and of how many there are.
export interface Block {
  row: number
  column: number
  rows: number
  columns: number
  weight: number
}

// What is pointed at: positions in the text, or a thumbnail.
export interface Pointed {
  query?: number | null
  key?: number | null
  layer?: number
  head?: number
  block?: Block
}

// The same with its row and its column in the scene, -1 for none.
export interface Active extends Pointed {
  row: number
  column: number
}

// What the controls tell the explorer; `near` without a layer: none is pointed at. `pressed`: a
// press has begun.
export interface Choices {
  change: (changes: Partial<View>) => void
  kind: (name: string) => void
  near: (layer?: number, pressed?: boolean) => void
  toggle: (head: number) => void
  heads: (name: string) => void
  zoom: (name: Zooming) => void
}

export type Zooming = "zoomIn" | "zoomOut" | "zoomReset"

// What the pictures tell the explorer.
export interface Actions {
  hover: (place: Pointed | null) => void
  redraw: () => void
  press?: (place: Pointed | null) => void
  choose: (place: Pointed | null, event: MouseEvent) => void
  chooseKey?: (key: number) => void
  open?: (place: Pointed | null) => void
}

// The exact numbers of one query, written out: of the mean of the heads that are on, and of each.
export interface ExactRow {
  request: string
  query: number
  mean: string[]
  heads: Record<number, string[]>
}

// A sentence, and the number that can be copied from it.
export interface Sentence {
  text: string
  value?: string
}

export interface LayerRequest {
  attention: string // its name
  layer: number
}

// Whom the explorer asks and tells.
export interface Server {
  commit: (view: ViewMessage) => void
  exact: (request: string) => void
  layer: (request: LayerRequest) => void
  drawn: () => void
}

// What Streamlit calls a component with.
export interface Mounting<Data> {
  data: Data
  key: string
  parentElement: HTMLElement
  setStateValue: (name: string, value: unknown) => void
  setTriggerValue: (name: string, value: unknown) => void
}

// What mailbox.js leaves for the explorer.
export interface Mailbox {
  layers: Map<string, Uint8Array<ArrayBuffer>>
  steer?: Steering
  measures?: MeasuresMessage
  exact?: ExactRow | null
  ask?: (name: string, value: unknown) => void
}

// The explorer that streamlit.js keeps for an element of the page. Times are performance.now().
export interface Held {
  explorer: Explorer
  read: () => void
  data?: Uint8Array<ArrayBuffer>
  name: string // of the numbers in it
  set: Mounting<unknown>["setStateValue"]
  trigger: Mounting<unknown>["setTriggerValue"]
  gone: boolean // from the page
  timer?: number
  applied: number // revision of the server's view
  started?: Uint8Array<ArrayBuffer> // what the explorer was drawn from
  told?: Uint8Array<ArrayBuffer> // what the server knows to be drawn
  awaited?: boolean // the server wants to know
  row?: string // the last question for exact numbers
  layer?: LayerRequest // the last question for a layer
  left: number
  passing?: boolean // a link that was held back is being followed
  committed: number
  pressed: number
  rested: number
}

// Of the numbers of a name, by attention.
export interface MeasuresMessage {
  name: string
  measures: Record<string, HeadMeasure[]>
}

export interface Steering {
  name: string
  view: ViewMessage
  revision: number
  awaited: boolean
  taken: number | null // the visitor's view that the server took last: when it was told
}

export type ToldView = ViewMessage & { revision: number; told: number }

declare global {
  interface Window {
    headlight?: Mailbox
    headlightScrolls?: true // pages/parts/frame/sidebar.js listens already
    headlightFollows?: true
    headlightLeaves?: true
    headlightLeaving?: () => boolean // a link or Back leads to a page that has not come yet
  }
}
