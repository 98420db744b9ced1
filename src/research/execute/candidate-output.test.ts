import { describe, expect, it } from 'vitest'
import { LogTail } from './candidate-output.ts'

describe('the log of a candidate', () => {
  it('tells everything until it was asked, then an error with its places alone (RES-412)', () => {
    const log = new LogTail()
    log.add('loaded 9 weights\n')
    log.withhold()
    log.add('secret question '.repeat(1000))
    log.add('\nsecret 1\nTypeError: x is undefined\n    at predict (file:///work/train.mjs:12:5)\nNode.js v20\n')
    expect(log.quoted().log).toBe('> loaded 9 weights\n>     at train.mjs:12\n> TypeError: x is undefined')
    expect(log.lastLine).toBe('"TypeError: x is undefined"')
    expect(log.raw).toContain('secret 1')
  })

  it('tells a line of an error, however long it is (RES-412)', () => {
    const log = new LogTail()
    log.withhold()
    log.add(`ValueError: ${'secret '.repeat(200)}\n  File "/work/train.py", line 3, in x\n`.repeat(9))
    expect(log.quoted().log?.length).toBeLessThan(300)
    expect(log.lastLine.length).toBeLessThan(200)
  })
})
