import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { readJobFile } from './read-job-file.ts'

const folder = temporaryFolders()

async function read(text: string) {
  const dir = folder()
  writeFileSync(join(dir, 'job.yaml'), text)
  return readJobFile(join(dir, 'job.yaml'), '/work')
}

describe('a job file of Harbor', () => {
  it('is read where its fields are ours, the deprecated wrapper included (HAR-50, HAR-83)', async () => {
    const job = await read(`
job_name: first
jobs_dir: out
n_attempts: 3
timeout_multiplier: 2
orchestrator: { type: local, n_concurrent_trials: 2, retry: { max_retries: 4 } }
agents: [{ name: terminus-2, model_name: anthropic/claude-x, kwargs: { max_turns: 9 }, override_timeout_sec: 60 }]
environment: { type: docker, kwargs: { program: podman }, force_build: true }
datasets: [{ path: tasks, n_tasks: 5 }]
`)
    expect(job).toMatchObject({
      ...{ path: '/work/tasks', limit: 5, numSamples: 3, concurrent: 2, output: '/work/out/first' },
      agent: { kind: 'terminal', params: { max_turns: 9 } },
      model: 'anthropic:claude-x',
      environment: { kind: 'docker', params: { program: 'podman' } },
      job: { timeout_multiplier: 2, retry: { max_retries: 4 } },
      jobAgent: { override_timeout_sec: 60 },
    })
  })

  it('has the defaults of Harbor, and agents in Python by their path (HAR-83)', async () => {
    expect(await read('tasks: [{ path: /t }]\n')).toMatchObject({
      ...{ path: '/t', agent: { kind: 'oracle', params: {} }, environment: { kind: 'auto' } },
      ...{ numSamples: 1, concurrent: 4 },
    })
    const own = await read('tasks: [{ path: t }]\nagents: [{ import_path: "a.b:C", kwargs: { x: 1 } }]\n')
    expect(own.agent).toEqual({ kind: 'python', params: { import_path: 'a.b:C', kwargs: { x: 1 } } })
  })

  it.each([
    ['several agents', 'tasks: [{ path: t }]\nagents: [{ name: nop }, { name: oracle }]\n', 'one agent'],
    ['a dataset of a registry', 'datasets: [{ name: terminal-bench@2.0 }]\n', 'one path of this machine'],
    ['nothing to do', 'n_attempts: 1\n', 'one path of this machine'],
    ['names to pick', 'datasets: [{ path: t, task_names: ["a*"] }]\n', 'task_names is not read'],
    ['a simulated user', 'tasks: [{ path: t }]\nuser_agent: { name: x }\n', 'user_agent'],
    ['a wrong type', 'tasks: [{ path: t }]\nn_attempts: many\n', 'n_attempts'],
    ['a list', '- a\n', 'no mapping'],
  ])('is refused for %s (HAR-83)', async (_what, text, words) => {
    await expect(read(text)).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(words) })
  })

  it('is told where it is no YAML (HAR-83)', async () => {
    await expect(read('a: [')).rejects.toMatchObject({ code: 'CONFIG_SYNTAX' })
  })
})
