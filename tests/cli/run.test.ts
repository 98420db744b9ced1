import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { main } from '../../src/cli/index.ts'
import { ErrorReport, ExperimentResult } from '../../src/contracts/index.ts'
import { openStore } from '../../src/store/index.ts'
import { createScreen } from '../screen.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { type CliResult, runMain } from './run-main.ts'
import { stable, writeSmallLab } from './small-lab.ts'

const folder = temporaryFolders()
const slow = 120_000

async function canonical(cwd: string, id: string): Promise<unknown> {
  await using store = await openStore(join(cwd, '.evsys', 'evsys.db'))
  return await store.canonicalRecord(id)
}

function lab(options?: Parameters<typeof writeSmallLab>[1]): string {
  const cwd = folder()
  writeSmallLab(cwd, options)
  return cwd
}

describe('run', () => {
  const cwd = lab()
  let first: CliResult
  let second: CliResult
  beforeAll(async () => {
    first = await runMain(['run', 'config.yaml', '--max-concurrent', '1'], { cwd })
    second = await runMain(['run', 'config.yaml', '--json'], { cwd })
  }, slow)

  it('ends with the verdict, the arms, the files and the next step (CLI-9)', async () => {
    expect(first.code).toBe(0)
    await expect(stable(first.stdout)).toMatchFileSnapshot('golden/run.txt')
  })

  it('tells runs and evaluations line by line where no terminal is (CLI-9)', async () => {
    await expect(stable(first.stderr)).toMatchFileSnapshot('golden/run-lines.txt')
  })

  it('prints the result and nothing else under --json (CLI-10)', async () => {
    const result = ExperimentResult.parse(JSON.parse(second.stdout))
    expect(second.code).toBe(0)
    expect(result).toMatchObject({ name: 'colours', status: 'completed', best_arm: 'colours__learning_rate0p3' })
    const shown = await runMain(['show', result.experiment_id, '--json'], { cwd })
    expect(JSON.parse(shown.stdout)).toEqual(result)
  })

  it('gives the same record twice, with any number of runs at a time (CLI-9, W5)', async () => {
    const { stdout } = await runMain(['history', '--json'], { cwd })
    const [newer, older] = JSON.parse(stdout)
    expect(await canonical(cwd, newer.experiment_id)).toEqual(await canonical(cwd, older.experiment_id))
  })

  it('writes the files that it names (CLI-9, W4)', () => {
    const [, page = ''] = /^files +(\S+)$/m.exec(first.stdout) ?? []
    const dir = join(cwd, page, '..')
    expect(readFileSync(join(cwd, page), 'utf8')).toContain('- verdict: inconclusive')
    const run = join(dir, 'colours__learning_rate0p3__s42')
    for (const file of ['run_result.json', 'logs/hypothesis.md', 'logs/conclusion.md', 'logs/training/metrics.jsonl']) {
      expect(existsSync(join(run, file))).toBe(true)
    }
  })

  it('is found by history, and compares with itself (CLI-13, CLI-15)', async () => {
    const { stdout } = await runMain(['history', '--json'], { cwd })
    const ids = JSON.parse(stdout).map((entry: { experiment_id: string }) => entry.experiment_id)
    const compared = await runMain(['compare', ...ids, '--json'], { cwd })
    const { refused, effects, differences } = JSON.parse(compared.stdout)
    expect({ refused, differences }).toEqual({ refused: [], differences: [] })
    expect(effects).toMatchObject([{ effect: 0, shared_seeds: 2 }])
  })
})

