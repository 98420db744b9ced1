import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ProcessEnd } from '../../kernel/index.ts'
import { createRedactor } from '../../kernel/index.ts'
import { createPrintedLines, lostRun } from './worker-limits.ts'

const limits = {
  heapMb: 64,
  memoryMb: 128,
  silenceMs: 60_000,
  blockedMs: 900_000,
  printedMb: 8,
  reportedMb: 256,
  processes: 512,
  diskMb: 2048,
}
const end = (changes: Partial<ProcessEnd>): ProcessEnd => ({ code: null, signal: null, printed: '', ...changes })

describe('the error of a lost run', () => {
  it.each([
    ['an exit', end({ code: 3 }), 'WORKER_DIED', 'the process of the run ended with exit code 3'],
    ['a signal', end({ signal: 'SIGSEGV' }), 'WORKER_DIED', 'the process of the run ended with signal SIGSEGV'],
    [
      'no sign of life',
      end({ signal: 'SIGKILL', stopped: 'silent' }),
      'WORKER_HUNG',
      'the process of the run gave no sign of life for 60 s and was ended',
    ],
    [
      'a loop',
      end({ signal: 'SIGKILL', stuck: {} }),
      'WORKER_HUNG',
      'the recipe did not return to the event loop for 900 s and was ended',
    ],
    [
      'a flood',
      end({ signal: 'SIGKILL', stopped: 'flood' }),
      'WORKER_FLOODED',
      'the process of the run printed more than 8 MB in a short time and was ended',
    ],
    [
      'a message that is none',
      end({ stopped: 'garbled' }),
      'WORKER_DIED',
      'the process of the run sent what is no message, and was ended',
    ],
  ])('names %s (LAB-3)', (_name, ended, code, message) => {
    expect(lostRun(ended, { limits })).toMatchObject({ code, message, fix: expect.any(String) })
  })

  it('quotes the last lines that were printed, made safe to print and without secrets (LAB-3)', () => {
    const printed = `${Array.from({ length: 20 }, (_, i) => `line ${i}`).join('\n')}\n\u001b[31mkey hunter2hunter2\n`
    const { message } = lostRun(end({ code: 1, printed }), { limits, secrets: { KEY: 'hunter2hunter2' } })
    expect(message).toContain('; it printed last:\n  line 13\n')
    expect(message).not.toContain('line 12')
    expect(message).toContain('␛[31mkey [secret:KEY]')
  })

  it('knows an end for want of memory by what V8 prints (LAB-3)', () => {
    const printed = 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n'
    const { message } = lostRun(end({ signal: 'SIGABRT', printed }), { limits })
    expect(message).toContain('ran out of memory: it may hold 64 MB of objects, 128 MB in all')
  })
})

describe('printed lines', () => {
  it('are handed on whole and without secrets, however they arrive (LAB-2)', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 40 })), (cuts) => {
        const text = 'one\nthe key is correct horse battery\nlast'
        const places = [0, ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length]
        const told: string[] = []
        const lines = createPrintedLines(createRedactor({ KEY: 'correct horse battery' }), (part) => told.push(part))
        for (const [i, place] of places.slice(1).entries()) lines.add(text.slice(places[i], place))
        lines.close()
        expect(told.join('')).toBe('one\nthe key is [secret:KEY]\nlast')
      }),
    )
  })

  it('do not pile up when a line never ends (LAB-5)', () => {
    let told = 0
    const lines = createPrintedLines(createRedactor(), (part) => {
      told += part.length
    })
    for (let i = 0; i < 100; i++) lines.add('x'.repeat(10_000))
    expect(told).toBeGreaterThan(900_000)
  })
})
