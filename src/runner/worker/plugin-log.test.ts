import { describe, expect, it } from 'vitest'
import type { RunReporter } from '../train/run-scope.ts'
import { createPluginLog } from './run-in-worker.ts'

function collecting() {
  const told: string[] = []
  const reporter: Pick<RunReporter, 'report'> = {
    async report(event) {
      if (event.type === 'log') told.push(`${event.level} ${event.text}`)
    },
  }
  return { told, reporter }
}

describe('what plugins log', () => {
  it('becomes events, in order (LAB-8)', () => {
    const { told, reporter } = collecting()
    const { log } = createPluginLog(reporter)
    log('info', 'a')
    log('warn', 'b')
    expect(told).toEqual(['info a', 'warn b'])
  })

  it('is bounded: lines that come too fast are counted, and the count is told (LAB-8)', () => {
    const { told, reporter } = collecting()
    const allowed = [true, false, false, true, false]
    const { log, close } = createPluginLog(reporter, { take: () => allowed.shift() ?? false })
    for (const text of 'abcde') log('info', text)
    close()
    expect(told).toEqual([
      'info a',
      'warn 2 more log lines were left out: they came too fast',
      'info d',
      'warn 1 more log line was left out: they came too fast',
    ])
  })

  it('is cut when a line is a whole file, and is text whatever a plugin passes (LAB-8)', () => {
    const { told, reporter } = collecting()
    const { log } = createPluginLog(reporter)
    log('info', 'x'.repeat(1_000_000))
    const untyped: (level: string, text: unknown) => void = log as never // a plugin in JavaScript
    untyped('loud', { toString: () => 'object' })
    expect(told[0]?.length).toBeLessThan(11_000)
    expect(told[1]).toBe('info object')
  })

  it('does not fail its plugin when the segment cannot be written (LAB-8)', async () => {
    const { log } = createPluginLog({ report: () => Promise.reject(new Error('full')) })
    expect(() => log('info', 'a')).not.toThrow()
    await Promise.resolve()
  })
})