describe('run on a terminal', () => {
  it(
    'keeps a line for every active run and one for the whole up to date, and leaves none behind (CLI-9)',
    async () => {
      const cwd = lab()
      const screen = createScreen(70, 6)
      const frames = new Set<string>()
      let stdout = ''
      const stderr = {
        isTTY: true,
        columns: screen.columns,
        rows: screen.rows,
        write(text: string) {
          screen.write(text) // throws when a line is too wide or the block too high
          for (const line of screen.lines()) frames.add(line)
        },
      }
      const code = await main(['run', 'config.yaml', '--max-concurrent', '4'], {
        stdout: { write: (text) => (stdout += text) },
        stderr,
        stdin: (async function* () {})(),
        cwd,
        env: { PATH: process.env.PATH ?? '', NO_COLOR: '1', LANG: 'C' },
        signal: new AbortController().signal,
      })
      expect(code).toBe(0)
      const seen = [...frames].join('\n')
      expect(seen).toMatch(/^learning_rate0p\d+__s4[23] +[#-]* *\d+\/12/m)
      expect(seen).toMatch(/^\d of 4 runs done, \d/m)
      expect(screen.lines().filter((line) => line !== '')).toEqual([])
      expect(stdout).toMatch(/^(supported|inconclusive): colours/)
    },
    slow,
  )
})

describe('run of a recipe that fails', () => {
  const boom = `import { defineAlgorithm, sft, z } from 'evsys/plugin'
export const boom = defineAlgorithm({
  kind: 'boom',
  summary: 'Throws at its third step.',
  params: sft.params,
  rowFormat: 'chat_messages',
  async buildBatch(context) {
    if (context.step === 2) throw new Error('the third step is too much')
    return await sft.buildBatch(context)
  },
})
export default [boom]
`

  it(
    'goes on with the others and names the arm (CLI-9)',
    async () => {
      const cwd = lab({
        plugins: { 'boom.ts': boom },
        axes: { 'algorithm.kind': ['sft', 'boom'], 'algorithm.params.learning_rate': [0.3] },
        file: {
          metadata: {
            objective: { metric: 'val.pass@1' },
            benchmark: [{ name: 'val', path: 'val', run_every: 4, metrics: ['pass@1'] }],
          },
        },
      })
      const { code, stdout, stderr } = await runMain(['run', 'config.yaml'], { cwd })
      expect(code).toBe(0)
      expect(stdout).toContain('2 of 4 runs completed')
      expect(stdout).toMatch(/^colours__kindboom\S* +failed .*PLUGIN_FAILED: .*the third step is too much/m)
      expect(stderr).toContain('the third step is too much')
    },
    slow,
  )

  it(
    'is exit 1 when no run completed (CLI-3, CLI-10)',
    async () => {
      const cwd = lab({ plugins: { 'boom.ts': boom }, axes: { 'algorithm.kind': ['boom'] }, file: { metadata: {} } })
      const { code, stdout } = await runMain(['run', 'config.yaml', '--json'], { cwd })
      expect(code).toBe(1)
      expect(ExperimentResult.parse(JSON.parse(stdout))).toMatchObject({
        status: 'failed',
        conclusion: { verdict: 'failed' },
        arms: [{ error: { code: 'PLUGIN_FAILED' } }],
      })
    },
    slow,
  )
})

describe('run --dry', () => {
  it(
    'prints plan, power and forecast, then runs a trial that counts as no evidence (CLI-12, USE-118)',
    async () => {
      const cwd = lab()
      const first = await runMain(['run', 'config.yaml', '--dry', '--max-concurrent', '1'], { cwd })
      expect(first.code).toBe(0)
      await expect(stable(first.stdout)).toMatchFileSnapshot('golden/run-dry.txt')
      const { stdout } = await runMain(['history'], { cwd })
      expect(stdout).toContain('exploratory (trial)')

      const whole = await runMain(['run', 'config.yaml', '--quiet'], { cwd })
      expect(whole).toMatchObject({ code: 0, stderr: '' })
      expect(whole.stdout.trimEnd().split('\n')).toHaveLength(1)

      const second = await runMain(['run', 'config.yaml', '--dry', '--json'], { cwd })
      const result = ExperimentResult.parse(JSON.parse(second.stdout))
      expect(result.conclusion?.verdict).toBe('exploratory')
      expect(result.power).toMatchObject([{ benchmark: 'val', metric: 'pass@1', pairs: 2, tasks: 3 }])
      expect(second.stderr).toMatch(/^work +none: every run is in the record$/m)
      const third = await runMain(['run', 'config.yaml', '--dry', '--fresh', '--json'], { cwd })
      expect(third.stderr).toMatch(/^time +about .*measured on \d+ earlier runs$/m)
    },
    slow,
  )
})

describe('a file that cannot be run', () => {
  it('starts nothing and records nothing (CLI-3, CLI-9)', async () => {
    const cwd = lab({ file: { n_repeets: 2 } })
    const { code, stdout, stderr } = await runMain(['run', 'config.yaml'], { cwd })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('CONFIG_UNKNOWN_KEY')
    expect(readdirSync(join(cwd, '.evsys'))).toEqual([])
  })

  it('a missing plugin and a wrong file are told before anything starts (CLI-3, CLI-9)', async () => {
    const cwd = lab({ axes: { 'algorithm.kind': ['sfft'] }, file: { metadata: {} } })
    const unknown = await runMain(['run', 'config.yaml', '--json'], { cwd })
    expect(ErrorReport.parse(JSON.parse(unknown.stdout)).errors).toMatchObject([{ code: 'PLUGIN_UNKNOWN' }])
    const missing = await runMain(['run', 'nope.yaml', '--json'], { cwd })
    expect(ErrorReport.parse(JSON.parse(missing.stdout)).errors).toMatchObject([{ code: 'CONFIG_READ' }])
    expect([unknown.code, missing.code]).toEqual([2, 2])
  })

  it('--resume starts what was not started, and shows what has finished (CLI-3, CLI-11, USE-65)', async () => {
    const cwd = lab({ steps: 2 })
    const args = ['run', 'config.yaml', '--resume', '--json']
    const started = await runMain(args, { cwd })
    expect(started.code).toBe(0)
    expect(started.stderr).toContain('nothing of this experiment is in the record yet, so --resume starts it')
    const again = await runMain(args, { cwd })
    expect(again.code).toBe(0)
    expect(again.stderr).toContain('has finished already, and nothing is run again')
    const { notices, ...result } = JSON.parse(started.stdout)
    expect(JSON.parse(again.stdout)).toMatchObject(result)
    expect(notices).toEqual(['nothing of this experiment is in the record yet, so --resume starts it'])
    const shown = await runMain(['run', 'config.yaml', '--resume'], { cwd })
    const [folder = ''] = readdirSync(join(cwd, '.evsys', 'runs'))
    expect(shown.stdout.replaceAll(/\s+/g, ' ')).toContain(`.evsys/runs/${folder}/experiment.md`)
    expect(readdirSync(join(cwd, '.evsys', 'runs'))).toEqual([folder])
  })

  it('a plan beyond its budget is refused (CLI-3)', async () => {
    const { code, stdout } = await runMain(['run', 'config.yaml', '--json'], {
      cwd: lab({ file: { budget: { steps: 10 } } }),
    })
    expect(code).toBe(2)
    expect(ErrorReport.parse(JSON.parse(stdout)).errors).toMatchObject([{ code: 'BUDGET_EXCEEDED' }])
  })
})

describe('Ctrl-C', () => {
  it(
    'saves, says how to go on, and --resume ends in the record of an undisturbed run (CLI-11)',
    async () => {
      const cwd = lab({ steps: 40, file: { n_repeats: 1 } })
      const whole = await runMain(['run', 'config.yaml', '--json', '--max-concurrent', '1'], { cwd })
      const expected = await canonical(cwd, JSON.parse(whole.stdout).experiment_id)

      const controller = new AbortController()
      let stderr = ''
      let stdout = ''
      const code = await main(['run', 'config.yaml', '--max-concurrent', '1', '--fresh'], {
        stdout: { write: (text) => (stdout += text) },
        stderr: {
          write(text) {
            stderr += text
            if (stderr.includes('step 8:')) controller.abort()
          },
        },
        stdin: (async function* () {})(),
        cwd,
        env: { PATH: process.env.PATH ?? '' },
        signal: controller.signal,
      })
      expect({ code, stdout }).toEqual({ code: 130, stdout: '' })
      expect(stderr).toContain('interrupted: closing the runs of config.yaml, which save first')
      expect(stderr).toContain('resume with\n  evsys run config.yaml --max-concurrent 1 --fresh --resume\n')
      const listed = await runMain(['history'], { cwd })
      expect(listed.stdout).toMatch(/^\S+ {2}colours {2}interrupted {2}/)

      const resumed = await runMain(['run', 'config.yaml', '--fresh', '--resume', '--json'], { cwd })
      expect(resumed.code).toBe(0)
      expect(resumed.stderr).toMatch(/started, 40 steps, from step \d+/)
      const { experiment_id } = ExperimentResult.parse(JSON.parse(resumed.stdout))
      expect(await canonical(cwd, experiment_id)).toEqual(expected)
    },
    slow,
  )

  it(
    'is one document under --json, with the way to go on (CLI-2, CLI-11)',
    async () => {
      const cwd = lab({ steps: 40, file: { n_repeats: 1 } })
      const controller = new AbortController()
      let stdout = ''
      const code = await main(['run', 'config.yaml', '--json'], {
        stdout: { write: (text) => (stdout += text) },
        stderr: {
          write(text) {
            if (text.includes('step 4:')) controller.abort()
          },
        },
        stdin: (async function* () {})(),
        cwd,
        env: { PATH: process.env.PATH ?? '' },
        signal: controller.signal,
      })
      expect(code).toBe(130)
      const { errors } = ErrorReport.parse(JSON.parse(stdout))
      expect(errors).toMatchObject([{ code: 'INTERRUPTED' }])
      expect(errors[0]?.fix).toContain('--resume')
    },
    slow,
  )
})
