import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { HistoryEntry } from '../../src/contracts/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { recordExperiment } from './recorded.ts'
import { runMain } from './run-main.ts'

const folder = temporaryFolders()
const cwd = folder()

beforeAll(async () => {
  await recordExperiment(cwd, { id: 'a', name: 'first', day: '2026-01-01', hypothesis: 'A higher rate helps.' })
  await recordExperiment(cwd, {
    id: 'b',
    name: 'second',
    day: '2026-01-02',
    hypothesis: 'Focal loss lifts pass@1 on rare intents.',
    minEffect: 0.05,
    tags: ['focal'],
  })
  await recordExperiment(cwd, { id: 'c', name: 'third', day: '2026-01-03', rates: [0.01], failing: [0.01] })
  await recordExperiment(cwd, { id: 'd', name: 'fourth', day: '2026-01-04', provenance: { dry: true } })
  await recordExperiment(cwd, { id: 'e', name: 'fifth', day: '2026-01-05', unfinished: true })
  const noted = await runMain(['conclude', 'second', 'Holds for the large model too.', '--author', 'ada'], { cwd })
  expect(noted.code).toBe(0)
})

describe('history', () => {
  it('lists experiments, the newest first, with what came of them (CLI-13)', async () => {
    const { code, stdout, stderr } = await runMain(['history'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    await expect(stdout).toMatchFileSnapshot('golden/history.txt')
  })

  it('is a list of entries under --json (CLI-2, CLI-13)', async () => {
    const { code, stdout, stderr } = await runMain(['history', '--json'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const entries = z.array(HistoryEntry).parse(JSON.parse(stdout))
    expect(entries.map(({ name, verdict }) => [name, verdict])).toEqual([
      ['fifth', null],
      ['fourth', 'exploratory'],
      ['third', 'failed'],
      ['second', 'supported'],
      ['first', 'exploratory'],
    ])
    expect(entries[3]).toMatchObject({
      experiment_id: 'exp_b',
      created_at: '2026-01-02T12:00:00.000Z',
      objective: { metric: 'val.pass@1', direction: 'max' },
      best: { arm: 'second__learning_rate0p1', score: { n: 3 } },
      cost_usd: null,
    })
  })

  it.each([120, 400, 700, 1200, 5000])('never prints more than %i characters (CLI-13)', async (most) => {
    const { stdout } = await runMain(['history', '--max-chars', String(most)], { cwd })
    expect(stdout.trimEnd().length).toBeLessThanOrEqual(most)
    expect(stdout).toContain('fifth')
    expect(stdout.includes('more experiments are left out')).toBe(!stdout.includes('first'))
  })

  it.each([1, 10, 300, 900, 1500, 100_000])('a document is whole, and no longer than %i (CLI-13)', async (most) => {
    const { stdout, stderr } = await runMain(['history', '--json', '--max-chars', String(most)], { cwd })
    const entries = z.array(HistoryEntry).parse(JSON.parse(stdout))
    if (entries.length > 0) expect(stdout.trimEnd().length).toBeLessThanOrEqual(most)
    expect(stderr.includes('left out')).toBe(entries.length < 5)
  })

  it('takes as many as fit: one more would be too long (CLI-13)', async () => {
    const all = await runMain(['history', '--json'], { cwd })
    const entries = JSON.parse(all.stdout)
    for (let n = 1; n <= entries.length; n++) {
      const { length } = JSON.stringify(entries.slice(0, n), null, 2)
      const exact = await runMain(['history', '--json', '--max-chars', String(length)], { cwd })
      expect(JSON.parse(exact.stdout)).toHaveLength(n)
      const short = await runMain(['history', '--json', '--max-chars', String(length - 1)], { cwd })
      expect(JSON.parse(short.stdout)).toHaveLength(n - 1)
    }
  })

  it('lists no more than --limit, and says that there are more (CLI-13)', async () => {
    const { stdout } = await runMain(['history', '--limit', '2'], { cwd })
    expect(stdout.match(/^2026-/gm)).toHaveLength(2)
    expect(stdout).toContain('more experiments are left out')
    const whole = await runMain(['history', '--limit', '5'], { cwd })
    expect(whole.stdout).not.toContain('left out')
  })

  it.each([
    ['focal', ['second']],
    ['higher rate', ['first']],
    ['large model', ['second']],
    ['no such words', []],
    ['"; drop table experiment', []],
  ])('finds experiments by words: %s (CLI-13)', async (query, names) => {
    const { code, stdout } = await runMain(['history', '--json', '--query', query], { cwd })
    expect(code).toBe(0)
    expect(JSON.parse(stdout).map(({ name }: { name: string }) => name)).toEqual(names)
  })

  it('says what to do in a project without experiments, and makes no record (CLI-13)', async () => {
    const empty = folder()
    await runMain(['init'], { cwd: empty })
    expect(await runMain(['history'], { cwd: empty })).toEqual({
      code: 0,
      stdout: 'no experiments yet. `evsys run FILE` makes one.\n',
      stderr: '',
    })
    expect((await runMain(['history', '--json'], { cwd: empty })).stdout).toBe('[]\n')
    const { stdout } = await runMain(['du', '--json'], { cwd: empty })
    expect(JSON.parse(stdout).record.rows.experiment).toBe(0)
  })

  it('outside of a project is an error (CLI-3)', async () => {
    const { code, stderr } = await runMain(['history'], { cwd: folder() })
    expect(code).toBe(2)
    expect(stderr).toContain('PROJECT_MISSING')
  })

  it('shows control characters instead of sending them (CLI-13)', async () => {
    const own = folder()
    await recordExperiment(own, { id: 'x', hypothesis: 'red \u001b[31m text\nand a second line' })
    const { stdout } = await runMain(['history'], { cwd: own, columns: 80, env: { NO_COLOR: '1' } })
    expect(stdout).not.toContain('\u001b')
    expect(stdout).toContain('red ␛[31m text and a second line')
  })
})
