import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { keyedRandom } from '../../src/kernel/index.ts'
import { openStore } from '../../src/store/index.ts'
import { runMain } from '../cli/run-main.ts'
import { experimentProject, twoByTwo } from '../lab/experiment-project.ts'
import { inFullLane } from '../scale.ts'
import { startChild } from '../start-child.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()
const slow = { timeout: 1_800_000 }

/** A rate at which nothing is learnt: the search has to find another. */
const poor = {
  name: 'poor',
  metadata: {
    objective: { metric: 'val.pass@1' },
    benchmark: twoByTwo.metadata.benchmark.map(({ run_every: _, ...each }) => ({ ...each, temperature: 0 })),
  },
  data: twoByTwo.matrix.base_run.data,
  model: { name: 'mock' },
  algorithm: { kind: 'sft', params: { max_steps: 6, learning_rate: 0.0001 } },
  backend: { kind: 'mock' },
  research: {
    derive: false,
    space: { 'algorithm.params.learning_rate': [0.0001, 0.001, 0.1] },
    budget: { experiments: 2 },
  },
}

const openRecord = (dir: string) => openStore(join(dir, '.evsys', 'evsys.db'))

async function play(file: string, ...flags: string[]) {
  await using child = startChild('research-experiment', [file, ...flags], { detached: true })
  const lines: string[] = []
  for (let line = await child.line().catch(() => undefined); line !== undefined; ) {
    lines.push(line)
    line = await child.line().catch(() => undefined)
  }
  const operations = Number(lines.at(-1)?.split(' ')[0] ?? 0)
  const ended = lines.find((line) => line.includes(' ended '))?.split(' ended ')[1]
  return { code: await child.exit(), lines, operations, ended: ended === undefined ? undefined : JSON.parse(ended) }
}

async function kept(dir: string) {
  await using store = await openRecord(dir)
  const [experiment] = await store.experiments({ limit: 10 })
  return experiment === undefined ? undefined : await store.canonicalRecord(experiment.id)
}

describe('research over an experiment file', slow, () => {
  let file = ''
  let whole: Awaited<ReturnType<typeof play>>

  beforeAll(async () => {
    file = experimentProject(folder(), poor)
    whole = await play(file)
    expect(whole).toMatchObject({ code: 0, ended: { end: { reason: 'experiments' } } })
  }, slow.timeout)

  it('trains candidates as runs of the record, and scores the hidden split in confirmation alone (RES-560)', async () => {
    await using store = await openRecord(dirname(file))
    const experiment = await store.findExperiment(whole.ended.experimentId)
    expect(experiment).toMatchObject({ name: 'poor-research', status: 'completed', tags: ['research'] })
    const rows = await store.runs(experiment.id)
    expect(rows.map(({ kind, status }) => `${kind} ${status}`)).toEqual(rows.map(() => 'training completed'))
    expect(rows).toHaveLength(whole.ended.runs)
    for (const { id, name } of rows) {
      const splits = [...new Set((await store.evals(id)).map(({ split }) => split))].sort()
      expect([name, splits]).toEqual([name, name.endsWith('-test') ? ['test', 'val'] : ['val']])
    }
    const winner = rows.find(({ arm }) => arm === whole.ended.winner.attempt)
    expect(winner).toMatchObject({ kept: true, mode: 'improve', diff: expect.stringContaining('learning_rate: 0.1') })
    expect(rows.find(({ id }) => id === winner?.parentRun)?.arm).toBe('baseline')
  })

  it('ends in the folder of the winner, which another project reproduces to the digit (RES-561)', async () => {
    const { folder: place, reason } = whole.ended.winner
    expect(reason).toContain('mock')
    const files = readdirSync(join(dirname(file), place)).sort()
    expect(files).toEqual(['README.md', 'config.yaml', 'expected.json'])
    const project = folder()
    mkdirSync(join(project, '.evsys'))
    for (const part of ['data', place]) cpSync(join(dirname(file), part), join(project, part), { recursive: true })
    const { code, stdout, stderr } = await runMain(['run', join(place, 'config.yaml'), '--json'], { cwd: project })
    expect([code, stderr]).toEqual([0, expect.any(String)])
    const expected = JSON.parse(readFileSync(join(project, place, 'expected.json'), 'utf8'))
    const { arms } = JSON.parse(stdout)
    expect(arms).toMatchObject([{ status: 'completed', score: { mean: expected['val.pass@1'] } }])
    expect(expected['val.pass@1']).toBeGreaterThan(0.5)
  })

  it('is listed, shown and resumed like any session (RES-560)', async () => {
    const cwd = dirname(file)
    const next = await runMain(['next', '--json'], { cwd })
    expect(next.stdout).toContain('evsys research run experiment.yaml --resume')
    const ended = await runMain(['research', 'run', 'experiment.yaml', '--resume'], { cwd, env: {} })
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('has ended')])
    const shown = await runMain(['show', whole.ended.experimentId], { cwd })
    expect(shown.stdout).toContain(`${whole.ended.winner.attempt}-s42`)
  })

  it('holds its cap on runs to one training (RES-562)', async () => {
    const capped = experimentProject(folder(), poor)
    const { code, ended } = await play(capped, 'runs=5')
    expect([code, ended?.runs, ended?.end.reason]).toEqual([0, expect.any(Number), 'runs'])
    expect(ended?.runs).toBeLessThanOrEqual(5)
  })

  const moments = inFullLane ? 30 : 2
  it.each(Array.from({ length: moments }, (_, moment) => moment))(
    'that is killed ends in the same record when it is resumed, at moment %i (RES-563)',
    async (moment) => {
      const victim = experimentProject(folder(), poor)
      const drawn = keyedRandom(19, 'killed', moment).float()
      // The full lane reaches the last moments too, between the end of the session and the conclusion of its experiment.
      const reached = inFullLane ? 1 : 0.8
      const kill = 1 + Math.floor(((moment + drawn) / moments) * reached * whole.operations)
      const killed = await play(victim, `kill=${kill}`)
      const isBegun = killed.lines.some((line) => line.endsWith('session.begun'))
      const isDone = killed.ended !== undefined
      const second = isDone ? killed : await play(victim, ...(isBegun ? ['resume'] : []))
      expect({ kill, moment, code: isDone ? 0 : second.code, lines: second.lines.slice(-2) }).toMatchObject({ code: 0 })
      expect(await kept(dirname(victim))).toEqual(await kept(dirname(file)))
      expect(existsSync(join(dirname(victim), second.ended.winner.folder, 'config.yaml'))).toBe(true)
      rmSync(dirname(victim), { recursive: true })
    },
  )
})

