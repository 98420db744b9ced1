// Task folders as training data, in the real sandbox of this machine and on the mock backend.
import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { rejectionSft } from '../../src/algorithms/rejection-sft.ts'
import type { Trajectory } from '../../src/contracts/index.ts'
import { defineAgent, defineAlgorithm } from '../../src/kernel/index.ts'
import { runAssignment } from '../run-assignment.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { trainHere } from '../train-here.ts'
import { sandbox } from './needs-sandbox.ts'
import { writeTaskFolder } from './task-folder.ts'

const folder = temporaryFolders()
const fixtures = fileURLToPath(new URL('../fixtures/harbor-tasks', import.meta.url))

const greeting = '#!/bin/sh\necho "$GREETING, $(cat /app/name.txt)!"\n'

/** What solves the fixtures, by a word of what is asked. */
const commands: readonly [RegExp, string][] = [
  [/where\.txt/, 'pwd > where.txt'],
  [/one line `first`/, 'echo first > notes.txt'],
  [/`second`/, 'echo second >> notes.txt'],
  [/prints `hello`/, "printf '#!/bin/sh\\necho hello\\n' > /app/greet.sh && chmod +x /app/greet.sh"],
  [/holds a name/, `cat > /app/greet.sh <<'END'\n${greeting}END\n`],
  [/Describe/, 'echo greet.sh > /app/README.md'],
]

/** Asks the policy once, then does what was asked, or not. */
const doer = (saw: unknown[] = []) =>
  defineAgent({
    kind: 'doer',
    summary: 'Solves the fixtures.',
    params: z.strictObject({ how: z.enum(['does', 'idles', 'breaks']).default('does') }),
    async run({ task, folder: given, environment, policy, sampling, params, random, signal }) {
      saw.push({ given, metadata: task.metadata, tests: await environment?.read('/tests/test.sh').catch(() => 'none') })
      const messages = [{ role: 'user' as const, content: task.instruction }]
      const { text } = await policy.generate({ messages, ...sampling, seed: random().int(1000) }, signal)
      if (params.how === 'breaks') throw new Error('oops')
      const command = commands.find(([words]) => words.test(task.instruction))?.[1]
      if (params.how === 'does' && command !== undefined)
        await environment?.exec({ argv: ['bash', '-c', command] }, signal)
      return { output: text }
    },
  })

/** Trains a step on the tasks of a project, and returns every trajectory. */
async function train(dir: string, how: string, saw: unknown[] = []) {
  const seen: Trajectory[] = []
  const watched = defineAlgorithm({
    kind: 'watched',
    summary: 'Rejection sampling that tells what it drew.',
    params: rejectionSft.params,
    rowFormat: 'harbor_task',
    buildBatch: (context) =>
      rejectionSft.buildBatch({
        ...context,
        async rollout(request, signal) {
          const trajectory = await context.rollout(request, signal)
          seen.push(trajectory)
          return trajectory
        },
      }),
  })
  const params = { max_steps: 1, batch_size: 3, num_samples: 1, max_tokens: 6, learning_rate: 0.1 }
  const assignment = runAssignment(dir, {
    config: {
      data: { source_kind: 'harbor', path: join(dir, 'tasks'), hf_split: 'train', transforms: [] },
      algorithm: { kind: 'watched', params },
      agent: { kind: 'doer', params: { how } },
    },
  })
  const run = await trainHere(assignment, { plugins: [watched, doer(saw)] })
  // The mock's answers do not end by themselves, so nothing was trained on, and the run says why.
  const [error] = run.of('run.finished').map((each) => each.error)
  expect(error?.code).toBe('RUN_EMPTY')
  const left = readdirSync(join(assignment.run_dir, 'trials'))
  const byTask = Object.fromEntries(seen.map((each) => [each.taskId, each]))
  return { byTask, left, run, why: error?.message }
}

function project(names: readonly string[]): string {
  const dir = folder()
  for (const name of names) cpSync(join(fixtures, name), join(dir, 'tasks', name), { recursive: true })
  return dir
}

sandbox.describe('a recipe on task folders', () => {
  it('learns from attempts in their environments that the tests accept, token by token (AGT-12)', async () => {
    const saw: unknown[] = []
    const dir = project(['workdir', 'multi-step-simple', 'multi-step-advanced'])
    const { byTask, left, run, why } = await train(dir, 'does', saw)
    expect(why).toContain('3 of 3 answers had enough reward, but were cut short')
    const rewards = Object.entries(byTask).map(([task, { reward, turns }]) => [task, reward, turns.length])
    expect(rewards.sort()).toEqual([
      ['evsys/multi-step-advanced', 1, 3],
      ['evsys/workdir', 1, 1],
      ['multi-step-simple', 1, 2],
    ])
    const turns = Object.values(byTask).flatMap((each) => each.turns)
    for (const { tokens } of turns) {
      expect(tokens?.completion.length).toBeGreaterThan(0)
      expect(tokens?.logprobs).toHaveLength(tokens?.completion.length ?? 0)
    }
    const usage = byTask['multi-step-simple']?.usage.completionTokens
    expect(usage).toBe(
      byTask['multi-step-simple']?.turns.reduce((n, { tokens }) => n + (tokens?.completion.length ?? 0), 0),
    )
    expect(run.of('step.finished')[0]?.metrics).toMatchObject({ 'rollout/accepted_share': 1, 'rollout/failed:sum': 0 })
    expect(run.of('rollout.finished').map(({ reward }) => reward)).toEqual([1, 1, 1])
    // Nothing of the folder is in the agent's hands, and nothing of the trial is left.
    expect(saw).toHaveLength(6)
    for (const each of saw) expect(each).toMatchObject({ given: undefined, tests: 'none' })
    expect(JSON.stringify(saw)).not.toContain('task_path')
    expect(left).toEqual([])
  }, 120_000)

  it('tells failures apart: of the answer, of the agent, of the machine (AGT-12)', async () => {
    const idle = await train(project(['workdir']), 'idles')
    expect(idle.byTask['evsys/workdir']).toMatchObject({ reward: 0, rewards: { reward: 0 } })
    expect(idle.byTask['evsys/workdir']?.error).toBeUndefined()
    expect(idle.why).toContain('returned no example to train on')
    const broken = await train(project(['workdir']), 'breaks')
    expect(broken.byTask['evsys/workdir']).toMatchObject({ error: { infra: false }, turns: [{}] })
    expect(broken.byTask['evsys/workdir']?.reward).toBeUndefined()
    expect(broken.why).toContain('all 3 rollouts failed, the first with: agent "doer": oops')

    const dir = project([])
    writeTaskFolder(join(dir, 'tasks', 'image'), {
      'environment/Dockerfile': 'FROM acme/special:1\n',
      'tests/test.sh': '#!/bin/bash\n',
    })
    writeTaskFolder(join(dir, 'tasks', 'silent'), {
      'task.toml': '[environment]\nnetwork_mode = "no-network"\n',
      'tests/test.sh': '#!/bin/bash\ntrue\n',
    })
    const { byTask, left } = await train(dir, 'idles')
    expect(byTask).toMatchObject({
      image: { error: { infra: true, message: expect.stringContaining('acme/special') } },
      silent: { error: { code: 'VERIFIER_FAILED', infra: true } },
    })
    expect(byTask.silent?.reward).toBeUndefined()
    expect(left).toEqual([])
  }, 120_000)
})
