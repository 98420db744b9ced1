import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeTable } from '../table-files.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { runMain } from './run-main.ts'

const folder = temporaryFolders()

describe('research bench', () => {
  it('prints a row per table and strategy, and what the first saves (RES-111)', async () => {
    const cwd = folder()
    writeTable(join(cwd, 'tables'))
    const words = ['research', 'bench', '--tables', 'tables', '--strategies', 'default,reference', '--repeats', '5']
    const { code, stdout, stderr } = await runMain([...words, '--budget', '60', '--json'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const answer = JSON.parse(stdout)
    expect(answer).toMatchObject({ repeats: 5, budget: 60, seed: 1, flat: [] })
    expect(answer.results).toEqual(
      ['default', 'reference'].map((strategy) => ({
        ...{ table: 'hill', strategy, par2: expect.any(Number), reach: expect.any(Number) },
        ci: [expect.any(Number), expect.any(Number)],
      })),
    )
    expect(answer.comparisons).toMatchObject([{ table: 'hill', strategy: 'default', baseline: 'reference' }])
    const text = (await runMain([...words, '--budget', '60'], { cwd })).stdout
    expect(text).toMatch(/^table +strategy +PAR2 +95 % +reach +saved by default$/m)
    expect(text).toMatch(/^hill +reference +[\d.]+ +[\d.]+ to [\d.]+ +\d+ % +-?\d+ % \(-?\d+ % to -?\d+ %\)$/m)
  })

  it('plays whole sessions, and prints what they end with (RES-532)', async () => {
    const cwd = folder()
    writeTable(join(cwd, 'tables'))
    const words = ['research', 'bench', '--tables', 'tables', '--sessions', '6,4', '--keep-rules', 'default,greedy']
    const { code, stdout, stderr } = await runMain([...words, '--repeats', '2', '--json'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const { sessions, rules } = JSON.parse(stdout)
    expect(rules).toBe(2)
    expect(
      sessions.map(({ table, rules, experiments }: Record<string, unknown>) => [table, rules, experiments]),
    ).toEqual([
      ['hill', 'default', 4],
      ['hill', 'default', 6],
      ['hill', 'greedy', 4],
      ['hill', 'greedy', 6],
    ])
    expect(sessions[0]).toMatchObject({
      sessions: 2,
      regret: expect.any(Number),
      rank: expect.any(Number),
      confirmed: 0,
    })
  })

  it('prints what early ends save and cost (RES-801)', async () => {
    const words = ['research', 'bench', '--worlds', 'curves', '--repeats', '2', '--budget', '30']
    const { code, stdout } = await runMain([...words, '--json'])
    expect(code).toBe(0)
    const { results, comparisons } = JSON.parse(stdout)
    expect(results).toHaveLength(20)
    expect(results[0]).toEqual({
      ...{ table: 'curves-plain', strategy: 'watcher', par2: expect.any(Number), reach: expect.any(Number) },
      ci: [expect.any(Number), expect.any(Number)],
      time: expect.objectContaining({
        saved: expect.any(Number),
        killed: expect.any(Number),
        runs: expect.any(Number),
      }),
    })
    expect(comparisons).toHaveLength(15)
    const text = (await runMain(words)).stdout
    expect(text).toMatch(/^table +strategy +PAR2 +95 % +reach +saved by watcher$/m)
    expect(text).toMatch(/^table +ended by +time saved +runs ended +winners ended +regret +audited \(bias, 95 %\)$/m)
    expect(text).toMatch(/^curves-rare +halving +\d+ % +\d+ of \d+ +\d+ of \d+ +[\d.]+$/m)
  })

  it.each([
    ['nothing to measure on', [], /there is nothing to measure on/],
    ['an unknown strategy', ['--worlds', 'nk', '--strategies', 'gredy'], /no strategy is called "gredy"/],
    ['an unknown world', ['--worlds', 'mk'], /no worlds called "mk"/],
    ['a world that is nearly one', ['--worlds', 'nk,adversery'], /did you mean "adversary"\?/],
    ['a folder that is not there', ['--tables', 'nowhere'], /nowhere/],
    ['a strategy twice', ['--worlds', 'nk', '--strategies', 'greedy,greedy'], /each once/],
    ['one repeat', ['--worlds', 'nk', '--repeats', '1'], /repeats are 2 to/],
    [
      'a keep rule without sessions',
      ['--worlds', 'nk', '--keep-rules', 'greedy'],
      /--keep-rules is for whole sessions/,
    ],
    [
      'strategies of sessions',
      ['--worlds', 'nk', '--sessions', '5', '--strategies', 'greedy'],
      /have the default strategy/,
    ],
    [
      'an unknown keep rule',
      ['--worlds', 'nk', '--sessions', '5', '--keep-rules', 'gredy'],
      /no keep rule is called "gredy"/,
    ],
    ['a version to come', ['--worlds', 'nk', '--sessions', '5', '--rules', '3'], /version 3/],
  ])('refuses %s (RES-111)', async (_what, words, says) => {
    const { code, stderr } = await runMain(['research', 'bench', ...words], { cwd: folder() })
    expect(stderr).toMatch(says)
    expect(code).toBe(2)
  })
})
