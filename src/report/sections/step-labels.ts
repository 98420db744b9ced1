// Labels of kept steps in the chart of a session: one for each, none over a dot or over another. The chart is as wide as its reader's
// window, so a place must be free at the narrowest and at the widest. What finds no place beside its dot stands in a lane above the
// chart, and a thin line leads to its step.

export interface LabelledStep {
  /** Place of its dot: 0 to 1 from the left and from the top. */
  readonly x: number
  readonly y: number
  /** From the longest to the shortest: the first that fits is taken. */
  readonly texts: readonly string[]
}

export interface PlacedLabel {
  readonly step: number
  readonly text: string
  /** Which of `texts`. */
  readonly form: number
  readonly x: number
  readonly y: number
  /** From there to the left upper corner, in pixels. */
  readonly dx: number
  readonly dy: number
  /** In the lane: a line leads from it to its step. */
  readonly isInLane: boolean
}

interface LabelOptions {
  /** All dots of the chart. */
  readonly dots: readonly { readonly x: number; readonly y: number }[]
  /** Points of a line that no label should cross. */
  readonly line?: readonly { readonly x: number; readonly y: number }[] | undefined
  readonly heightPx: number
}

/** Widths of the drawing between which labels must be clear; narrower ones show none. */
export const narrowestPx = 600
export const widestPx = 940
const letterPx = 6.9
export const linePx = 15
const dotPx = 7

interface Box {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** A label for every step, in the order of the steps; those in the lane stand in as many rows as they need. */
export function placeLabels(
  steps: readonly LabelledStep[],
  { dots, line = [], heightPx }: LabelOptions,
): { readonly labels: readonly PlacedLabel[]; readonly laneRows: number } {
  const widths = [narrowestPx, (narrowestPx + widestPx) / 2, widestPx]
  const taken = widths.map((): Box[] => [])
  const boxesOf = (label: Omit<PlacedLabel, 'step' | 'isInLane'>): Box[] =>
    widths.map((width) => {
      const left = label.x * width + label.dx
      const top = label.y * heightPx + label.dy
      return { left, right: left + label.text.length * letterPx + 6, top, bottom: top + linePx }
    })
  const isFree = (boxes: readonly Box[]) =>
    boxes.every((box, w) => {
      const width = widths[w] ?? widestPx
      return (
        box.left >= 0 &&
        box.right <= width &&
        box.top >= 0 &&
        box.bottom <= heightPx &&
        taken[w]?.every((other) => !overlaps(box, other)) &&
        dots.every((dot) => !overlaps(box, around(dot.x * width, dot.y * heightPx, dotPx))) &&
        line.every((point) => !overlaps(box, around(point.x * width, point.y * heightPx, 1)))
      )
    })
  const take = (boxes: readonly Box[]) => {
    for (const [w, box] of boxes.entries()) taken[w]?.push(box)
  }
  const rows: Box[][][] = []
  const inLane = (step: LabelledStep, at: number): PlacedLabel => {
    const form = step.texts.length - 1
    const text = step.texts[form] ?? ''
    const half = (text.length * letterPx + 6) / 2
    for (let row = 0; ; row++) {
      const label = { step: at, text, form, x: step.x, y: 0, dx: -half, dy: -(row + 1) * linePx - 2, isInLane: true }
      const others = rows[row] ?? widths.map((): Box[] => [])
      rows[row] = others
      const boxes = boxesOf(label)
      if (!boxes.every((box, w) => others[w]?.every((other) => !overlaps(box, other)))) continue
      for (const [w, box] of boxes.entries()) others[w]?.push(box)
      return label
    }
  }
  const labels = steps.map((step, at): PlacedLabel => {
    for (const [form, text] of step.texts.entries()) {
      const long = text.length * letterPx + 6
      for (const [dx, dy] of offsets(long)) {
        const label = { step: at, text, form, x: step.x, y: step.y, dx, dy, isInLane: false }
        const boxes = boxesOf(label)
        if (!isFree(boxes)) continue
        take(boxes)
        return label
      }
    }
    return inLane(step, at)
  })
  return { labels, laneRows: rows.length }
}

// Beside the dot first, then above and below it, near before far.
function offsets(long: number): readonly (readonly [dx: number, dy: number])[] {
  const near = [8, 16, 28].flatMap((by): [number, number][] => [
    [8, -by - linePx + 4],
    [8, by - 4],
    [-long - 8, -by - linePx + 4],
    [-long - 8, by - 4],
  ])
  return [[10, -linePx / 2], ...near, [-long / 2, -linePx - 9], [-long / 2, 9], [-long - 10, -linePx / 2]]
}

function around(x: number, y: number, by: number): Box {
  return { left: x - by, right: x + by, top: y - by, bottom: y + by }
}

function overlaps(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}
