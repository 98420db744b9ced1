import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openStore, STORE_VERSION } from '../../src/store/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { recordExperiment } from './recorded.ts'
import { runMain } from './run-main.ts'

const folder = temporaryFolders()
const recordOf = (cwd: string) => join(cwd, '.evsys', 'evsys.db')

async function project() {
  const cwd = folder()
  await recordExperiment(cwd, { id: 'old', name: 'old', day: '2026-01-01' })
  await recordExperiment(cwd, { id: 'new', name: 'new', day: '2026-03-01' })
  for (const name of [
    '2026-01-01-12-00-00-000_old/old__learning_rate0p1__s42',
    '2026-03-01-12-00-00-000_new/new__learning_rate0p1__s42',
  ]) {
    const segments = join(cwd, '.evsys', 'runs', name, 'segments')
    mkdirSync(segments, { recursive: true })
    writeFileSync(join(segments, '1.jsonl'), 'x'.repeat(1000))
  }
  return cwd
}

async function canonical(cwd: string, id: string) {
  await using store = await openStore(recordOf(cwd))
  return await store.canonicalRecord(id)
}

describe('gc', () => {
  it('drops log lines and segments of what ended before, and nothing that counts (CLI-20)', async () => {
    const cwd = await project()
    const before = [await canonical(cwd, 'exp_old'), await canonical(cwd, 'exp_new')]
    const { code, stdout } = await runMain(['gc', '--before', '2026-02-01', '--json'], { cwd })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ before: '2026-02-01T00:00:00.000Z', log_lines: 6, segment_files: 1 })
    expect([await canonical(cwd, 'exp_old'), await canonical(cwd, 'exp_new')]).toEqual(before)
    const left = readdirSync(join(cwd, '.evsys', 'runs'), { recursive: true, encoding: 'utf8' })
    expect(left.filter((path) => path.endsWith('1.jsonl'))).toEqual([
      join('2026-03-01-12-00-00-000_new', 'new__learning_rate0p1__s42', 'segments', '1.jsonl'),
    ])
    await using store = await openStore(recordOf(cwd))
    const types = async (runId: string) =>
      (await store.events({ stream: `run:${runId}`, afterSeq: 0, limit: 100, types: ['log'] })).length
    expect([await types('run_old01'), await types('run_new01')]).toEqual([0, 1])
  })

  it('says what it dropped, and drops nothing twice (CLI-20)', async () => {
    const cwd = await project()
    const first = await runMain(['gc', '--before', '2026-06-01'], { cwd })
    expect(first.stdout).toMatch(
      /^dropped what ended before 2026-06-01: 12 log lines, 0 names of deleted checkpoints, 0 finished jobs, 2 segment files; /,
    )
    const second = await runMain(['gc', '--before', '2026-06-01'], { cwd })
    expect(second.stdout).toContain('0 log lines, 0 names of deleted checkpoints, 0 finished jobs, 0 segment files')
  })

  it('keeps an unfinished experiment as it is (CLI-20)', async () => {
    const cwd = folder()
    await recordExperiment(cwd, { id: 'open', name: 'open', day: '2026-01-01', unfinished: true })
    const { stdout } = await runMain(['gc', '--before', '2030-01-01', '--json'], { cwd })
    expect(JSON.parse(stdout)).toMatchObject({ log_lines: 0, segment_files: 0 })
  })

  it.each(['yesterday', '2026-02-30', '2026-13-01', '20260101'])(
    '--before %s is refused (CLI-3, CLI-20)',
    async (date) => {
      const { code, stderr } = await runMain(['gc', '--before', date], { cwd: folder() })
      expect(code).toBe(2)
      expect(stderr).toContain('It must be a day or a time')
    },
  )
})

describe('du', () => {
  it('counts the record and the files of experiments (CLI-20)', async () => {
    const cwd = await project()
    const { code, stdout } = await runMain(['du', '--json'], { cwd })
    expect(code).toBe(0)
    const { bytes, record, folders, experiments } = JSON.parse(stdout)
    expect(record.rows).toMatchObject({ experiment: 2, run: 12, eval: 24 })
    expect(record.bytes).toBeGreaterThan(10_000)
    expect(folders.map(({ name }: { name: string }) => name)).toEqual(['runs'])
    expect(experiments.map(({ name }: { name: string }) => name).sort()).toEqual(['new', 'old'])
    const inRuns = experiments.reduce((sum: number, each: { bytes: number }) => sum + each.bytes, 0)
    expect(folders[0].bytes).toBe(inRuns)
    expect(bytes).toBe(record.bytes + inRuns)
  })

  it('reads as a table (CLI-20)', async () => {
    const { stdout } = await runMain(['du'], { cwd: await project() })
    expect(stdout).toMatch(/^\d+(\.\d+)? kB in /)
    expect(stdout).toMatch(/^runs\/ +\d/m)
    expect(stdout).toMatch(/^old +\d.*exp_old$/m)
  })
})

describe('db', () => {
  it('backup makes a copy that opens like the record (CLI-20)', async () => {
    const cwd = await project()
    const { code, stdout } = await runMain(['db', 'backup', '-o', 'copy.db', '--json'], { cwd })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ file: join(cwd, 'copy.db'), version: STORE_VERSION })
    await using copy = await openStore(join(cwd, 'copy.db'))
    expect(await copy.canonicalRecord('exp_old')).toEqual(await canonical(cwd, 'exp_old'))
  })

  it('backup never replaces a file (CLI-20)', async () => {
    const cwd = await project()
    writeFileSync(join(cwd, 'copy.db'), 'precious')
    const { code } = await runMain(['db', 'backup', '-o', 'copy.db'], { cwd })
    expect(code).toBe(1)
    expect(readFileSync(join(cwd, 'copy.db'), 'utf8')).toBe('precious')
  })

  it('backup without a file goes to .evsys/backups (CLI-20)', async () => {
    const cwd = await project()
    const { stdout } = await runMain(['db', 'backup'], { cwd })
    const [, file = ''] = /^copied the record to (\S+), /.exec(stdout) ?? []
    expect(file).toMatch(/^\.evsys\/backups\/evsys-/)
    expect(existsSync(join(cwd, file))).toBe(true)
  })

  it('migrate tells the version of the record (CLI-20)', async () => {
    const cwd = await project()
    expect((await runMain(['db', 'migrate'], { cwd })).stdout).toBe(
      `.evsys/evsys.db has version ${STORE_VERSION}, which this evsys writes\n`,
    )
    const fresh = folder()
    mkdirSync(join(fresh, '.evsys'))
    expect((await runMain(['db', 'migrate'], { cwd: fresh })).stdout).toBe(
      `made .evsys/evsys.db, version ${STORE_VERSION}\n`,
    )
  })

  it.each([[['db', 'bakcup']], [['db']], [['db', 'migrate', '-o', 'x']]])('%j is explained (CLI-4)', async (args) => {
    const { code, stderr } = await runMain(args, { cwd: await project() })
    expect(code).toBe(2)
    expect(stderr).toContain('CLI_USAGE')
  })

  it('a record that is no database is an error with a fix, and is left as it is (CLI-20)', async () => {
    const cwd = folder()
    mkdirSync(join(cwd, '.evsys'))
    writeFileSync(recordOf(cwd), 'not a database, but somebody’s notes'.repeat(100))
    const { code, stdout } = await runMain(['history', '--json'], { cwd })
    expect(code).toBe(1)
    expect(JSON.parse(stdout).errors[0]).toMatchObject({ code: 'STORE_FAILED' })
    expect(readFileSync(recordOf(cwd), 'utf8')).toContain('somebody’s notes')
  })
})
