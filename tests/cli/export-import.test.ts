import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ErrorReport, ImportResult } from '../../src/contracts/index.ts'
import { openStore } from '../../src/store/index.ts'
import { putPoints } from '../stores/put-points.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { recordExperiment } from './recorded.ts'
import { runMain } from './run-main.ts'

const folder = temporaryFolders()
const recordOf = (cwd: string) => join(cwd, '.evsys', 'evsys.db')

/** A project with one experiment that has everything a record can hold. */
async function exported() {
  const cwd = folder()
  const { runs } = await recordExperiment(cwd, { id: 'a', name: 'rates', minEffect: 0.05, failing: [0.01] })
  await runMain(['conclude', 'rates', 'The low rate breaks.', '--author', 'ada'], { cwd })
  await runMain(['invalidate', 'run_a04', '--reason', 'disk full'], { cwd })
  const [first] = runs
  {
    await using store = await openStore(recordOf(cwd))
    const run_id = first?.id ?? ''
    await store.verdicts.note(run_id, { category: 'optimiser', kept: false, claimed: { loss: 0.5 } })
    await store.keepArtifact(run_id, { name: 'weights', kind: 'file', ref: 'file:///weights' })
    await putPoints(store, { type: 'points', run_id, key: ['gpu'], step: [3], value: [0.1], at_ms: [1_000] })
  }
  const file = join(cwd, 'rates.json')
  const { code, stdout } = await runMain(['export', 'rates', '-o', file], { cwd })
  expect(code).toBe(0)
  expect(stdout).toMatch(/^exported rates \(exp_a\): 6 runs to rates\.json, \d+(\.\d+)? kB\n$/)
  return { cwd, file, text: readFileSync(file, 'utf8') }
}

async function freshProject() {
  const cwd = folder()
  await runMain(['init'], { cwd })
  return cwd
}

async function canonical(cwd: string) {
  await using store = await openStore(recordOf(cwd))
  const words = (await store.findExperiment('exp_a')).words
  const runs = await store.runs('exp_a')
  const artifacts = await Promise.all(runs.map(({ id }) => store.artifacts(id)))
  const notes = runs.map(({ category, kept, claimed, invalid }) => ({ category, kept, claimed, invalid }))
  return { record: await store.canonicalRecord('exp_a'), words, notes, artifacts }
}

