// What `--dry` says beforehand, against what a run then does: runs that it takes from the record, and how long the others take.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ExperimentResult } from '../../src/contracts/index.ts'
import { mustRun } from '../run-command.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { runMain } from './run-main.ts'
import { evsysBin } from './run-process.ts'
import { writeSmallLab } from './small-lab.ts'

const folder = temporaryFolders()

async function result(cwd: string, ...args: string[]): Promise<ExperimentResult> {
  const { stdout, stderr } = await runMain(['run', 'config.yaml', '--json', ...args], { cwd })
  return ExperimentResult.parse(JSON.parse(stdout || '{}'), { error: () => stderr })
}

const reused = ({ runs = [] }: ExperimentResult) => runs.filter(({ reused_from }) => reused_from !== undefined).length

describe('a dry run', { timeout: 240_000 }, () => {
  it('counts the runs that a run takes from the record, by all that the run compares (USE-540)', async () => {
    const cwd = folder()
    writeSmallLab(cwd)
    await result(cwd)
    const more = ['--set', 'n_repeats=3']
    const dry = await result(cwd, '--dry', ...more)
    expect(dry).toMatchObject({ reusable: 4, forecast: { runs: 2, steps: 24 } })
    const { stdout, stderr } = await runMain(['run', 'config.yaml', '--dry', ...more], { cwd })
    const said = `${stdout}${stderr}`.replaceAll(/\s+/g, ' ')
    expect(said).toContain('4 of 6 runs are in the record and will not be trained again (--fresh trains all)')
    expect(said).toContain('the forecast is of the 2 that are left')
    expect(reused(await result(cwd, ...more))).toBe(4)
    expect(await result(cwd, '--dry', ...more)).toMatchObject({ reusable: 6, forecast: { runs: 0, wall_s: 0 } })
    expect(await result(cwd, '--dry', '--fresh', ...more)).toMatchObject({ reusable: 0, forecast: { runs: 6 } })

    // The same configurations, on other rows.
    const row = { messages: ['Is it blue?', 'yes'].map((content, i) => ({ role: ['user', 'assistant'][i], content })) }
    appendFileSync(join(cwd, 'train.jsonl'), `${JSON.stringify(row)}\n`)
    expect(await result(cwd, '--dry', ...more)).toMatchObject({ reusable: 0, forecast: { runs: 6 } })
    const again = await runMain(['run', 'config.yaml', '--dry', ...more], { cwd })
    expect(`${again.stdout}${again.stderr}`.replaceAll(/\s+/g, ' ')).toContain(
      '0 of 6 runs are in the record and will not be trained again; 6 others are there too, made by other code, data, engine or scorers, and are trained again',
    )
    expect(reused(await result(cwd, ...more))).toBe(0)
  })

  // In processor time, which other work on the machine does not stretch: so many times what the first run took.
  it('forecasts within a factor of two what a plan takes, once one run is measured (USE-541)', async () => {
    const cwd = folder()
    writeSmallLab(cwd)
    const benchmark = [{ name: 'val', path: 'val', split: 'val', run_every: 40, metrics: ['pass@1'], max_tokens: 8 }]
    const algorithm = { kind: 'sft', params: { max_steps: 200, batch_size: 8, learning_rate: 0.001 } }
    const file = {
      name: 'paced',
      metadata: { objective: { metric: 'val.pass@1' }, benchmark },
      run: { name: 'only', data: { path: 'train.jsonl' }, model: { name: 'evsys/nano' }, algorithm },
    }
    writeFileSync(join(cwd, 'config.yaml'), JSON.stringify(file))
    const plan = ['--set', 'n_repeats=3', '--set', 'base_seed=100', '--set', 'algorithm.params.max_steps=400']
    // Reading the file, loading plugins and looking at models and benchmarks is what both begin with, however long they then train.
    const before = await processorTime(cwd, 'validate', 'config.yaml', '--deep')
    const first = await measured(cwd)
    const { forecast } = await result(cwd, '--dry', ...plan)
    expect(forecast).toMatchObject({ runs: 3, steps: 1200, evals: 30, measured_on: 1 })
    const [took = 0] = first.result.runs?.map(({ wall_s }) => wall_s ?? 0) ?? []
    const actual = await measured(cwd, ...plan)
    const times = { forecast: (forecast?.wall_s ?? 0) / took, actual: (actual.cpuS - before) / (first.cpuS - before) }
    expect(times.forecast / times.actual, JSON.stringify(times)).toBeGreaterThan(1 / 2)
    expect(times.forecast / times.actual, JSON.stringify(times)).toBeLessThan(2)
  })
})

/** Runs the file, one run at a time. */
async function measured(cwd: string, ...args: string[]): Promise<{ result: ExperimentResult; cpuS: number }> {
  const one = ['--json', '--max-concurrent', '1', '--sandbox', 'process']
  const cpuS = await processorTime(cwd, 'run', 'config.yaml', ...one, ...args)
  return { result: ExperimentResult.parse(JSON.parse(readFileSync(join(cwd, 'out.txt'), 'utf8'))), cpuS }
}

/** Seconds of processors that a command took with all its processes: the shell keeps that account. */
async function processorTime(cwd: string, ...args: string[]): Promise<number> {
  const script = '"$@" > out.txt 2> notices.txt && times'
  const times = await mustRun('sh', ['-c', script, 'sh', process.execPath, evsysBin, ...args], {
    cwd,
  })
  const [, ofChildren = ''] = times.split('\n')
  const seconds = [...ofChildren.matchAll(/(\d+)m([\d.]+)s/g)].map(([, m, s]) => 60 * Number(m) + Number(s))
  expect(seconds).toHaveLength(2)
  return seconds.reduce((sum, each) => sum + each, 0)
}
