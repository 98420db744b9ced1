import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ExperimentResult } from '../../src/contracts/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { recordExperiment } from './recorded.ts'
import { runMain } from './run-main.ts'

const folder = temporaryFolders()

async function project() {
  const cwd = folder()
  const { runs } = await recordExperiment(cwd, { id: 'a', name: 'rates', minEffect: 0.05, seeds: 4 })
  const page = join(cwd, '.evsys', 'runs', '2026-01-31-12-00-00-000_rates', 'experiment.md')
  return { cwd, runs, page }
}

describe('conclude', () => {
  it('adds an author’s word beside the computed conclusion, which stays (CLI-16)', async () => {
    const { cwd, page } = await project()
    const before = ExperimentResult.parse(JSON.parse((await runMain(['show', 'rates', '--json'], { cwd })).stdout))
    const { code, stdout } = await runMain(['conclude', 'rates', 'Holds.', '--author', 'ada'], { cwd })
    expect(code).toBe(0)
    await expect(stdout).toMatchFileSnapshot('golden/conclude.txt')
    const after = ExperimentResult.parse(JSON.parse((await runMain(['show', 'rates', '--json'], { cwd })).stdout))
    const { words, ...rest } = after
    expect(words).toMatchObject([{ author: 'ada', text: 'Holds.' }])
    expect({ ...rest, words: [] }).toEqual(before)
    expect(readFileSync(page, 'utf8')).toContain('- ada: Holds.')
  })

  it('keeps every word, and takes one from standard input (CLI-16)', async () => {
    const { cwd } = await project()
    await runMain(['conclude', 'rates', 'First.', '--author', 'ada'], { cwd })
    const { stdout } = await runMain(['conclude', 'exp_a', '-', '--json'], {
      cwd,
      stdin: 'Second, of\ntwo lines.\n',
      env: { EVSYS_AUTHOR: 'bob' },
    })
    expect(JSON.parse(stdout).words.map(({ author, text }: Record<string, string>) => [author, text])).toEqual([
      ['ada', 'First.'],
      ['bob', 'Second, of\ntwo lines.'],
    ])
  })

  it.each([
    [['conclude', 'rates', '  '], 'CLI_USAGE'],
    [['conclude', 'rates', 'x', '--author', ' '], 'CLI_USAGE'],
    [['conclude', 'rates', 'x', '--author', 'a\u001b[31mb'], 'CLI_USAGE'],
    [['conclude', 'nope', 'x'], 'STORE_MISSING'],
  ])('refuses %j (CLI-3, CLI-16)', async (args, code) => {
    const { cwd } = await project()
    const result = await runMain([...args, '--json'], { cwd })
    expect(result.code).toBe(2)
    expect(JSON.parse(result.stdout).errors).toMatchObject([{ code }])
  })
})

describe('invalidate', () => {
  it('takes a run out and computes the conclusion again (CLI-16)', async () => {
    const { cwd, page } = await project()
    const { code, stdout } = await runMain(
      ['invalidate', 'rates/rates__learning_rate0p1__s43', '--reason', 'trained on the wrong file'],
      { cwd },
    )
    expect(code).toBe(0)
    await expect(stdout).toMatchFileSnapshot('golden/invalidate.txt')
    const shown = await runMain(['show', 'rates'], { cwd })
    expect(shown.stdout).toContain('invalid: trained on the wrong file')
    expect(shown.stdout).toContain('1 run marked invalid and left out.')
    expect(readFileSync(page, 'utf8')).toContain('1 run marked invalid and left out.')
  })

  it('can change the verdict, which history tells (CLI-16)', async () => {
    const { cwd, runs } = await project()
    const treated = runs.filter(({ arm }) => arm === 'rates__learning_rate0p1')
    for (const run of treated.slice(0, 3)) {
      const { code } = await runMain(['invalidate', run.id, '--reason', 'disk full'], { cwd })
      expect(code).toBe(0)
    }
    const { stdout } = await runMain(['history', '--json'], { cwd })
    expect(JSON.parse(stdout)[0]).toMatchObject({ verdict: 'inconclusive', best: { score: { n: 1 } } })
  })

  it('finds a run by the beginning of its id, and refuses what is ambiguous (CLI-16)', async () => {
    const { cwd, runs } = await project()
    await recordExperiment(cwd, { id: 'b', name: 'again' })
    const named = await runMain(['invalidate', 'run_a01', '--reason', 'x', '--json'], { cwd })
    expect(JSON.parse(named.stdout)).toMatchObject({ run_id: 'run_a01', run: runs[0]?.name, reason: 'x' })
    const many = await runMain(['invalidate', 'run_', '--reason', 'x'], { cwd })
    expect(many.code).toBe(2)
    expect(many.stderr).toContain('more than one run')
  })

  it('waits with the conclusion while the experiment has none (CLI-16)', async () => {
    const cwd = folder()
    const { runs } = await recordExperiment(cwd, { id: 'u', name: 'open', unfinished: true })
    const { code, stdout } = await runMain(['invalidate', runs[0]?.id ?? '', '--reason', 'x'], { cwd })
    expect(code).toBe(0)
    expect(stdout).toContain('open has no conclusion yet')
  })

  it.each([[['invalidate', 'run_a01']], [['invalidate', 'run_a01', '--reason', ' ']]])(
    'wants a reason: %j (CLI-3, CLI-16)',
    async (args) => {
      const { cwd } = await project()
      expect((await runMain(args, { cwd })).code).toBe(2)
    },
  )
})
