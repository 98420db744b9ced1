import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { runResearch } from '../../src/research/loop/run-research.ts'
import { openStore } from '../../src/store/index.ts'
import { toyResearch } from '../research/toy-research.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { recordExperiment } from './recorded.ts'
import { runMain } from './run-main.ts'

const folder = temporaryFolders()

describe('commands about a session of research', () => {
  let cwd = ''
  beforeAll(async () => {
    cwd = folder()
    mkdirSync(join(cwd, '.evsys'))
    await using store = await openStore(join(cwd, '.evsys', 'evsys.db'))
    await runResearch(toyResearch({ store }))
  })

  it('report writes one file of the newest session (RES-709)', async () => {
    const { code, stdout, stderr } = await runMain(['research', 'report', '-o', 'out.html'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^report of toy \(exp_\w+\): \d+ attempts in out\.html, \d+(\.\d+)? kB\n$/)
    const page = readFileSync(join(cwd, 'out.html'), 'utf8')
    expect(page).toContain('<h1>toy</h1>')
    expect(page).toContain('evsys research run --task toy --proposer toy')
    expect(page).toContain('<del>-const ')
    expect(page).not.toMatch(/NaN|undefined/)
  })

  it('report names its file after the task, and tells of it as data (RES-709)', async () => {
    const { stdout } = await runMain(['research', 'report', '--task', 'toy', '--json'], { cwd })
    expect(JSON.parse(stdout)).toMatchObject({ task: 'toy', file: join(cwd, 'toy-report.html') })
    expect(existsSync(join(cwd, 'toy-report.html'))).toBe(true)
  })

  it('export writes a table that import takes (RES-706)', async () => {
    const { code } = await runMain(['research', 'export', '-o', 'results.tsv'], { cwd })
    expect(code).toBe(0)
    const other = folder()
    await runMain(['init'], { cwd: other })
    const imported = await runMain(['import', join(cwd, 'results.tsv'), '--direction', 'min', '--json'], { cwd: other })
    expect(imported.stderr).toBe('')
    const rows = readFileSync(join(cwd, 'results.tsv'), 'utf8').trimEnd().split('\n').length - 1
    expect(JSON.parse(imported.stdout)).toMatchObject({ n_runs: rows })
    expect((await runMain(['research', 'export'], { cwd })).stdout).toBe(readFileSync(join(cwd, 'results.tsv'), 'utf8'))
  })

  it('export --patches writes every kept change with its evidence (RES-709)', async () => {
    const { stdout } = await runMain(['research', 'export', '--patches', 'kept', '--json'], { cwd })
    const { n_patches, patches } = JSON.parse(stdout)
    const files = readdirSync(join(cwd, 'kept'))
    expect(n_patches).toBeGreaterThan(0)
    expect(files).toEqual(expect.arrayContaining(['README.md', 'all.patch', 'evidence.json', patches[0].file]))
    expect(JSON.parse(readFileSync(join(cwd, 'kept', 'evidence.json'), 'utf8'))).toEqual(patches)
  })

  it('an experiment that is no session, and a task without one, are told apart (RES-709)', async () => {
    const empty = folder()
    await recordExperiment(empty, { id: 'a', name: 'rates' })
    const named = await runMain(['research', 'report', '--session', 'rates'], { cwd: empty })
    expect(named).toMatchObject({ code: 2, stderr: expect.stringContaining('is no research session') })
    const missing = await runMain(['research', 'export', '--task', 'digits'], { cwd: empty })
    expect(missing.stderr).toContain('evsys research run --task digits')
  })

  it('next ranks what a record leaves open (RES-708)', async () => {
    const lab = folder()
    await recordExperiment(lab, { id: 'a', name: 'undecided', minEffect: 0.12, seeds: 1 })
    await recordExperiment(lab, { id: 'b', name: 'picked', hypothesis: 'Higher is better.', rates: [0.01, 0.03, 0.1] })
    await recordExperiment(lab, { id: 'c', name: 'killed', rates: [0.01, 0.2], unfinished: true })
    const { code, stdout } = await runMain(['next', '--json'], { cwd: lab })
    expect(code).toBe(0)
    const steps: { kind: string; name: string; rank: number }[] = JSON.parse(stdout)
    expect(steps.map(({ rank }) => rank)).toEqual(steps.map((_, i) => i + 1))
    expect(new Set(steps.map(({ kind, name }) => `${name}: ${kind}`))).toEqual(
      new Set(['undecided: decide', 'picked: confirm', 'picked: hypothesis', 'killed: resume']),
    )
    const text = (await runMain(['next', '--limit', '2'], { cwd: lab })).stdout
    expect(text).toContain('what to try')
    expect(text).toContain('2 more with --limit N')
  })

  it('export --html writes a report of an ordinary experiment, and of a log with its claims named (RES-711)', async () => {
    const lab = folder()
    const hypothesis = 'Higher <b>rates</b> learn sooner.'
    await recordExperiment(lab, {
      id: 'a',
      name: 'rates',
      hypothesis,
      minEffect: 0.05,
      failing: [0.03],
      rates: [0.01, 0.03, 0.1],
    })
    await runMain(['conclude', 'rates', 'The middle rate breaks.', '--author', 'ada'], { cwd: lab })
    const { code, stdout } = await runMain(['export', 'rates', '--html', '-o', 'rates.html'], { cwd: lab })
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^report of rates \(exp_a\): rates\.html, \d/),
    })
    const page = readFileSync(join(lab, 'rates.html'), 'utf8')
    for (const id of ['arms', 'claim', 'runs', 'words', 'reproduce']) expect(page).toContain(`<section id="${id}"`)
    expect(page).toContain('Higher &#60;b&#62;rates')
    expect(page).not.toMatch(/<script|NaN|undefined/)
    const log =
      'commit\tval_bpb\tstatus\tdescription\na\t1\tkeep\tbaseline\nb\t0.9\tkeep\twider\nc\t0.91\tdiscard\trandom seed 42 to 137\nd\t\tcrash\tboom\n'
    writeFileSync(join(lab, 'log.tsv'), log)
    await runMain(['import', 'log.tsv'], { cwd: lab })
    const told = (await runMain(['export', 'log', '--html'], { cwd: lab })).stdout
    expect(told).toContain('none counts as evidence')
    expect(told).toContain('<title>3: boom')
  })

  it('next says so where nothing is open (RES-708)', async () => {
    const lab = folder()
    mkdirSync(join(lab, '.evsys'))
    expect((await runMain(['next'], { cwd: lab })).stdout).toContain('nothing is open')
  })
})
