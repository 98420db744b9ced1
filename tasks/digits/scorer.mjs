// Share of digits that the candidate reads wrongly. It is shown images, never labels.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const pixels = 784
/** Images of one question. */
const batch = 500

export default {
  version: 1,
  metric: 'error_rate',
  async score({ dataDir, ask }) {
    const images = readFileSync(join(dataDir, 'images.bin'))
    const labels = readFileSync(join(dataDir, 'labels.bin'))
    const wrong = new Array(10).fill(0)
    const shown = new Array(10).fill(0)
    for (let from = 0; from < labels.length; from += batch) {
      const count = Math.min(batch, labels.length - from)
      const part = images.subarray(from * pixels, (from + count) * pixels)
      const answer = await ask({ images: part.toString('base64'), count })
      if (!Array.isArray(answer) || answer.length !== count) throw new Error(`an answer is a list of ${count} digits`)
      for (let i = 0; i < count; i++) {
        const label = labels[from + i]
        shown[label]++
        if (answer[i] !== label) wrong[label]++
      }
    }
    const errors = wrong.map((each, label) => each / shown[label])
    return {
      value: wrong.reduce((sum, each) => sum + each, 0) / labels.length,
      secondary: { worst_digit_error: Math.max(...errors) },
    }
  },
}
