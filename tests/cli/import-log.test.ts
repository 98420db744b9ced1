import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ErrorReport, ImportResult } from '../../src/contracts/index.ts'
import { openStore } from '../../src/store/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { root, runMain } from './run-main.ts'

const folder = temporaryFolders()

const head = ['commit', 'val_loss', 'memory_gb', 'status', 'description']
const log = [
  head,
  ['base', '1.00000', '10.0', 'keep', 'baseline'],
  ['a1', '0.90000', '10.0', 'keep', 'halve the batch'],
  ['a2', '0.90500', '10.0', 'discard', 'random seed 1 to 2'],
  ['a3', '0.00000', '0.0', 'crash', 'batch too large'],
  ['a4', '0.89800', '10.5', 'keep', 'longer warmup'],
  ['a5', '0.97000', '10.5', 'discard', 'no warmup'],
  ['a6', '0.89200', '10.5', 'keep', 'tiny weight decay'],
  ['a7', '0.88900', '10.5', 'keep', 'more weight decay'],
]

/** A project with a log in it. */
async function project(rows: readonly (readonly string[])[] = log, end = '\n') {
  const cwd = folder()
  await runMain(['init'], { cwd })
  writeFileSync(join(cwd, 'results.tsv'), rows.map((row) => row.join('\t')).join(end) + end)
  return cwd
}

