import fc from 'fast-check'
import { expect, it } from 'vitest'
import { linePx, narrowestPx, placeLabels, widestPx } from './step-labels.ts'

const place = fc.integer({ min: 0, max: 1000 }).map((at) => at / 1000)
const dot = fc.record({ x: place, y: place })

it('labels every kept step, over no dot and no other label, at every width (USE-149)', () => {
  fc.assert(
    fc.property(fc.array(dot, { maxLength: 300 }), fc.array(dot, { minLength: 1, maxLength: 30 }), (others, kept) => {
      const heightPx = 380
      const steps = kept.map(({ x, y }, i) => ({
        x,
        y,
        texts: [`${i} a change of some length +0.123`, `${i} +0.123`, `${i}`],
      }))
      const { labels, laneRows } = placeLabels(steps, { dots: [...others, ...kept], heightPx })
      expect(labels.map(({ step }) => step)).toEqual(kept.map((_, i) => i))
      for (const width of [narrowestPx, 700, 800, widestPx]) {
        const boxes = labels.map(({ x, y, dx, dy, text, isInLane }) => {
          const [left, top] = [x * width + dx, y * heightPx + dy]
          return { left, top, right: left + text.length * 6.5, bottom: top + linePx, isInLane }
        })
        for (const [i, box] of boxes.entries()) {
          if (box.isInLane) expect(box.top).toBeGreaterThanOrEqual(-laneRows * linePx - 2)
          const hit = [...others, ...kept].filter(
            ({ x, y }) =>
              x * width > box.left && x * width < box.right && y * heightPx > box.top && y * heightPx < box.bottom,
          )
          expect(hit).toEqual([])
          if (width !== narrowestPx && width !== widestPx) continue
          const under = boxes.filter(
            (other, j) =>
              j > i &&
              box.left < other.right &&
              other.left < box.right &&
              box.top < other.bottom &&
              other.top < box.bottom,
          )
          expect(under).toEqual([])
        }
      }
    }),
  )
})
