import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fingerprint } from './fingerprint.ts'
import { tokenize } from './tokenize.ts'

const script = `// A model.
import { getTrainLoader, reportResults } from './api.mjs'
const RATE = 1e-3
function step(weights, batch) {
  const sum = batch.reduce((total, each) => total + each, 0)
  for (let i = 0; i < 3; i++) weights[i] -= RATE * sum
  return weights
}
export const model = step([1, 2], [3])
reportResults({ loss: model[0], note: \`at \${model.length}\` })
`
const python = `import torch
from api import evaluate

RATE = 0.001

class Net(torch.nn.Module):
    def forward(self, x, scale=1.0):
        y = x * scale
        for k in range(3):
            if k > 1:
                y = y + k
        return y

net = Net()
print(f"loss {evaluate(net)}")
`
const of = (text: string, path = 'train.mjs') => fingerprint({ [path]: text })

describe('fingerprint', () => {
  it.each([
    ['comments', script.replace('// A model.', '/* Another\n text */')],
    ['layout', script.replaceAll('\n  ', '\n\n\t\t').replace('{ loss', '{\n loss')],
    ['semicolons', script.replaceAll(/([\])'a-z0-9])\n/g, '$1;\n')],
    ['quotes', script.replaceAll("'", '"')],
    ['how numbers are written', script.replace('1e-3', '0.001').replace('0)', '0.0)')],
    ['local names', script.replaceAll('weights', 'w').replaceAll('batch', 'rows').replaceAll('total', 't')],
    ['line ends', script.replaceAll('\n', '\r\n')],
  ])('of a script does not change with %s (RES-106)', (_what, other) => {
    expect(other).not.toBe(script)
    expect(of(other)).toBe(of(script))
  })

  it.each([
    ['a number', script.replace('1e-3', '2e-3')],
    ['an operator', script.replace('-=', '+=')],
    ['which local is meant', script.replace('return weights', 'return sum')],
    ['a property', script.replace('loss:', 'accuracy:')],
    ['a string', script.replace('at ', 'in ')],
    ['an export', script.replaceAll('model', 'net')],
    ['a knob', script.replaceAll('RATE', 'STEP')],
    ['an import', script.replaceAll('getTrainLoader', 'getDevice')],
    ['a statement', script.replace('  return weights\n', '')],
  ])('of a script changes with %s (RES-106)', (_what, other) => {
    expect(other).not.toBe(script)
    expect(of(other)).not.toBe(of(script))
  })

  it.each([
    ['a shorthand key', 'let loss = f()\nreport({ loss })', 'let accuracy = f()\nreport({ accuracy })'],
    ['a name in a template', 'let a = 1\nlet b = 2\nlog(`${a}`)', 'let b = 1\nlet a = 2\nlog(`${a}`)'],
    ['a line after return', 'function f() { return\n1 }', 'function f() { return 1 }'],
    ['a semicolon that separates', 'a;\n(b)', 'a\n(b)'],
    ['division and a regular expression', 'x = a / b / c', 'x = /b/ / c'],
  ])('of a script tells %s (RES-106)', (_what, a, b) => {
    expect(of(a)).not.toBe(of(b))
  })

  it.each([
    ['comments', python.replace('\nRATE', '\n# How fast.\nRATE')],
    ['depth of indentation', python.replaceAll('    ', '  ')],
    ['blank lines', python.replaceAll('\n', '\n\n')],
    ['brackets over lines', python.replace('evaluate(net)', 'evaluate(net)').replace('range(3)', 'range(\n3\n)')],
    ['local names', python.replaceAll(/\bk\b/g, 'step').replaceAll(/\by\b/g, 'out')],
    ['a final newline', python.trimEnd()],
  ])('of Python does not change with %s (RES-106)', (_what, other) => {
    expect(other).not.toBe(python)
    expect(of(other, 'train.py')).toBe(of(python, 'train.py'))
  })

  it.each([
    ['a block', python.replace('                y = y + k', '            y = y + k')],
    ['the end of a block', python.replace('        return y', '            return y')],
    ['a whole number and a real one', python.replace('1.0', '1')],
    ['a name inside an f-string', python.replaceAll('net', 'model')],
    ['a named argument', python.replaceAll('scale', 'factor').replace('Net()', 'Net()(1, scale=2)')],
    ['a knob', python.replaceAll('RATE', 'STEP')],
  ])('of Python changes with %s (RES-106)', (_what, other) => {
    expect(of(other, 'train.py')).not.toBe(of(python, 'train.py'))
  })

  it('of Python keeps the name of what is called with a named argument (RES-106)', () => {
    expect(of('evaluate(net, n=3)', 'a.py')).not.toBe(of('judge(net, n=3)', 'a.py'))
  })

  it('tells files, paths and knobs apart (RES-106)', () => {
    const all = [
      fingerprint({}),
      fingerprint({ 'a.py': 'x' }),
      fingerprint({ 'b.py': 'x' }),
      fingerprint({ 'a.py': 'x' }, { lr: 1 }),
      fingerprint({}, { lr: 1 }),
      fingerprint({}, { lr: '1' }),
    ]
    expect(new Set(all).size).toBe(all.length)
    expect(fingerprint({ a: 'x', b: 'y' }, { lr: 1, width: 2 })).toBe(
      fingerprint({ b: 'y', a: 'x' }, { width: 2, lr: 1 }),
    )
    expect(of('{"a": 1, "b": 2}', 'config.json')).toBe(of('{ "b": 2.0, "a": 1 }\n', 'config.json'))
    expect(of('not json', 'config.json')).not.toBe(of('{}', 'config.json'))
  })

  it.each(['javascript', 'python'] as const)('takes any text as %s, and reads it to its end (RES-106)', (language) => {
    const pieces = fc.constantFrom(
      '`${',
      '}',
      '"',
      "'",
      '"""',
      '/*',
      '//',
      '#',
      '\n',
      '  ',
      'x',
      '1e',
      '/',
      '\\',
      '(',
      ']',
      '\u0000',
      'é',
    )
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces).map((all) => all.join('')),
    )
    fc.assert(
      fc.property(text, (source) => {
        expect(tokenize(source, language).every(({ text }) => typeof text === 'string')).toBe(true)
        expect(fingerprint({ 'a.py': source, 'a.ts': source })).toMatch(/^[\da-f]{64}$/)
      }),
    )
  })

  it('takes time in proportion to the text (RES-106)', () => {
    const long = `${'('.repeat(50_000)}${'`${'.repeat(20_000)}${'a = '.repeat(20_000)}`
    expect(tokenize(long, 'javascript').length).toBeGreaterThan(50_000)
    expect(of(long)).toMatch(/^[\da-f]{64}$/)
  })
})
