// What the peer lets pass or gets wrong before anything runs.
import { readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runMain } from '../cli/run-main.ts'
import { experimentProject, twoByTwo } from '../lab/experiment-project.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()

async function validated(experiment: object) {
  const dir = folder()
  const { code, stdout, stderr } = await runMain(['validate', experimentProject(dir, experiment), '--deep', '--json'], {
    cwd: dir,
  })
  return { code, report: JSON.parse(stdout), stderr }
}

describe('before anything runs', { timeout: 120_000 }, () => {
  it('W11: what the scaffold writes is valid, down to the params of every plugin (LAB-53)', async () => {
    const dir = join(folder(), 'lab')
    expect((await runMain(['init', dir], { cwd: join(dir, '..') })).code).toBe(0)
    expect((await runMain(['new-experiment', 'first'], { cwd: dir })).code).toBe(0)
    const made = readdirSync(join(dir, 'experiments'))
    expect(made.length).toBeGreaterThan(0)
    for (const name of made) {
      const file = join(dir, 'experiments', name, 'config.yaml')
      const checked = await runMain(['validate', file, '--deep', '--json'], { cwd: dir })
      expect(JSON.parse(checked.stdout), readFileSync(file, 'utf8')).toMatchObject({ valid: true })
    }
  })

  it('W14: a metric is found in a benchmark whose name has dots, and knows which way is better (LAB-53)', async () => {
    const [val] = twoByTwo.metadata.benchmark
    const metadata = {
      objective: { metric: 'v1.5.tokens_per_task' },
      benchmark: [{ ...val, name: 'v1.5', metrics: ['tokens_per_task'] }],
    }
    const { code, report } = await validated({ ...twoByTwo, metadata })
    expect(code).toBe(0)
    expect(report.objective).toEqual({ benchmark: 'v1.5', metric: 'tokens_per_task', direction: 'min' })
  })

  it('W15: a typo in how an experiment is judged is an error at its place (LAB-53)', async () => {
    const [val, test] = twoByTwo.metadata.benchmark
    const late = { ...val, run_every: undefined, run_evry: 5 }
    const metadata = { ...twoByTwo.metadata, hypotesis: 'x', benchmark: [late, { ...test, metrics: ['pas@1'] }] }
    const { code, report } = await validated({ ...twoByTwo, metadata })
    expect(code).toBe(2)
    const told = report.errors.map(
      ({ where, message }: { where?: { line: number; path: string } | undefined; message: string }) => [
        where?.path,
        message,
      ],
    )
    expect(told).toContainEqual([expect.stringContaining('hypotesis'), expect.any(String)])
    expect(told).toContainEqual([expect.stringContaining('run_evry'), expect.any(String)])
    expect(report.errors.every(({ where }: { where?: { line: number } | undefined }) => (where?.line ?? 0) > 0)).toBe(
      true,
    )
  })

  it.each([
    ['whose links lead in a circle', (data: string) => symlinkSync('train.jsonl', join(data, 'train.jsonl'))],
    [
      'that is one line of gigabytes',
      (data: string) => {
        writeFileSync(join(data, 'train.jsonl'), '')
        truncateSync(join(data, 'train.jsonl'), 2 ** 36)
      },
    ],
  ])('a data file %s is an error of the data before anything runs (ATK-1)', async (_what, make) => {
    const dir = folder()
    const file = experimentProject(dir, twoByTwo)
    rmSync(join(dir, 'data/train.jsonl'))
    make(join(dir, 'data'))
    const { code, stdout } = await runMain(['run', file, '--json'], { cwd: dir })
    expect(code).toBe(2)
    expect(JSON.parse(stdout).errors).toMatchObject([{ code: expect.stringMatching(/^(CONFIG_PATH|DATA_INVALID)$/) }])
  })

  it('W3: arms and checkpoints cannot be selected on test (LAB-53)', async () => {
    const metadata = { ...twoByTwo.metadata, claim: undefined, objective: { metric: 'test.pass@1' } }
    const { code, report } = await validated({ ...twoByTwo, metadata })
    expect(code).toBe(2)
    expect(report.errors[0].message).toMatch(/test/)
  })
})
