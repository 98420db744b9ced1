// Decides the score. It is never visible to a candidate: `ask` sends a question to it, `dataDir` is the folder of val or test.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export default {
  version: 1,
  metric: 'squared_error',
  async score({ dataDir, ask }) {
    const points = JSON.parse(readFileSync(join(dataDir, 'points.json'), 'utf8'))
    const answers = await ask(points.map(({ x }) => x))
    if (!Array.isArray(answers) || answers.length !== points.length)
      throw new Error(`an answer is a list of ${points.length} numbers`)
    const sum = points.reduce((total, { y }, i) => total + (Number(answers[i]) - y) ** 2, 0)
    return { value: sum / points.length, secondary: {} }
  },
}
