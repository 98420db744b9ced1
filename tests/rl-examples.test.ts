// The examples of reinforcement learning. In the full lane they are run as a whole, with the bundled model, to their verdict; in the
// fast one a step of each on the mock engine shows that recipe, tasks and harness fit together.
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { calculate } from '../examples/rl-harness/src/calculate.ts'
import { withCalculator } from '../examples/rl-harness/src/plugins/with-calculator.ts'
import { ExperimentResult } from '../src/contracts/index.ts'
import { attempt } from './agent-run.ts'
import { root, runMain } from './cli/run-main.ts'
import { codeBlocks } from './readme.ts'
import { inFullLane } from './scale.ts'
import { scriptedModel } from './scripted-model.ts'
import { temporaryFolders } from './temporary-folder.ts'

const folder = temporaryFolders()
// A step of each stage, few tasks, no model: what is left is that everything fits together.
const oneStep = [
  'run.model.name=mock',
  'run.backend.kind=mock',
  'n_repeats=1',
  'stages.1.algorithm.params.batch_size=2',
  'metadata.benchmark.0.limit=2',
  'metadata.benchmark.1.limit=2',
].flatMap((change) => ['--set', change])

describe.each(['rl-arithmetic', 'rl-harness'])('examples/%s', (name) => {
  it('runs to its verdict: answers to held-out tasks get better (RL-501, RL-502)', async () => {
    const project = join(folder(), name)
    cpSync(join(root, 'examples', name), project, { recursive: true })
    const args = ['run', 'experiment.yaml', '--json', ...(inFullLane ? [] : ['--steps', '1', ...oneStep])]
    const { code, stdout, stderr } = await runMain(args, { cwd: project })
    expect({ code, stderr }).toMatchObject({ code: 0 })
    const result = ExperimentResult.parse(JSON.parse(stdout))
    expect(result.arms.map(({ status }) => status)).toEqual(['completed', inFullLane ? 'completed' : 'failed'])
    expect(result.arms[1]?.params).toMatchObject({ 'algorithm.kind': 'rl' })
    if (inFullLane) expect(result.conclusion?.verdict).toBe('supported')
    // The mock engine answers and is scored, and nothing is right in its single step: there is nothing to learn from.
    else expect(result.arms[1]?.error?.message).toMatch(/none of the 1 steps.*groups of answers had equal rewards/)
  })
})

describe('the harness of examples/rl-harness', () => {
  const lead = (answers: readonly string[], params = {}) => {
    const policy = scriptedModel(answers)
    return { policy, outcome: attempt('with_calculator', params, { policy, plugins: [withCalculator] }) }
  }

  it('tells the model what the calculator says, and ends with the first answer that calls nothing (RL-503)', async () => {
    const { policy, outcome } = lead(['CALC 312 - 58', '254'])
    expect(await outcome).toMatchObject({ output: '254' })
    expect(policy.asked.map(({ messages }) => messages.map(({ role, content }) => `${role}: ${content}`))).toEqual([
      ['user: say it'],
      ['user: say it', 'assistant: CALC 312 - 58', 'tool: 254'],
    ])
  })

  it('tells a call that cannot be read, and is held to its turns (RL-503)', async () => {
    const { policy, outcome } = lead(['CALC process.exit()', 'CALC 1 / 0', 'CALC', '7'])
    expect(await outcome).toMatchObject({ output: 'CALC' })
    expect(policy.asked.at(-1)?.messages.map(({ content }) => content)).toContain('error')
    expect(await lead(['CALC 1 + 1', 'CALC 1 + 1', '2'], { max_turns: 2 }).outcome).toMatchObject({
      truncated: 'max_turns',
    })
  })

  it('calculates what is two numbers and a sign, and nothing else (RL-503)', () => {
    expect(['12 + 30', '5-9', ' 99 * 3 '].map(calculate)).toEqual([42, -4, 297])
    expect(['', '1 + ', '1 + 2 + 3', '1 / 2', '1e9 * 2', '1234567 + 1'].map(calculate)).toEqual(
      Array(6).fill(undefined),
    )
  })
})

describe('docs/guides/reinforcement-learning.md', () => {
  const guide = readFileSync(join(root, 'docs/guides/reinforcement-learning.md'), 'utf8')

  it('shows an experiment that is valid beside the data of the example (RL-501)', async () => {
    const project = join(folder(), 'guide')
    cpSync(join(root, 'examples/rl-arithmetic'), project, { recursive: true })
    writeFileSync(join(project, 'experiment.yaml'), codeBlocks(guide, 'yaml')[0] ?? '')
    expect(await runMain(['validate', 'experiment.yaml', '--deep'], { cwd: project })).toMatchObject({
      code: 0,
      stderr: '',
    })
  })

  it('shows the harness of the example (RL-503)', () => {
    const [shown = ''] = codeBlocks(guide, 'ts')
    expect(readFileSync(join(root, 'examples/rl-harness/src/plugins/with-calculator.ts'), 'utf8')).toContain(shown)
  })
})