describe('export and import', () => {
  it('carry an experiment to another record, equal to the last number (CLI-18)', async () => {
    const { cwd, file } = await exported()
    const other = await freshProject()
    const { code, stdout, stderr } = await runMain(['import', file, '--json'], { cwd: other })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(ImportResult.parse(JSON.parse(stdout))).toEqual({ experiment_id: 'exp_a', n_runs: 6, n_kept: 0 })
    expect(await canonical(other)).toEqual(await canonical(cwd))
    const shown = await runMain(['show', 'exp_a', '--json'], { cwd: other })
    // Files stay where they are.
    const elsewhere = (text: string) => text.replaceAll(/^ *"files": .*\n/gm, '')
    expect(shown.stdout).toContain('"files": null')
    expect(elsewhere(shown.stdout)).toBe(elsewhere((await runMain(['show', 'exp_a', '--json'], { cwd })).stdout))
  })

  it('what was imported exports to the same document (CLI-18)', async () => {
    const { file, text } = await exported()
    const other = await freshProject()
    await runMain(['import', file], { cwd: other })
    const again = await runMain(['export', 'exp_a'], { cwd: other })
    expect(JSON.parse(again.stdout)).toEqual(JSON.parse(text))
  })

  it('a second import changes nothing, here and where it came from (CLI-18)', async () => {
    const { cwd, file } = await exported()
    const other = await freshProject()
    for (const place of [cwd, other, other]) {
      const before = place === cwd ? await canonical(cwd) : undefined
      const { code } = await runMain(['import', file], { cwd: place })
      expect(code).toBe(0)
      if (before !== undefined) expect(await canonical(cwd)).toEqual(before)
    }
    expect(await canonical(other)).toEqual(await canonical(cwd))
    const { stdout } = await runMain(['import', file], { cwd: other })
    expect(stdout).toContain('was there already; nothing changed')
  })

  it('an import that was cut short is completed by the next (CLI-18)', async () => {
    const { cwd, file, text } = await exported()
    const other = await freshProject()
    const bundle = JSON.parse(text)
    {
      // What a process leaves that was killed between two runs.
      await using store = await openStore(recordOf(other))
      const { id, created_at: at, plan, provenance } = bundle.experiment
      const runIds = bundle.runs.map((run: { id: string }) => run.id)
      await store.createExperiment({ experimentId: id, at, plan, runIds, provenance })
      const items = bundle.runs[0].events
      await store.push({ stream: `run:${runIds[0]}`, fromSeq: 1, items })
    }
    expect((await runMain(['import', file], { cwd: other })).code).toBe(0)
    expect(await canonical(other)).toEqual(await canonical(cwd))
  })

  it('leaves an experiment alone that went another way here (CLI-18)', async () => {
    const { file } = await exported()
    const other = folder()
    await recordExperiment(other, { id: 'a', name: 'rates', minEffect: 0.05, day: '2026-02-02' })
    const before = await canonical(other)
    const { code, stderr } = await runMain(['import', file], { cwd: other })
    expect(code).toBe(1)
    expect(stderr).toContain('STORE_CONFLICT')
    expect(await canonical(other)).toEqual(before)
  })

  it('prints the document where no file is named (CLI-18)', async () => {
    const { cwd, text } = await exported()
    const { stdout } = await runMain(['export', 'rates'], { cwd })
    expect(stdout).toBe(text)
    expect(JSON.parse((await runMain(['export', 'rates', '--json'], { cwd })).stdout)).toEqual(JSON.parse(text))
  })

  it('an experiment without a conclusion is not exported (CLI-18)', async () => {
    const cwd = folder()
    await recordExperiment(cwd, { id: 'u', name: 'open', unfinished: true })
    const { code, stderr } = await runMain(['export', 'open'], { cwd })
    expect(code).toBe(1)
    expect(stderr).toContain('has no conclusion yet')
  })

  it('writes nothing outside of this project, whatever folder an export names (CLI-18)', async () => {
    const { text } = await exported()
    const other = await freshProject()
    const elsewhere = folder()
    const bundle = JSON.parse(text)
    bundle.experiment.plan.experiment.output_dir = join(elsewhere, 'stolen')
    writeFileSync(join(other, 'x.json'), JSON.stringify(bundle))
    expect((await runMain(['import', 'x.json'], { cwd: other })).code).toBe(0)
    expect((await runMain(['invalidate', 'run_a05', '--reason', 'x'], { cwd: other })).code).toBe(0)
    expect(existsSync(join(elsewhere, 'stolen'))).toBe(false)
  })

  it.each<[string, (bundle: Record<string, unknown[]>) => string, RegExp]>([
    [
      'is no JSON',
      (bundle) => `${JSON.stringify(bundle, null, 1).slice(0, 500)}\n!`,
      /^x\.json:\d+:\d+ {2}DATA_INVALID\n {2}not valid JSON/,
    ],
    ['has another format', (bundle) => edited(bundle, 'format', 'zip'), /^x\.json:2:\d+ {2}DATA_INVALID\n {2}format: /],
    ['is of a newer version', (bundle) => edited(bundle, 'version', 2), /version: this evsys reads version 1/],
    ['misses a run', (bundle) => edited(bundle, 'runs', bundle.runs?.slice(1)), /the plan has 6 runs, and here are 5/],
    ['is nothing of ours', () => '[1, 2]', /^x\.json:1:1 {2}DATA_INVALID/],
    ['is nested without end', () => `${'['.repeat(5000)}${']'.repeat(5000)}`, /nested deeper/],
  ])('a file that %s is refused with its place, and changes nothing (CLI-18)', async (_what, make, words) => {
    const { text } = await exported()
    const other = await freshProject()
    writeFileSync(join(other, 'x.json'), make(JSON.parse(text)))
    const { code, stdout, stderr } = await runMain(['import', 'x.json'], { cwd: other })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(words)
    expect((await runMain(['history', '--json'], { cwd: other })).stdout).toBe('[]\n')
  })

  it.each<[string, (events: Record<string, unknown>[]) => void, string]>([
    ['is out of order', (events) => events.reverse(), 'runs.0.events.0.seq'],
    [
      'belongs to another run',
      (events) => Object.assign(events[0] ?? {}, { run_id: 'run_x' }),
      'runs.0.events.0.run_id',
    ],
    ['is of no known type', (events) => Object.assign(events[1] ?? {}, { type: 'run.exploded' }), 'runs.0.events.1'],
  ])('an event that %s is found at its line (CLI-18)', async (_what, change, path) => {
    const { text } = await exported()
    const other = await freshProject()
    const bundle = JSON.parse(text)
    change(bundle.runs[0].events)
    const written = JSON.stringify(bundle, null, 1)
    writeFileSync(join(other, 'x.json'), written)
    const { code, stdout } = await runMain(['import', 'x.json', '--json'], { cwd: other })
    expect(code).toBe(2)
    const [error] = ErrorReport.parse(JSON.parse(stdout)).errors
    expect(error?.where?.path?.startsWith(path)).toBe(true)
    const firstRun = written.split('\n').indexOf(' "runs": [') + 1
    expect(error?.where?.line).toBeGreaterThan(firstRun)
  })

  it.each([
    ['missing.json', 'DATA_READ'],
    ['data', 'DATA_READ'],
    ['bytes.bin', 'DATA_INVALID'],
  ])('says that %s cannot be read (CLI-3, CLI-18)', async (name, code) => {
    const cwd = await freshProject()
    writeFileSync(join(cwd, 'bytes.bin'), new Uint8Array([0x7b, 0xff, 0xfe, 0x00]))
    const result = await runMain(['import', name, '--json'], { cwd })
    expect(result.code).toBe(2)
    expect(ErrorReport.parse(JSON.parse(result.stdout)).errors).toMatchObject([{ code }])
  })
})

function edited(bundle: Record<string, unknown>, key: string, value: unknown): string {
  return JSON.stringify({ ...bundle, [key]: value }, null, 1)
}
