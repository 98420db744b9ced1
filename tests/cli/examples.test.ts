import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolders } from '../temporary-folder.ts'
import { root, runMain } from './run-main.ts'

const folder = temporaryFolders()

const examples = readdirSync(join(root, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

const checked = 'validate experiment.yaml --deep'

describe.each(examples)('examples/%s', (name) => {
  const cwd = join(folder(), name)
  beforeAll(() => cpSync(join(root, 'examples', name), cwd, { recursive: true }))

  it('is valid in any folder, deeply and without a notice but of leaks that it allows (CFG-14, CLI-1)', async () => {
    const { code, stdout, stderr } = await runMain(checked.split(' '), { cwd })
    const others = stderr.split('\n').filter((line) => !/^notice: \d+ of \d+ training rows repeat /.test(line))
    expect({ code, others }).toEqual({ code: 0, others: [''] })
    await expect(stdout).toMatchFileSnapshot(`golden/example-${name}.txt`)
  })

  it('shows commands that work, that check among them (CLI-4)', async () => {
    const text = readFileSync(join(cwd, 'README.md'), 'utf8')
    const commands = [...text.matchAll(/^evsys ([^#\n]*)/gm)].map(([, args = '']) => args.trim())
    expect(commands).toContain(checked)
    for (const args of commands.filter((each) => each !== checked))
      expect(await runMain(args.split(/\s+/), { cwd }), args).toMatchObject({ code: 0 })
  })
})

describe('the focal loss of the example', () => {
  it('has the gradient that finite differences give (CLI-8)', async () => {
    const { focalLoss } = await import('../../examples/custom-plugins/src/plugins/focal-sft.ts')
    const token = fc.record({
      logprob: fc.double({ min: -8, max: -0.01, noNaN: true }),
      weight: fc.constantFrom(0, 1),
    })
    const tensor = (values: number[]) => ({ data: new Float64Array(values), shape: [values.length] })
    fc.assert(
      fc.property(
        fc.array(token, { minLength: 1, maxLength: 6 }),
        fc.double({ min: 0, max: 4, noNaN: true }),
        (tokens, gamma) => {
          const logprobs = tokens.map(({ logprob }) => logprob)
          const datum = {
            tokens: new Int32Array(tokens.length),
            lossInputs: { weights: tensor(tokens.map(({ weight }) => weight)) },
          }
          const lossAt = (values: number[]) => focalLoss([datum], [tensor(values)], gamma).loss
          const [gradient] = focalLoss([datum], [tensor(logprobs)], gamma).gradients
          const step = 1e-6
          for (const t of logprobs.keys()) {
            const moved = (by: number) => logprobs.map((value, i) => (i === t ? value + by : value))
            const numeric = (lossAt(moved(step)) - lossAt(moved(-step))) / (2 * step)
            expect(gradient?.data[t]).toBeCloseTo(numeric, 4)
          }
        },
      ),
    )
  })
})
