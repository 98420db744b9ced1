// Recipe code against the seal: it looks for expected answers in files, environments, memory and network, and for the verifier.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runExperiment } from '../../src/lab/index.ts'
import { openStore } from '../../src/store/index.ts'
import { needs } from '../needs.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { experimentProject, twoByTwo } from './experiment-project.ts'
import { channels, fairVerifier, spy } from './spying-recipe.ts'

const folder = temporaryFolders()

const namespaces = needs('user namespaces (unshare, mount)', () => {
  execFileSync('unshare', ['--user', '--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'evsys', '/tmp'])
  return true
})

const [val] = twoByTwo.metadata.benchmark
const experiment = {
  name: 'spy',
  metadata: { benchmark: [{ ...val, run_every: 2, num_samples: 1 }] },
  callbacks: [{ kind: 'spy' }],
  run: {
    ...twoByTwo.matrix.base_run,
    name: 'one',
    algorithm: { kind: 'sft', params: { max_steps: 4, learning_rate: 0.001 } },
  },
}

/** Runs the spying recipe; what its channels gave, all looks together, and the scores that it got. */
async function spyOn(seal: 'required' | 'off') {
  const dir = folder()
  const file = experimentProject(dir, experiment, { 'fair.ts': fairVerifier, 'spy.ts': spy })
  const tasks = Array.from({ length: 4 }, (_, i) => ({
    task_id: `t${i}`,
    instruction: `riddle ${i}`,
    verifier: { kind: 'in_process', fn_name: 'fair', expected: `sealed-answer-${(0xabcdef00 + i).toString(16)}` },
  }))
  writeFileSync(join(dir, 'data/val/tasks.jsonl'), tasks.map((task) => `${JSON.stringify(task)}\n`).join(''))
  // As a checkout would have it, uncompressed.
  execFileSync('git', ['init', '-q', dir])
  execFileSync('git', ['-C', dir, '-c', 'core.compression=0', 'add', 'data'])
  const result = await runExperiment(file, { projectDir: dir, seal })
  await using store = await openStore(join(dir, '.evsys/evsys.db'))
  const [run] = await store.runs(result.experiment_id)
  const events = await store.events({ stream: `run:${run?.id}`, afterSeq: 0, limit: 1000 })
  const looks = events.flatMap((event): Record<string, boolean>[] =>
    event.type === 'log' && event.text.includes('spied ')
      ? [JSON.parse(event.text.slice(event.text.indexOf('spied ') + 'spied '.length))]
      : [],
  )
  expect(looks.length, JSON.stringify(events.slice(-3))).toBeGreaterThan(1)
  const found = channels.filter((channel) => looks.some((look) => look[channel] === true))
  expect(Object.keys(looks[0] ?? {}).sort()).toEqual([...channels].sort())
  const evals = run === undefined ? [] : await store.evals(run.id)
  const { provenance } = (await store.experiment(result.experiment_id)) ?? {}
  return { dir, found, evals, provenance, status: result.status }
}

describe('expected answers', { timeout: 240_000 }, () => {
  namespaces.it(
    'are nowhere that recipe code can look, and its verifier is not the one that judges (EVL-7)',
    async () => {
      const { dir, found, evals, provenance, status } = await spyOn('required')
      expect(status).toBe('completed')
      expect(found).toEqual([])
      expect(provenance).toMatchObject({ seal: 'namespace', sandbox: expect.stringMatching(/^(?:bubblewrap|chroot)$/) })
      // The file of the verifier was to be changed on disk, and cannot be: the worker reads the code of the project.
      expect(readFileSync(join(dir, 'src/plugins/fair.ts'), 'utf8')).toBe(fairVerifier)
      expect(evals.map(({ metrics }) => metrics['pass@1'])).toEqual([0, 0])
      expect(new Set(evals.map(({ scorerHash }) => scorerHash)).size).toBe(1)
    },
  )

  it('can be found by the same recipe where nothing hides them, and the record says so (EVL-7)', async () => {
    const { found, evals, provenance } = await spyOn('off')
    expect(found).toContain('files of the project')
    expect(found).toContain('history')
    expect(found).not.toContain('environment')
    expect(found).not.toContain('what it is handed')
    expect(provenance).toMatchObject({ seal: 'none' })
    expect(evals.map(({ metrics }) => metrics['pass@1'])).toEqual([0, 0])
  })
})