describe('import of a log', () => {
  it('makes every row a run and says which gains are below the noise of the log (CLI-19)', async () => {
    const cwd = await project()
    const { code, stdout, stderr } = await runMain(['import', 'results.tsv'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    await expect(stdout.replaceAll(/exp_[0-9a-z]{26}/g, 'exp_ID')).toMatchFileSnapshot('golden/import-log.txt')
    const shown = await runMain(['show', 'results'], { cwd })
    const stable = shown.stdout.replaceAll(/exp_[0-9a-z]{26}/g, 'exp_ID').replace(/^(made +)\S+ \S+ UTC/m, '$1TODAY')
    await expect(stable).toMatchFileSnapshot('golden/show-log.txt')
  })

  it('is a result under --json (CLI-2, CLI-19)', async () => {
    const cwd = await project()
    const { stdout } = await runMain(['import', 'results.tsv', '--json'], { cwd })
    expect(ImportResult.parse(JSON.parse(stdout))).toMatchObject({ n_runs: 8, n_kept: 5 })
  })

  it('takes scores as claims, which never count (CLI-19)', async () => {
    const cwd = await project()
    await runMain(['import', 'results.tsv'], { cwd })
    const { stdout } = await runMain(['show', 'results', '--json'], { cwd })
    const result = JSON.parse(stdout)
    expect(result.arms.every(({ score }: { score: unknown }) => score === null)).toBe(true)
    expect(result).toMatchObject({ best_arm: null, conclusion: { verdict: 'exploratory' } })
    await using store = await openStore(join(cwd, '.evsys', 'evsys.db'))
    const runs = await store.runs(result.experiment_id)
    expect(
      runs.map(({ name, status, kept, claimed, description }) => ({ name, status, kept, claimed, description }))[3],
    ).toEqual({
      name: 'a3',
      status: 'failed',
      kept: false,
      claimed: { memory_gb: 0 }, // its 0.00000 would be the best score of all
      description: 'batch too large',
    })
    const nameOf = (id: string | undefined) => runs.find((run) => run.id === id)?.name
    expect(runs.map((run) => nameOf(run.parentRun))).toEqual([undefined, 'base', 'a1', 'a1', 'a1', 'a4', 'a4', 'a6'])
  })

  it('the same log under the same name is one experiment (CLI-19)', async () => {
    const cwd = await project()
    const first = await runMain(['import', 'results.tsv', '--json'], { cwd })
    const second = await runMain(['import', 'results.tsv'], { cwd })
    expect(second.stdout).toContain('was there already; nothing changed')
    const other = await runMain(['import', 'results.tsv', '--name', 'another', '--json'], { cwd })
    expect(JSON.parse(other.stdout).experiment_id).not.toBe(JSON.parse(first.stdout).experiment_id)
    expect(JSON.parse((await runMain(['history', '--json'], { cwd })).stdout)).toHaveLength(2)
  })

  it('an invalid row is left out of the gains (CLI-16, CLI-19)', async () => {
    const cwd = await project()
    await runMain(['import', 'results.tsv'], { cwd })
    const { stdout } = await runMain(['invalidate', 'results/a2', '--reason', 'another machine'], { cwd })
    expect(stdout).toContain('No row changes the seed alone')
    expect(stdout).toContain('1 run is marked invalid and left out.')
  })

  it('reads a log where higher is better, with lines of Windows and a byte order mark (CLI-19)', async () => {
    const rows = [
      ['id', 'accuracy', 'status', 'description'],
      ['x', '0.5', 'keep', ''],
      ['y', '0.6', 'keep', 'more data'],
    ]
    const cwd = await project(rows, '\r\n')
    writeFileSync(join(cwd, 'marked.tsv'), `\uFEFF${rows.map((row) => row.join('\t')).join('\r\n')}`)
    for (const file of ['results.tsv', 'marked.tsv']) {
      const { stdout } = await runMain(['import', file], { cwd })
      expect(stdout).toContain('accuracy went from 0.5 to 0.6 (higher is better)')
      expect(stdout).toContain('No row changes the seed alone')
    }
  })

  it('asks which way is better where the log does not tell (CLI-19)', async () => {
    const cwd = await project([head, ['base', '1', '1', 'keep', 'baseline'], ['b', '2', '1', 'discard', 'x']])
    const refused = await runMain(['import', 'results.tsv'], { cwd })
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('--direction min, or --direction max')
    const { code } = await runMain(['import', 'results.tsv', '--direction', 'min'], { cwd })
    expect(code).toBe(0)
  })

  it('takes the column that is named, and refuses one that is not there (CLI-19)', async () => {
    const cwd = await project()
    const other = await runMain(['import', 'results.tsv', '--metric', 'memory_gb', '--direction', 'min'], { cwd })
    expect(other.stdout).toContain('memory_gb went from 10.0 to 10.5')
    const wrong = await runMain(['import', 'results.tsv', '--metric', 'val_los'], { cwd })
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain('did you mean "val_loss"?')
  })

  it('names runs by number where the log’s names do not serve (CLI-19)', async () => {
    const cwd = await project([
      head,
      ['same', '3', '1', 'keep', ''],
      ['same', '2', '1', 'keep', ''],
      ['a/b', '1', '1', 'keep', ''],
    ])
    await runMain(['import', 'results.tsv'], { cwd })
    const { stdout } = await runMain(['show', 'results', '--json'], { cwd })
    expect(JSON.parse(stdout).arms.map(({ name }: { name: string }) => name)).toEqual(['same', 'row-2', 'row-3'])
  })

  it('tells every wrong line at once, with its column, and records nothing (CLI-19)', async () => {
    const cwd = await project([
      head,
      ['base', '1.0', '10', 'keep', 'baseline'],
      ['a1', 'n/a', '10', 'keep', 'no number'],
      ['a2', '0.9', '10', 'kept', 'unknown status'],
      ['a3', '0.9', '10'],
      ['', '0.9', '10', 'keep', 'no name'],
    ])
    const { code, stdout, stderr } = await runMain(['import', 'results.tsv'], { cwd })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    await expect(stderr).toMatchFileSnapshot('golden/import-log-errors.txt')
    expect((await runMain(['history', '--json'], { cwd })).stdout).toBe('[]\n')
  })

  it.each<[string, string]>([
    ['', 'the file is empty'],
    ['just some text\n', 'expected column names with tabs between them'],
    ['a\tb\tc\n1\t2\t3\n', 'no column is called "status"'],
    ['a\ta\tstatus\n1\t2\tkeep\n', 'two columns are called "a"'],
    ['a\tb\tstatus\n', 'no run follows'],
    ['a\tstatus\tdescription\nx\tkeep\ty\n', 'no column holds a score'],
  ])('refuses %j with its place (CLI-19)', async (text, message) => {
    const cwd = await project()
    writeFileSync(join(cwd, 'x.tsv'), text)
    const { code, stdout } = await runMain(['import', 'x.tsv', '--json'], { cwd })
    expect(code).toBe(2)
    const [error] = ErrorReport.parse(JSON.parse(stdout)).errors
    expect(error).toMatchObject({ code: 'DATA_INVALID', where: { file: 'x.tsv', line: 1 } })
    expect(error?.message).toContain(message)
  })

  it('counts what it does not list of a file that is wrong in every line (CLI-19)', async () => {
    const cwd = await project([head, ...Array.from({ length: 500 }, (_, i) => [`r${i}`, 'x', '1', 'keep', ''])])
    const { stdout } = await runMain(['import', 'results.tsv', '--json'], { cwd })
    const { errors } = ErrorReport.parse(JSON.parse(stdout))
    expect(errors).toHaveLength(20)
    expect(errors.at(-1)?.message).toContain('and 480 more lines are wrong')
  })
})

/**
 * A log in the form of the published one: 126 runs of which 23 were kept, 1 crashed and 1 changed the seed alone, which moved
 * the score by 0.000695. Of the 22 gains, 14 are smaller than that.
 */
function longLog(): string[][] {
  const gains = [...Array.from({ length: 8 }, () => 3000), ...Array.from({ length: 14 }, (_, i) => 100 + 40 * i)] // millionths
  let best = 997_900
  const row = (status: string, score: number, change: string, i: number) => [
    i.toString(16).padStart(7, '0'),
    (score / 1e6).toFixed(6),
    status === 'crash' ? '0.0' : '60.2',
    status,
    change,
  ]
  const rows = [['commit', 'val_bpb', 'memory_gb', 'status', 'description'], row('keep', best, 'baseline', 0)]
  for (let i = 1; i < 126; i++) {
    const gain = i % 5 === 0 ? gains.shift() : undefined
    best -= gain ?? 0
    if (gain !== undefined) rows.push(row('keep', best, `change ${i}`, i))
    else if (i === 16) rows.push(row('crash', 0, 'batch 131K', i))
    else if (i === 17) rows.push(row('discard', best + 695, 'random seed 42 to 137', i))
    else rows.push(row('discard', best + 1000, `change ${i}`, i))
  }
  return rows
}

describe('a log of 126 runs', () => {
  it('14 of its 22 kept gains are smaller than what one change of the seed moved (CLI-19)', async () => {
    const cwd = await project(longLog())
    const { code, stdout } = await runMain(['import', 'results.tsv'], { cwd })
    expect(code).toBe(0)
    expect(stdout).toContain('126 runs, 23 kept')
    expect(stdout).toContain('126 runs: 23 kept, 102 discarded, 1 crashed. val_bpb went from 0.997900 to 0.968860')
    expect(stdout).toContain('One row changes only the seed, and val_bpb moved by 0.000695: that is noise.')
    expect(stdout).toContain('14 of 22 kept gains are smaller than that; together they make 0.005040 of the 0.029040')
    const json = await runMain(['import', 'results.tsv', '--json'], { cwd })
    expect(ImportResult.parse(JSON.parse(json.stdout))).toMatchObject({ n_runs: 126, n_kept: 23 })
  })

  // The published log itself is no part of the repository; where it lies beside it, it is read too.
  const published = join(root, '..', 'shared', 'data', 'karpathy-h100-mar8-results.tsv')
  for (const file of [published].filter((path) => existsSync(path))) {
    it('the published one says the same of itself (CLI-19)', async () => {
      const cwd = await project()
      const { stdout } = await runMain(['import', file], { cwd })
      expect(stdout).toContain('126 runs: 23 kept, 102 discarded, 1 crashed. val_bpb went from 0.997900 to 0.969686')
      expect(stdout).toContain('One row changes only the seed, and val_bpb moved by 0.000695: that is noise.')
      expect(stdout).toContain('14 of 22 kept gains are smaller than that; together they make 0.003947 of the 0.028214')
    })
  }
})
