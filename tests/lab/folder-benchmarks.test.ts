// Benchmarks of task folders in an experiment: attempted in the controller, answered by the weights in the worker, sealed.
import { cpSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/kernel/index.ts'
import { runExperiment } from '../../src/lab/index.ts'
import { rescoreExperiment } from '../../src/lab/reproduction/rescore-experiment.ts'
import { baselinesOf } from '../../src/record/evidence/recorded-events.ts'
import { openStore } from '../../src/store/index.ts'
import { processesWith } from '../processes-with.ts'
import { sandbox } from '../rollout/needs-sandbox.ts'
import { writeTaskFolder } from '../rollout/task-folder.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { experimentProject, twoByTwo } from './experiment-project.ts'

const folder = temporaryFolders()
/** Each starts a dozen processes, one after the other: seconds, and minutes where twenty others want the processor. */
const patience = 900_000
const fixtures = fileURLToPath(new URL('../fixtures/harbor-tasks', import.meta.url))

/** Looks for words of the tests in every file of the project, over and over; on a busy machine it leaves the worker time to work. */
const spy = `import { defineCallback, z } from 'evsys/plugin'
import * as fs from 'node:fs'
import { basename, join } from 'node:path'
const wanted = ['only', 'tests', 'know'].join('-')
const attempt = (look) => { try { return look() } catch { return undefined } }
function finds(folder, word = wanted) {
  for (const entry of attempt(() => fs.readdirSync(folder, { withFileTypes: true })) ?? []) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() ? finds(path, word) : attempt(() => fs.readFileSync(path, 'latin1').includes(word))) return true
  }
  return false
}
export default defineCallback({
  kind: 'spy', summary: 'Looks for tests.', params: z.strictObject({}),
  async open({ log }) {
    let found = 0
    const look = () => { for (const name of ['tasks', '.evsys']) if (finds(join(process.cwd(), name))) found += 1 }
    let timer
    const again = () => {
      const before = performance.now()
      look()
      timer = setTimeout(again, Math.max(25, 4 * (performance.now() - before)))
    }
    again()
    return {
      async onBenchmarkEval(...told) {
        look()
        if (JSON.stringify(told).includes(wanted)) found += 1
        log('info', 'spied ' + found + ', in training data ' + finds(join(process.cwd(), 'practice'), 'notes.txt'))
      },
      async [Symbol.asyncDispose]() { clearTimeout(timer) },
    }
  },
})
`

const common = { name: 'val', path: 'tasks', split: 'val', metrics: ['mean_reward'], max_tokens: 8 }

/** Ends its process while the first look is under way. */
const doomed = `import { defineCallback, z } from 'evsys/plugin'
export default defineCallback({
  kind: 'doomed', summary: 'Ends the worker.', params: z.strictObject({}),
  open: async () => ({ onStepEnd() { setTimeout(() => process.exit(3), 500) } }),
})
`

/** Agents and tools of a project. They act as their tasks say, and look for what they must not find. */
const own = `import { defineAgent, defineTool, z } from 'evsys/plugin'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
const attempt = (look) => { try { return look() } catch { return [] } }
export const Doer = defineAgent({
  kind: 'doer', summary: 'Does it.', params: z.strictObject({ how: z.string().default('does') }),
  async run({ task, folder, environment, policy, sampling, params, random, signal }) {
    const seen = attempt(() => fs.readdirSync(join(process.cwd(), 'tasks')))
    const trials = attempt(() => fs.readdirSync(join(process.cwd(), '.evsys/trials')))
    const messages = [{ role: 'user', content: task.instruction }]
    const { text } = await policy.generate({ messages, ...sampling, seed: random().int(1000) }, signal)
    if (params.how === 'breaks') throw new Error('oops')
    const tests = await environment.read('/tests/test.sh').then(() => 'tests!', () => 'no tests')
    // Bytes of this machine go in as this process reads them, and come out again.
    const [bundle, back] = ['bundle', 'back'].map((name) => join(tmpdir(), name + '-' + task.task_id.replaceAll('/', '-'))) // two agents run at a time
    fs.mkdirSync(join(bundle, 'deep'), { recursive: true })
    fs.writeFileSync(join(bundle, 'deep/run.sh'), '#!/bin/sh\\npwd > where.txt\\n', { mode: 0o755 })
    await environment.upload(bundle, '/opt/bundle')
    await environment.write('/opt/note.txt', new TextEncoder().encode('x'.repeat(700000)))
    const run = await environment.spawn({ argv: ['bash', '-c', 'read line; echo "$line"; /opt/bundle/deep/run.sh'] }, signal)
    await run.write('hello\\n')
    let said = ''
    for await (const part of run.output) said += part.text
    const { exitCode } = await run.exit
    const size = (await environment.read('/opt/note.txt')).length
    await environment.download('/opt/bundle', back)
    const isBack = fs.readFileSync(join(back, 'deep/run.sh'), 'utf8').includes('where.txt')
    const hidden = await environment.upload(join(process.cwd(), 'tasks'), '/opt/tasks')
      .then(async () => (await environment.exec({ argv: ['ls', '/opt/tasks'] }, signal)).stdout, () => '')
    // Whatever is wrong fails the attempt, and its reward is 0.
    const fine = [seen, trials].every((names) => names.length === 0) && tests === 'no tests' && said.trim() === 'hello'
    if (!fine || exitCode !== 0 || size !== 700000 || !isBack || hidden.trim() !== '' || folder !== undefined)
      throw new Error(JSON.stringify({ seen, trials, tests, said, exitCode, size, isBack, hidden, folder }))
    return { output: text }
  },
})
export const where = defineTool({
  name: 'where', description: 'Writes the working folder down.', params: z.strictObject({}),
  run: async (_, { environment, signal }) => {
    await environment.exec({ argv: ['bash', '-c', 'pwd > where.txt'] }, signal)
    return 'done'
  },
})
export default [Doer]
`

const idle = { kind: 'shell_loop', params: { max_reminders: 1 } }

function project(
  benchmarks: object | object[],
  run: object = {},
  callback: 'spy' | 'doomed' = 'spy',
): { dir: string; file: string } {
  const dir = folder()
  const experiment = {
    name: 'folders',
    metadata: {
      benchmark: [benchmarks].flat().map((each) => ({ ...common, ...each })),
    },
    callbacks: [{ kind: callback }],
    run: {
      ...twoByTwo.matrix.base_run,
      name: 'one',
      algorithm: { kind: 'sft', params: { max_steps: 4, learning_rate: 0.001 } },
      ...run,
    },
  }
  const file = experimentProject(dir, experiment, { 'spy.ts': spy, 'doomed.ts': doomed, 'own.ts': own })
  cpSync(join(fixtures, 'workdir'), join(dir, 'tasks/workdir'), { recursive: true })
  writeTaskFolder(join(dir, 'tasks/half'), {
    'task.toml': '[environment]\nnetwork_mode = "no-network"\n',
    'tests/test.sh': '#!/bin/sh\n# only-tests-know\necho 0.5 > /logs/verifier/reward.txt\n',
    'solution/solve.sh': '#!/bin/sh\n# only-tests-know\n',
  })
  return { dir, file }
}

sandbox.describe('a benchmark of task folders', () => {
  it(
    'is attempted in the loop and at its end, and its tests are out of reach of the recipe (AGT-13, EVL-7, BOX-404)',
    async () => {
      const { dir, file } = project(
        [
          { run_every: 1, agent: idle, models: ['mock:echo'] },
          { name: 'test', split: 'test' },
        ],
        {
          agent: idle,
          data: { source_kind: 'harbor', path: 'practice' },
          // Trains on answers that are not right, too.
          algorithm: {
            kind: 'rl',
            params: {
              max_steps: 1,
              num_samples: 1,
              batch_size: 1,
              max_tokens: 8,
              kl_coef: 0.1,
              constant_groups: 'keep',
            },
          },
        },
      )
      cpSync(join(fixtures, 'multi-step-simple'), join(dir, 'practice/notes'), { recursive: true })
      // Training that opens environments is not shut in: answers are hidden from it, and a run that requires more is refused.
      await expect(runExperiment(file, { projectDir: dir, seal: 'required' })).rejects.toMatchObject({
        code: 'SEAL_FAILED',
        message: expect.stringContaining('tasks in folders'),
      })
      const result = await runExperiment(file, { projectDir: dir })
      expect(result).toMatchObject({ status: 'completed', recipe_code: { sandbox: 'process', seal: 'namespace' } })
      await using store = await openStore(join(dir, '.evsys/evsys.db'))
      const [run] = await store.runs(result.experiment_id)
      const events = await store.events({ stream: `run:${run?.id}`, afterSeq: 0, limit: 1000 })
      const looks = events.flatMap((event) => (event.type === 'eval.finished' ? [event] : []))
      expect(looks.map(({ benchmark, step }) => [benchmark, step])).toEqual([
        ['val', 0],
        ['test', undefined],
      ])
      for (const look of looks) {
        expect(look).toMatchObject({
          metrics: { mean_reward: 0.25 },
          rewards: { half: [0.5], 'evsys/workdir': [0] },
          ...{ n_tasks: 2, n_infra_failed: 0 },
        })
      }
      // A model behind a client is led through the same tasks.
      expect(await baselinesOf(store, result.experiment_id)).toMatchObject([
        { model: 'mock:echo', metrics: { mean_reward: 0.25 }, n_infra_failed: 0, scorer_hash: looks[0]?.scorer_hash },
      ])
      const rollouts = events.flatMap((event) => (event.type === 'rollout.finished' ? [event] : []))
      expect(rollouts.map(({ task_id, reward }) => [task_id, reward])).toEqual([['notes', 0]])
      const spied = events.flatMap((event) =>
        event.type === 'log' && event.text.includes('spied ') ? [event.text] : [],
      )
      expect(spied.length).toBe(looks.length)
      for (const text of spied) expect(text).toContain('spied 0, in training data true')
      expect(readdirSync(join(dir, '.evsys/trials'))).toEqual([])
    },
    patience,
  )

  it(
    'is attempted by agents of the project, which run where their code may (AGT-15, AGT-17)',
    async () => {
      const { dir, file } = project([
        { name: 'own', agent: { kind: 'doer', params: {} } },
        { name: 'broken', agent: { kind: 'doer', params: { how: 'breaks' } } },
        {
          name: 'tools',
          agent: { kind: 'tool_loop', params: { tools: ['./src/plugins/own.ts#where'], max_turns: 2 } },
        },
      ])
      const result = await runExperiment(file, { projectDir: dir, seal: 'required' })
      expect(result).toMatchObject({ status: 'completed' })
      await using store = await openStore(join(dir, '.evsys/evsys.db'))
      const [run] = await store.runs(result.experiment_id)
      const events = await store.events({ stream: `run:${run?.id}`, afterSeq: 0, limit: 1000 })
      const looks = events.flatMap((event) => (event.type === 'eval.finished' ? [event] : []))
      expect(looks.map(({ benchmark, rewards, n_infra_failed }) => ({ benchmark, rewards, n_infra_failed }))).toEqual([
        { benchmark: 'own', rewards: { half: [0.5], 'evsys/workdir': [1] }, n_infra_failed: 0 },
        { benchmark: 'broken', rewards: { half: [0], 'evsys/workdir': [0] }, n_infra_failed: 0 },
        { benchmark: 'tools', rewards: { half: [0.5], 'evsys/workdir': [0] }, n_infra_failed: 0 },
      ])
      const kept = join(dir, '.evsys/runs', readdirSync(join(dir, '.evsys/runs'))[0] ?? '')
      const trials = readdirSync(kept, { recursive: true }).map(String)
      const of = (end: string) =>
        trials.filter((name) => name.includes('validation/trials/own-final') && name.endsWith(end))
      expect(of('result.json')).toHaveLength(2)
      expect(of('agent/trajectory.json')).toHaveLength(2)
      expect(trials.filter((name) => name.includes('trials') && name.includes('verifier'))).toEqual([])
      expect(readdirSync(join(dir, '.evsys/trials'))).toEqual([])
      // Other tests cannot look at what is gone.
      writeTaskFolder(join(dir, 'tasks/half'), { 'tests/test.sh': '#!/bin/sh\necho 1 > /logs/verifier/reward.txt\n' })
      const again = await rescoreExperiment(store, await store.findExperiment(result.experiment_id), {
        ...{ projectDir: dir, plugins: [], secretSource: { get: () => undefined }, keep: false, clock: systemClock },
        signal: new AbortController().signal,
      })
      expect(again).toHaveLength(3)
      for (const each of again)
        expect(each).toMatchObject({ status: 'no answers', message: expect.stringContaining('its tasks are folders') })
    },
    patience,
  )

  it(
    'ends with the worker that answers for the policy, and leaves nothing (AGT-13)',
    async () => {
      const { dir, file } = project({ run_every: 1, agent: { kind: 'nop', params: {} } }, {}, 'doomed')
      const tag = `endless-${basename(dir)}`
      // It would never end by itself.
      writeTaskFolder(join(dir, 'tasks/half'), {
        'task.toml': '[environment]\nnetwork_mode = "no-network"\n',
        'tests/test.sh': `#!/bin/sh\nexec tail -f /dev/null ${tag}\n`,
      })
      const result = await runExperiment(file, { projectDir: dir })
      expect(result).toMatchObject({ status: 'failed', arms: [{ error: { code: 'WORKER_DIED' } }] })
      expect(readdirSync(join(dir, '.evsys/trials'))).toEqual([])
      expect(processesWith(tag)).toEqual([])
    },
    patience,
  )

  it(
    'without an agent is refused before training (AGT-13)',
    async () => {
      const nobody = project({})
      await expect(runExperiment(nobody.file, { projectDir: nobody.dir })).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('no agent is named'),
      })
    },
    patience,
  )
})
