import { describe, expect, it } from 'vitest'
import type { KnobSpec } from '../../../contracts/index.ts'
import { materialise } from '../materialise.ts'
import { findKnobs } from './knobs.ts'

const script = `// LR = 5
const LEARNING_RATE = 0.05
export const HIDDEN = 64; // units
const TOKENS = 2 ** 14
const LAYERS = 3
const USE_BIAS = true
const NAME = 'tanh'
const SEED = 7
/* const HIDDEN = 9 */
const text = \`
const DROPOUT = 0.3
\${ (() => { const x = { a: '}' }; return x })() }
const DROPOUT = 0.3
\`
const pattern = /["'\`]/g
const DROPOUT = 0.1
  const INDENTED = 4
const SUM = LAYERS + 1
`

const python = `"""
LR = 3
"""
LR: float = 1e-3  # LR = 4
DEPTH = 6
MOMENTUM = 0.9
FLAG = False
KIND = "relu"
class Model:
    def __init__(self, width=12):
        self.text = "DEPTH = 7"
`

describe('knobs in code', () => {
  it('finds literals with names in capitals, and nothing in comments and texts (RES-501)', () => {
    const { knobs, space } = findKnobs({ 'train.mjs': script })
    expect(knobs).toEqual({
      LEARNING_RATE: 0.05,
      HIDDEN: 64,
      TOKENS: 16384,
      LAYERS: 3,
      USE_BIAS: true,
      NAME: 'tanh',
      SEED: 7,
      DROPOUT: 0.1,
    })
    expect(space).toEqual({
      LEARNING_RATE: { kind: 'range', low: 0.005, high: 0.5, log: true, integer: false },
      HIDDEN: { kind: 'choice', values: [16, 32, 64, 128, 256], ordered: true },
      TOKENS: { kind: 'choice', values: [4096, 8192, 16384, 32768, 65536], ordered: true },
      LAYERS: { kind: 'range', low: 1, high: 12, log: true, integer: true },
      USE_BIAS: { kind: 'choice', values: [false, true], ordered: false },
      DROPOUT: { kind: 'range', low: 0, high: 0.55, log: false, integer: false },
    })
    expect(findKnobs({ 'train.py': python }).knobs).toEqual({
      LR: 0.001,
      DEPTH: 6,
      MOMENTUM: 0.9,
      FLAG: false,
      KIND: 'relu',
    })
  })

  it('finds what the task declares under any name, also in data files (RES-501)', () => {
    const width = { kind: 'range', low: 1, high: 99, log: false, integer: true } as const
    const op: KnobSpec = { kind: 'choice', values: ['skip', 'conv'], ordered: false }
    expect(findKnobs({ 'train.py': python }, { width }).space.width).toEqual(width)
    expect(findKnobs({ 'config.json': '{ "op": "skip", "width": 12, "other": 3 }' }, { op, width })).toEqual({
      knobs: { op: 'skip', width: 12 },
      space: { op, width },
    })
    expect(findKnobs({ 'config.yaml': 'width: 12 # units\nop: "conv"\n' }, { op, width }).knobs).toEqual({
      width: 12,
      op: 'conv',
    })
  })

  it('takes no conditional for a property, and a constant for the one place of its name (RES-501)', () => {
    const range = { kind: 'range', low: 0, high: 1, log: false, integer: false } as const
    const code = 'const SMOOTH = 0.1\nconst y = (k) => k === 1 ? 1 - SMOOTH : 0\nconst z = { SMOOTH: 3 }\n'
    expect(findKnobs({ 'a.mjs': code }, { SMOOTH: range }).knobs).toEqual({ SMOOTH: 0.1 })
    expect(findKnobs({ 'a.mjs': 'const y = (k) => k ? rate : 0\n' }, { rate: range }).knobs).toEqual({})
    expect(findKnobs({ 'a.mjs': 'const options = { rate: 0.5, other: 1 }\n' }, { rate: range }).knobs).toEqual({
      rate: 0.5,
    })
  })

  it('leaves a name alone that stands in two places (RES-501)', () => {
    const files = { 'a.mjs': 'const LR = 1.5\n', 'b.mjs': 'const LR = 1.5\n' }
    expect(findKnobs(files)).toEqual({ knobs: {}, space: {} })
    const made = materialise({ change: { kind: 'knobs', knobs: { LR: 2 } } }, files)
    expect(made).toEqual({ failures: [{ class: 'validation', reason: 'LR stands in 2 places: it cannot be turned' }] })
  })

  it('turns knobs in place and reads back what it wrote (RES-502)', () => {
    const js = materialise(
      { change: { kind: 'knobs', knobs: { LEARNING_RATE: 1e-7, HIDDEN: 32, USE_BIAS: false, NAME: 'relu' } } },
      { 'train.mjs': script },
    )
    if ('failures' in js) throw new Error(js.failures[0]?.reason)
    expect(js.knobs).toMatchObject({ LEARNING_RATE: 1e-7, HIDDEN: 32, USE_BIAS: false, NAME: 'relu', LAYERS: 3 })
    expect(js.files['train.mjs']).toContain('export const HIDDEN = 32; // units\n')
    expect(js.files['train.mjs']).toContain("const NAME = 'relu'\n")
    const py = materialise({ change: { kind: 'knobs', knobs: { LR: 1, FLAG: true } } }, { 'train.py': python })
    if ('failures' in py) throw new Error(py.failures[0]?.reason)
    expect(py.files['train.py']).toContain('LR: float = 1.0  # LR = 4')
    expect(py.files['train.py']).toContain('FLAG = True\n')
  })

  it('refuses values of another type, out of what is declared, and knobs that are not there (RES-502)', () => {
    const declared = { LAYERS: { kind: 'range', low: 1, high: 4, log: false, integer: true } } as const
    const reasons = (knobs: Record<string, number | string | boolean>) => {
      const made = materialise({ change: { kind: 'knobs', knobs } }, { 'train.mjs': script }, { space: declared })
      return 'failures' in made ? made.failures.map(({ reason }) => reason) : []
    }
    expect(reasons({ LEARNING_RATE: 'fast' })).toEqual(['LEARNING_RATE is 0.05: it cannot be "fast"'])
    expect(reasons({ LEARNING_RATE: Number.NaN })).toEqual(['LEARNING_RATE is 0.05: it cannot be null'])
    expect(reasons({ NAME: "a'; process.exit() //" })).toEqual([`NAME is "tanh": it cannot be "a'; process.exit() //"`])
    expect(reasons({ LAYERS: 9, WIDTH: 3 })).toEqual([
      'LAYERS cannot be 9',
      'no knob is called WIDTH. Known: DROPOUT, HIDDEN, LAYERS, LEARNING_RATE, NAME, SEED, TOKENS, USE_BIAS',
    ])
    expect(reasons({ LAYERS: 3 })).toEqual(['it changes nothing'])
  })
})
