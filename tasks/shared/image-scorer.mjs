// Share of images that a candidate names wrongly. It is shown images, never labels, in an order that no run can know before.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { shuffled } from './shuffled.mjs'

/** Images of one question. */
const batch = 500
const classes = 10

/**
 * @param {{ imageBytes: number, worst: string }} options `worst`: name of the error on the class that is read worst
 */
export function imageScorer({ imageBytes, worst }) {
  return {
    version: 1,
    metric: 'error_rate',
    async score({ dataDir, ask }) {
      const images = readFileSync(join(dataDir, 'images.bin'))
      const labels = readFileSync(join(dataDir, 'labels.bin'))
      const order = shuffled(labels.length)
      const wrong = new Array(classes).fill(0)
      const shown = new Array(classes).fill(0)
      const items = new Array(labels.length).fill(0) // in the order of the split, whatever order they were shown in
      for (let from = 0; from < labels.length; from += batch) {
        const count = Math.min(batch, labels.length - from)
        const shownNow = order.subarray(from, from + count)
        const parts = Array.from(shownNow, (at) => images.subarray(at * imageBytes, (at + 1) * imageBytes))
        const answer = await ask({ images: Buffer.concat(parts).toString('base64'), count })
        if (!Array.isArray(answer) || answer.length !== count)
          throw new Error(`an answer is a list of ${count} classes`)
        for (let i = 0; i < count; i++) {
          const label = labels[shownNow[i]]
          shown[label]++
          if (answer[i] === label) continue
          wrong[label]++
          items[shownNow[i]] = 1
        }
      }
      return {
        value: wrong.reduce((sum, each) => sum + each, 0) / labels.length,
        secondary: { [worst]: Math.max(...wrong.map((each, label) => each / Math.max(1, shown[label]))) },
        items,
      }
    },
  }
}
