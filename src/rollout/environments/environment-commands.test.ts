import { describe, expect, it } from 'vitest'
import type { ExecResult } from '../../contracts/index.ts'
import { Healthcheck } from '../task/task-config.ts'
import { runHealthcheck } from './environment-commands.ts'

const check = (fields: object) => Healthcheck.parse({ command: 'ready', ...fields })
const { signal } = new AbortController()

/** An environment that answers with these exit codes in turn, and a clock that only waiting moves. */
function script(codes: number[]) {
  const waits: number[] = []
  let nowMs = 0
  let asked = 0
  const environment = {
    exec: async (): Promise<ExecResult> => {
      const exitCode = codes[Math.min(asked++, codes.length - 1)] ?? 1
      return { exitCode, signal: null, stdout: '', stderr: 'refused', truncated: false }
    },
  }
  const time = {
    nowMs: () => nowMs,
    waitMs: async (ms: number) => {
      waits.push(ms)
      nowMs += ms
    },
  }
  return { environment, time, waits, asked: () => asked }
}

describe('runHealthcheck', () => {
  it('is done at the first success (HAR-21)', async () => {
    const { environment, time, waits } = script([1, 0])
    await runHealthcheck(environment, check({}), signal, time)
    expect(waits).toEqual([5000])
  })

  it('gives up after so many failures in a row, with what was said (HAR-21)', async () => {
    const { environment, time, asked } = script([1])
    const error = await runHealthcheck(environment, check({ retries: 4 }), signal, time).catch(
      (cause: unknown) => cause,
    )
    expect(error).toMatchObject({ name: 'HealthcheckError', code: 'ENVIRONMENT_FAILED' })
    expect(String(error)).toMatch(/"ready" failed 4 times in a row, last with exit code 1: refused/)
    expect(asked()).toBe(4)
  })

  it('does not count failures of the start period, in which it asks at another pace (HAR-21)', async () => {
    const { environment, time, waits, asked } = script([1])
    const slow = check({ start_period_sec: 3, start_interval_sec: 1, interval_sec: 7, retries: 2 })
    await expect(runHealthcheck(environment, slow, signal, time)).rejects.toThrow(/not healthy/)
    expect(waits).toEqual([1000, 1000, 1000, 7000])
    expect(asked()).toBe(5)
  })
})
