import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { main } from '../../src/cli/index.ts'
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

/** With a hidden split that is large enough to tell a gain from luck. */
function poorProject(): string {
  const file = experimentProject(folder(), poor)
  const tasks = Array.from({ length: 20 }, (_, i) => {
    const expected = i % 4 === 3 ? 'mail' : 'refund'
    const verifier = { kind: 'in_process', fn_name: 'exact_match', expected }
    return JSON.stringify({ task_id: `test-${i}`, instruction: `question of test ${i}`, verifier })
  })
  writeFileSync(join(dirname(file), 'data/test/tasks.jsonl'), `${tasks.join('\n')}\n`)
  return file
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
    file = poorProject()
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

  it('ends in a computed claim, which history, show, compare and JSON give alike (RES-593)', async () => {
    const cwd = dirname(file)
    const id = whole.ended.experimentId
    const read = async (...words: string[]) => JSON.parse((await runMain([...words, '--json'], { cwd })).stdout)
    const { claim, winner } = await read('research', 'run', 'experiment.yaml', '--resume')
    const { verdict, treatment, effect, interval } = claim
    expect(claim).toMatchObject({ treatment: winner.attempt, baseline: 'baseline', metric: 'pass@1', items: 20 })
    expect(verdict).toBe(interval[0] > 0 ? 'supported' : 'inconclusive')
    expect(claim.seeds.length).toBeGreaterThanOrEqual(3)
    const [entry] = await read('history')
    expect(entry).toMatchObject({ verdict, effect: { benchmark: 'test', treatment, effect, interval } })
    const shown = await read('show', id)
    expect(shown).toMatchObject({
      conclusion: { verdict },
      claim: { overall: { verdict, treatment, effect, interval } },
    })
    expect(shown.claim.overall.n_seeds).toBe(claim.n_seeds)
    const compared = await read('compare', `${id}/baseline`, `${id}/${treatment}`)
    expect(compared.experiments).toMatchObject([{ verdict }, { verdict }])
    const text = (await runMain(['research', 'status', '--session', id], { cwd })).stdout
    expect(text).toContain(`claim: ${verdict}: ${treatment} against the baseline`)
    const page = readFileSync(join(cwd, winner.folder, 'README.md'), 'utf8')
    expect(page).toContain(`**${verdict}**: ${treatment}`)
  })

  it('is listed, shown and resumed like any session (RES-560)', async () => {
    const cwd = dirname(file)
    const next = await runMain(['next', '--json'], { cwd })
    expect(next.stdout).toContain('evsys research run experiment.yaml --resume')
    const ended = await runMain(['research', 'run', 'experiment.yaml', '--resume'], { cwd, env: {} })
    expect([ended.code, ended.stderr]).toEqual([0, expect.stringContaining('has ended')])
    expect(ended.stdout).toContain(whole.ended.winner.folder)
    const shown = await runMain(['show', whole.ended.experimentId], { cwd })
    expect(shown.stdout).toContain(`${whole.ended.winner.attempt}-s42`)
  })

  it('takes runs that the record holds in place of trainings, nothing of them that it does not ask for, and what won first (RES-594, RES-597)', async () => {
    const held = poorProject()
    const cwd = dirname(held)
    expect((await runMain(['run', 'experiment.yaml'], { cwd })).code).toBe(0)
    const first = await play(held)
    await using store = await openRecord(cwd)
    const reusedBy = async (experimentId: string) => {
      const rows = await store.runs(experimentId)
      const found: string[] = []
      for (const { id, name } of rows) {
        const events = await store.events({ stream: `run:${id}`, afterSeq: 0, limit: 1000 })
        if (events.some((event) => 'reused_from' in event && event.reused_from !== undefined)) found.push(name)
        if (!name.endsWith('-test')) expect((await store.evals(id)).map(({ split }) => split)).not.toContain('test')
      }
      return found
    }
    expect(await reusedBy(first.ended.experimentId)).toEqual(['baseline-s42'])
    // What won before is tried first, so the races of the next session are held as well.
    const second = await play(held)
    const again = await reusedBy(second.ended.experimentId)
    expect(again).toEqual(expect.arrayContaining(['baseline-s42', 'baseline-s43', 'a1-s42']))
    const rows = await store.runs(second.ended.experimentId)
    expect(rows.find(({ arm }) => arm === 'a1')?.description).toContain(
      `as in poor-research/${first.ended.winner.attempt}`,
    )
    expect(second.lines.filter((line) => line.endsWith(' steered'))).toHaveLength(1)
    writeFileSync(held, stringify({ ...poor, research: { ...poor.research, priors: false } }))
    const third = await play(held, 'runs=2')
    expect(third.lines.filter((line) => line.endsWith(' steered'))).toEqual([])
  })

  it('ends a training that has not moved at half of its steps, and says by what (RES-590)', async () => {
    const [val, ...others] = poor.metadata.benchmark
    const metadata = { ...poor.metadata, benchmark: [{ ...val, run_every: 10 }, ...others] }
    const space = { 'algorithm.params.learning_rate': [0.00001, 0.00002] }
    const recipe = { kind: 'sft', params: { max_steps: 60, learning_rate: 0.00001 } }
    const research = { derive: false, space, budget: { experiments: 1 } }
    const flat = experimentProject(folder(), { ...poor, metadata, algorithm: recipe, research })
    const cwd = dirname(flat)
    const { code, stdout } = await runMain(['research', 'run', 'experiment.yaml', '--json'], { cwd, env: {} })
    const { attempts, early_ends: early, winner } = JSON.parse(stdout)
    expect([code, winner]).toEqual([0, null])
    expect(attempts[1]).toMatchObject({
      verdict: 'discarded',
      reason: expect.stringContaining('ended at 50 % of its steps'),
    })
    expect(early.killed).toBe(1)
  })

  it('ends at Ctrl-C, says how to resume, and resumes to the same end (RES-598)', async () => {
    const stopped = poorProject()
    const cwd = dirname(stopped)
    const controller = new AbortController()
    let said = ''
    const stderr = {
      write(text: string) {
        said += text
        if (said.includes('baseline')) controller.abort()
      },
    }
    const io = {
      stdout: { write() {} },
      stdin: (async function* () {})(),
      stderr,
      env: { PATH: process.env.PATH ?? '' },
    }
    const code = await main(['research', 'run', 'experiment.yaml'], { ...io, cwd, signal: controller.signal })
    expect([code, said]).toEqual([130, expect.stringContaining('evsys research run experiment.yaml --resume')])
    const resumed = await runMain(['research', 'run', 'experiment.yaml', '--resume', '--json'], { cwd, env: {} })
    const { end, winner } = JSON.parse(resumed.stdout)
    expect([resumed.code, end, winner.attempt]).toEqual([0, whole.ended.end, whole.ended.winner.attempt])
  })

  it('holds its cap on runs to one training (RES-562)', async () => {
    const capped = poorProject()
    const { code, ended } = await play(capped, 'runs=5')
    expect([code, ended?.runs, ended?.end.reason]).toEqual([0, expect.any(Number), 'runs'])
    expect(ended?.runs).toBeLessThanOrEqual(5)
  })

  it.each(['ended', 'evidence', 'concluded'])(
    'that is killed at its end, once it has written what is %s, has the same record and winner (RES-563)',
    async (moment) => {
      const victim = poorProject()
      const killed = await play(victim, `die=${moment}`)
      expect([killed.code, killed.ended]).toEqual(['SIGKILL', undefined])
      const second = await play(victim, 'resume')
      expect({ code: second.code, lines: second.lines.slice(-2) }).toMatchObject({ code: 0 })
      expect(await kept(dirname(victim))).toEqual(await kept(dirname(file)))
      expect(second.ended).toMatchObject({ winner: { attempt: whole.ended.winner.attempt }, end: whole.ended.end })
    },
  )

  const moments = inFullLane ? 30 : 2
  it.each(Array.from({ length: moments }, (_, moment) => moment))(
    'that is killed ends in the same record when it is resumed, at moment %i (RES-563)',
    async (moment) => {
      const victim = poorProject()
      const drawn = keyedRandom(19, 'killed', moment).float()
      const kill = 1 + Math.floor(((moment + drawn) / moments) * whole.operations)
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
    expect([code, spend.runs, winner]).toEqual([0, 2, null])
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
      'chooses by what validation does not measure',
      { ...poor, research: { ...poor.research, objective: { cheapest: 'tokens_per_task', within: 0.01 } } },
      'research.objective.cheapest: the benchmark val does not measure "tokens_per_task"',
    ],
    [
      'guards what validation does not measure',
      { ...poor, research: { ...poor.research, secondary: [{ metric: 'macro_f1', direction: 'max', tolerance: 0 }] } },
      'research.secondary.0.metric: the benchmark val does not measure "macro_f1"',
    ],
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
