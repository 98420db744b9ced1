// Does an arm hold on other tasks? The claim between two benchmarks, from the plan to the report.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolders } from '../temporary-folder.ts'
import { runMain } from './run-main.ts'
import { writeSmallLab } from './small-lab.ts'

const cwd = temporaryFolders()()
const arm = 'colours__learning_rate0p3'

/** Tasks that the trained arm gets right, and such as it gets wrong: it has learned to say yes. */
function writeTickets(dir: string, { yes, no }: { yes: number; no: number }): void {
  mkdirSync(dir, { recursive: true })
  const tasks = [...Array(yes).fill('yes'), ...Array(no).fill('no')].map((expected, i) => ({
    task_id: `${i}-${expected}`,
    instruction: 'Was it red?',
    verifier: { kind: 'in_process', fn_name: 'exact_match', expected },
  }))
  writeFileSync(join(dir, 'tasks.jsonl'), tasks.map((task) => `${JSON.stringify(task)}\n`).join(''))
}

beforeAll(async () => {
  const benchmark = (name: string, split: string) => ({ name, path: name, split, metrics: ['pass@1'], max_tokens: 8 })
  const metadata = {
    hypothesis: 'What it learned holds in April.',
    objective: { metric: 'val.pass@1' },
    benchmark: [benchmark('val', 'val'), benchmark('april', 'test')],
    claims: [
      { treatment: `${arm}@april`, baseline: `${arm}@val`, max_drop: 0.02 },
      { treatment: `${arm}@april`, baseline: `${arm}@val`, max_drop: 0.9 },
      { treatment: arm, baseline: 'colours__learning_rate0p001', metric: 'val.pass@1' },
    ],
  }
  writeSmallLab(cwd, { file: { metadata } })
  writeTickets(join(cwd, 'val'), { yes: 72, no: 8 })
  writeTickets(join(cwd, 'april'), { yes: 24, no: 36 })
}, 300_000)

describe('a claim between benchmarks', () => {
  it('is in the plan, with what it can find out (USE-532)', async () => {
    const { code, stdout } = await runMain(['run', 'config.yaml', '--dry'], { cwd })
    expect(code).toBe(0)
    expect(stdout).toContain(`${arm}@april loses less than 0.02 against ${arm}@val on pass@1`)
    const text = stdout.replaceAll(/\s+/g, ' ')
    expect(text).toContain('difference on pass@1 between val and april has standard deviations')
    // 80 and 60 tasks are as uncertain as 69 of each.
    expect(text).toMatch(/2 seeds on 69 tasks of each benchmark/)
  })

  it('has its verdict, by Holm with the others, in text, JSON, files, report and next (USE-532)', async () => {
    const { code, stdout } = await runMain(['run', 'config.yaml', '--json'], { cwd })
    expect(code).toBe(0)
    const result = JSON.parse(stdout)
    const [strict, loose, between] = result.claims
    expect(strict).toMatchObject({
      benchmark: 'april',
      baseline_benchmark: 'val',
      metric: 'pass@1',
      min_effect: -0.02,
      overall: { treatment: `${arm}@april`, baseline: `${arm}@val`, verdict: 'refuted', n_seeds: 2, n_tasks: 60 },
    })
    expect(strict.overall.effect).toBeCloseTo(-0.5)
    expect(strict.mix.of_mix.effect).toBeCloseTo(-0.5)
    expect(strict.mix.within.effect).toBeCloseTo(0)
    expect(loose.overall.verdict).toBe('supported')
    expect([strict, loose, between].every((each) => each.p_adjusted >= each.p)).toBe(true)
    expect(between).not.toHaveProperty('baseline_benchmark')
    expect(result.conclusion.verdict).toBe('refuted')
    const said = `${arm}@april against ${arm}@val is -0.5 on pass@1 (`
    expect(result.conclusion.text).toContain(`Refuted: ${said}`)
    expect(result.conclusion.text).toMatch(
      /a drop of less than 0\.02 was claimed; p 1, adjusted 1\)\. Of this, -0\.5 \(.*\) is that the mix of classes is another, /,
    )
    const shown = await runMain(['show', 'colours'], { cwd })
    expect(shown.stdout.replaceAll(/\s+/g, ' ')).toContain(`pass@1: ${arm}@april against ${arm}@val: -0.5`)
    expect(JSON.parse((await runMain(['show', 'colours', '--json'], { cwd })).stdout).claims).toEqual(result.claims)
    const page = readFileSync(join(result.files, 'experiment.md'), 'utf8')
    expect(page).toContain(`| 1 | ${arm}@april | ${arm}@val | pass@1 | -0.5 |`)
    expect((await runMain(['export', result.experiment_id, '--html', '-o', 'report.html'], { cwd })).code).toBe(0)
    const report = readFileSync(join(cwd, 'report.html'), 'utf8')
    expect(report).toContain('0p3@april')
    expect(report).toContain('is that the mix of classes is another')
  }, 300_000)

  it('plans by what the record has of both benchmarks (USE-532)', async () => {
    const { stdout } = await runMain(['run', 'config.yaml', '--dry', '--json'], { cwd })
    const { power } = JSON.parse(stdout)
    expect(power[0]).toMatchObject({ benchmark: 'april', baseline_benchmark: 'val', pairs: 2, tasks: 69 })
    expect(power[0].basis).toEqual({ from: 'record', experiments: 1 })
    // Each side adds the variance of its tasks: 0.9 x 0.1 and 0.4 x 0.6.
    expect(power[0].variances.task).toBeCloseTo(0.09 * (80 / 79) + 0.24 * (60 / 59), 5)
  })
})
