// A session over an experiment file on the engine of this machine, to its very end: what people take away from it.
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runMain } from '../cli/run-main.ts'
import { experimentProject, twoByTwo } from '../lab/experiment-project.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()

const answered = (split: 'val' | 'test') =>
  Array.from({ length: 24 }, (_, i) => {
    const verifier = { kind: 'in_process', fn_name: 'exact_match', expected: i % 6 === 5 ? 'mail' : 'refund' }
    return JSON.stringify({ task_id: `${split}-${i}`, instruction: `question of ${split} ${i}`, verifier })
  }).join('\n')

const benchmark = (['val', 'test'] as const).map((name) => ({
  name,
  path: `data/${name}`,
  split: name,
  run_every: name === 'val' ? 10 : 0,
  metrics: ['pass@1', 'tokens_per_task'],
  temperature: 0,
  max_tokens: 12,
}))

/** Nothing is learnt at its rate; ten and a hundred times as much are among what may be tried. */
const experiment = {
  name: 'desk',
  metadata: { objective: { metric: 'val.pass@1' }, benchmark },
  data: twoByTwo.matrix.base_run.data,
  model: { name: 'evsys/nano' },
  algorithm: { kind: 'sft', params: { max_steps: 30, batch_size: 4, learning_rate: 0.00001 } },
  backend: { kind: 'local' },
  research: {
    derive: false,
    space: { 'algorithm.params.learning_rate': [0.00001, 0.003] },
    objective: { cheapest: 'tokens_per_task', within: 0.02 },
    budget: { experiments: 1 },
  },
}

describe('a session on the engine of this machine', { timeout: 900_000 }, () => {
  it('ends in a claim, a folder that runs again to the digit, an adapter and a report (RES-561, RES-592, RES-593)', async () => {
    const file = experimentProject(folder(), experiment)
    const cwd = dirname(file)
    for (const split of ['val', 'test'] as const)
      writeFileSync(join(cwd, 'data', split, 'tasks.jsonl'), answered(split))
    const { code, stdout, stderr } = await runMain(['research', 'run', 'experiment.yaml', '--json'], { cwd, env: {} })
    expect([code, stderr]).toEqual([0, expect.any(String)])
    const { claim, winner, trade_offs: traded, experiment_id: id } = JSON.parse(stdout)
    expect(claim).toMatchObject({ verdict: 'supported', treatment: 'a1', baseline: 'baseline', items: 24 })
    expect(claim.interval[0]).toBeGreaterThan(0)
    expect(claim.scores.treatment - claim.scores.baseline).toBeCloseTo(claim.effect, 9)
    expect(traded.candidates.map(({ attempt }: { attempt: string }) => attempt)).toContain('a1')

    const place = join(cwd, winner.folder)
    const config = JSON.parse(readFileSync(join(place, 'adapter/adapter_config.json'), 'utf8'))
    expect(config).toMatchObject({ peft_type: 'LORA', base_model_name_or_path: 'evsys/nano' })
    const bytes = readFileSync(join(place, 'adapter/adapter_model.safetensors'))
    const header = JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE())).toString())
    const lora = Object.entries(header).filter(([key]) => key.includes('lora_A'))
    expect(lora.length).toBeGreaterThan(0)
    expect(lora.every(([, value]) => (value as { shape: number[] }).shape[0] === config.r)).toBe(true)
    const page = readFileSync(join(place, 'README.md'), 'utf8')
    expect(page).toContain('**supported**: a1')
    expect(page).toContain('## Trade-offs')

    // Asked for again, it is as it was.
    const resumed = await runMain(['research', 'run', 'experiment.yaml', '--resume', '--json'], { cwd, env: {} })
    expect(JSON.parse(resumed.stdout)).toMatchObject({ claim, winner })
    expect(readFileSync(join(place, 'README.md'), 'utf8')).toBe(page)

    const report = await runMain(['research', 'report', '--session', id, '-o', 'report.html'], { cwd })
    expect([report.code, existsSync(join(cwd, 'report.html'))]).toEqual([0, true])
    expect(readFileSync(join(cwd, 'report.html'), 'utf8')).toContain('supported</span>')

    const empty = folder()
    mkdirSync(join(empty, '.evsys'))
    for (const part of ['data', winner.folder]) cpSync(join(cwd, part), join(empty, part), { recursive: true })
    const again = await runMain(['run', join(winner.folder, 'config.yaml'), '--json'], { cwd: empty })
    const expected = JSON.parse(readFileSync(join(place, 'expected.json'), 'utf8'))
    expect(JSON.parse(again.stdout).arms).toMatchObject([{ score: { mean: expected['val.pass@1'] } }])
  })
})