const cheat = `import { defineProposer } from 'evsys/plugin'
const cheats = [['data/val', 'data/train'], ['pass@1', 'pass@2'], ['split: val', 'split: test']]
export default [defineProposer({ kind: 'cheat', summary: 'Changes what judges it.', async propose({ files, call }) {
  const text = files['config.yaml']
  const [from, to] = cheats[Number(call.slice(1)) % cheats.length]
  const change = { kind: 'files', files: { 'config.yaml': text.replace(from, to) } }
  return { ideas: [{ title: from, hypothesis: '', family: 'cheat', category: 'hyperparameter', cost: 'same', parents: [], change }] }
} })]
`

describe('a proposer that changes what judges its candidates', slow, () => {
  it('has each of them refused before it trains (RES-565)', async () => {
    const own = { ...poor.research, budget: { experiments: 3 }, proposer: { kind: 'cheat' } }
    const cwd = dirname(experimentProject(folder(), { ...poor, research: own }, { 'cheat.ts': cheat }))
    const { code, stdout } = await runMain(['--json', 'research', 'run', 'experiment.yaml'], { cwd, env: {} })
    const { attempts, spend, winner } = JSON.parse(stdout)
    expect([code, spend.runs, winner]).toEqual([0, 3, null])
    const tried: { verdict: string; failure: { class: string } }[] = attempts.slice(1)
    expect(tried.length).toBeGreaterThan(0)
    expect(tried).toMatchObject(tried.map(() => ({ verdict: 'failed', failure: { class: 'tamper' } })))
  })
})

describe('an experiment file that research cannot begin with', slow, () => {
  it.each([
    [
      'has code in scope that lies outside',
      { ...poor, research: { ...poor.research, scope: ['../a.ts'] } },
      'research.scope',
    ],
    ['has no space', { ...poor, research: { derive: false } }, 'nothing that a candidate could change'],
    [
      'has no objective on validation',
      { ...poor, metadata: { benchmark: poor.metadata.benchmark.slice(1) } },
      'needs an objective',
    ],
    [
      'has several arms that were never run',
      { ...twoByTwo, metadata: { ...twoByTwo.metadata, claim: undefined }, research: poor.research },
      'has 2 arms',
    ],
  ])('is refused with a way out where it %s (RES-564)', async (_, experiment, message) => {
    const cwd = dirname(experimentProject(folder(), experiment))
    const { code, stdout } = await runMain(['--json', 'research', 'run', 'experiment.yaml'], { cwd, env: {} })
    const { errors } = JSON.parse(stdout)
    expect([code, errors]).toMatchObject([2, [{ message: expect.stringContaining(message), fix: expect.any(String) }]])
  })
})
