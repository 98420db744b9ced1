// Task folders by way of the command line, in the real sandbox.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { sandbox } from '../rollout/needs-sandbox.ts'
import { writeTaskFolder } from '../rollout/task-folder.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { runMain } from './run-main.ts'

const folder = temporaryFolders()
const fixtures = fileURLToPath(new URL('../fixtures/harbor-tasks', import.meta.url))

function project(): string {
  const dir = folder()
  mkdirSync(join(dir, '.evsys'))
  cpSync(join(fixtures, 'workdir'), join(dir, 'tasks', 'workdir'), { recursive: true })
  writeTaskFolder(join(dir, 'tasks', 'never'), {
    'task.toml': '[environment]\nnetwork_mode = "no-network"\n',
    'tests/test.sh': '#!/bin/bash\necho 0 > /logs/verifier/reward.txt\n',
    'solution/solve.sh': '#!/bin/bash\ntrue\n',
  })
  return dir
}

async function json(dir: string, ...args: string[]) {
  const { stdout, stderr, code } = await runMain(['benchmark', 'run', ...args, '--json'], { cwd: dir })
  return { code, stderr, document: JSON.parse(stdout) }
}

sandbox.describe('benchmark run on task folders', () => {
  it('scores an agent with intervals, and goes on in the same folder (HAR-56, EVL-9)', async () => {
    const dir = project()
    const args = ['--path', 'tasks', '--agent', 'oracle', '--output', 'job']
    const first = await json(dir, ...args)
    expect(first).toMatchObject({
      code: 0,
      document: {
        agent: 'oracle',
        model: null,
        n_tasks: 2,
        n_kept: 0,
        metrics: { mean_reward: 0.5, pass_rate: 0.5 },
        intervals: { pass_rate: [expect.any(Number), expect.any(Number)] },
        n_infra_failed: 0,
      },
    })
    expect(first.document.trials.map(({ task, reward }: { task: string; reward: number }) => [task, reward])).toEqual([
      ['never', 0],
      ['evsys/workdir', 1],
    ])
    const again = await json(dir, ...args)
    expect(again.document).toMatchObject({ n_kept: 2, job_id: first.document.job_id, metrics: first.document.metrics })
    const changed = await json(dir, ...args, '--num-samples', '2')
    expect(changed).toMatchObject({ code: 2, document: { errors: [{ code: 'CONFIG_CONFLICT' }] } })
    const text = await runMain(['benchmark', 'run', ...args], { cwd: dir })
    expect(text.stdout).toMatch(
      /oracle on tasks: 2 tasks, 2 trials, 2 of them from before[\s\S]*pass_rate +0\.5[\s\S]*kept in job/,
    )
  }, 120_000)

  it('runs a job file of Harbor (HAR-83)', async () => {
    const dir = project()
    writeFileSync(
      join(dir, 'job.yaml'),
      'job_name: first\nn_attempts: 2\nagents: [{ name: oracle }]\ndatasets: [{ path: tasks }]\n',
    )
    const { code, document } = await json(dir, '--path', 'job.yaml')
    expect({ code, document }).toMatchObject({
      code: 0,
      document: {
        agent: 'oracle',
        folder: join(dir, 'jobs/first'),
        n_tasks: 2,
        n_trials: 4,
        metrics: { mean_reward: 0.5 },
      },
    })
    const other = await json(dir, '--path', 'job.yaml', '--agent', 'nop', '--output', 'second')
    expect(other.document).toMatchObject({ agent: 'nop', n_trials: 4, metrics: { mean_reward: 0 } })
  }, 120_000)

  it('leads a model through a task by an agent, and keeps its trajectory (HAR-38)', async () => {
    const dir = project()
    const task = join('tasks', 'never')
    const { code, document } = await json(dir, '--path', task, '--agent', 'chat', '--model', 'mock:echo')
    expect({ code, metrics: document.metrics }).toEqual({ code: 0, metrics: { mean_reward: 0, pass_rate: 0 } })
    expect(document.folder).toContain(join('.evsys', 'jobs'))
    const trial = join(document.folder, document.trials[0].trial)
    expect(JSON.parse(readFileSync(join(trial, 'agent/trajectory.json'), 'utf8'))).toMatchObject({
      schema_version: 'ATIF-v1.7',
    })
    expect(JSON.parse(readFileSync(join(trial, 'result.json'), 'utf8'))).toMatchObject({
      agent_info: { name: 'chat', model_info: { name: 'mock:echo' } },
      evsys: { n_turns: 1 },
    })
  }, 120_000)

  it('tells wrong input before anything starts (HAR-53, USE-171)', async () => {
    const dir = project()
    const wrong = async (...args: string[]) => {
      const { code, document } = await json(dir, '--path', 'tasks', ...args)
      return [code, document.errors?.[0]?.code]
    }
    expect(await wrong()).toEqual([2, 'CLI_USAGE'])
    expect(await wrong('--agent', 'chat')).toEqual([2, 'CLI_USAGE'])
    expect(await wrong('--agent', 'orakel')).toEqual([2, 'PLUGIN_UNKNOWN'])
    expect(await wrong('--agent', 'oracle', '--agent-params', '[')).toEqual([2, 'CLI_USAGE'])
    expect(await wrong('--agent', 'oracle', '--agent-params', '{"n": 1}')).toEqual([2, 'PLUGIN_PARAMS'])
    expect(await wrong('--agent', 'oracle', '--environment', 'locale')).toEqual([2, 'PLUGIN_UNKNOWN'])
    expect(await wrong('--agent', 'oracle', '--metric', 'accuracie')).toEqual([2, 'PLUGIN_UNKNOWN'])
    expect(await wrong('--agent', 'oracle', '--metric', 'pass@3')).toEqual([2, 'CONFIG_INVALID'])
    expect(existsSync(join(dir, '.evsys', 'jobs')) ? readdirSync(join(dir, '.evsys', 'jobs')) : []).toEqual([])
    mkdirSync(join(dir, 'bench'))
    writeFileSync(join(dir, 'bench', 'tasks.jsonl'), '')
    const misplaced = await json(dir, '--path', 'bench', '--model', 'mock:echo', '--agent', 'chat')
    expect([misplaced.code, misplaced.document.errors[0].code]).toEqual([2, 'CLI_USAGE'])
  }, 120_000)

  it('an environment that cannot hold the tasks is a failure of infrastructure, told with its reason (HAR-53)', async () => {
    const dir = folder()
    writeTaskFolder(join(dir, 'tasks', 'image'), {
      'environment/Dockerfile': 'FROM acme/special:1\n',
      'tests/test.sh': '#!/bin/bash\n',
      'solution/solve.sh': '#!/bin/bash\n',
    })
    const { code, document } = await json(
      dir,
      '--path',
      'tasks',
      '--agent',
      'oracle',
      '--environment',
      'local',
      '--retries',
      '0',
    )
    expect({ code, open: document.n_infra_failed }).toEqual({ code: 1, open: 1 })
    expect(document.failures[0].message).toContain('acme/special')
  }, 120_000)
})
