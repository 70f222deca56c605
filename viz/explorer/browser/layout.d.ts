// The constants that source.py puts before the modules: those of viz/explorer/layout.py, and the
// colours of viz/theme.py.
import type { Palette } from "./types.js"

export const THEMES: { light: Palette; dark: Palette; font: string }

export const TITLES: { grid: string; lines: string; matrix: string; text: string; table: string }
export const PANELS_OF: { all: [string, string, string, string]; table: [string, string] }
export const SHARES: { grid: number; lines: number; matrix: number }
export const SHARES_BELOW: { lines: number; matrix: number }
export const BETWEEN: number
export const BETWEEN_ROWS: number
export const SMALL_TYPE: number
export const SMALL_LINE: number
export const BELOW_TITLE: number
export const NARROWEST_ROW: number
export const TARGET_TILE: number
export const SHADES: number
export const READABLE: number
export const LOWEST: number
export const MANY_KEYS: number
export const MARK_WIDTH: number
export const THUMB_SIDE: number
export const GRID_LEFT: number
export const GRID_TOP: number
export const GRID_GAP: number
export const SMALLEST_TILE: number
export const LARGEST_TILE: number
export const TALLEST_GRID: number
export const GRID_TYPE: number
export const GRID_SMALL_TYPE: number
export const SMALL_TILE: number
export const SPARSE_TILE: number
export const GRID_APART: number
export const GRID_NAME_X: number
export const GRID_CORNER_X: number
export const GRID_DIMMED: number
export const GRID_BAR: number
export const BAR_THICK: number
export const BAR_TYPE: number
export const BAR_APART: number
export const BAR_NUMBER_Y: number
export const BAR_NUMBERS: number
export const BAR_LINE: number
export const LEAST_BAR: number
export const BAR_DIGITS: number[][]
export const LARGEST_FIRST: string
export const GRID_VEIL: number
export const LINES_ROW: number
export const SMALLEST_ROW: number
export const SHORTEST_LINES: number
export const TALLEST_LINES: number
export const LINES_TOP: number
export const LINES_BELOW: number
export const LINES_TYPE: number
export const LINES_HEADING: number
export const HEADING_ROOM: number
export const LINES_SIDE: number
export const WIDEST_SIDE: number
export const LINES_BENDS: [number, number]
export const LINES_APART: number
export const LINES_AROUND: number
export const LINES_EDGE: number
export const LINES_PLATES: number
export const LINES_FRAME: number
export const LINES_BAR: number
export const LINES_FADED: number
export const MOST_LINES: number
export const THINNEST_LINE: number
export const LINE_GROWS: number
export const FAINTEST_LINE: number
export const DASHES: number[][]
export const TALLEST_MATRIX: number
export const WIDEST_LABEL: number
export const LABEL_SHARE: number
export const MATRIX_TYPE: number
export const MATRIX_WEIGHT: string
export const LARGEST_CELL: number
export const MATRIX_APART: number
export const MATRIX_AROUND: number
export const MATRIX_ROOM: number
export const MATRIX_LABELS: number
export const MATRIX_RIGHT: number
export const MATRIX_BELOW: number
export const MATRIX_VEIL: number
export const RAMP_STEPS: number
export const RAMP_TOP: number
export const RAMP_LEFT: number
export const RAMP_HEIGHT: number
export const SHORTEST_RAMP: number
export const LONGEST_RAMP: number
export const RAMP_BESIDE: number
export const RAMP_DIGITS: number
export const TOKEN_TYPE: number
export const TOKEN_HEIGHT: number
export const TOKEN_GAP: number
export const TOKEN_PADDING: number
export const TOKEN_ROUND: number
export const NARROWEST_TOKEN: number
export const AROUND_TOKENS: number
export const BELOW_TOKENS: number
export const OF_QUERY: string
export const OF_KEY: string
export const AT_REST: string
export const TABLE_LINE: number
export const TABLE_PADDING: number
export const TABLE_WEIGHT: string
export const NO_WEIGHTS: string
