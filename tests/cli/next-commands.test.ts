// Each command that `next` proposes is typed as it stands: it runs, does what its step says, and its step is gone.
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { commandWords } from '../../src/cli/commands/history.ts'
import { main } from '../../src/cli/index.ts'
import { ExperimentResult } from '../../src/contracts/index.ts'
import { shellWord } from '../../src/kernel/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { runMain } from './run-main.ts'
import { type SmallLabOptions, writeSmallLab } from './small-lab.ts'

const folder = temporaryFolders()
const slow = { timeout: 240_000 }

const Steps = z.array(z.looseObject({ kind: z.string(), name: z.string(), command: z.string().optional() }))

async function nextSteps(cwd: string) {
  const { stdout } = await runMain(['next', '--json'], { cwd })
  return Steps.parse(JSON.parse(stdout)).map(({ kind, command }) => ({ kind, command }))
}

/** What a person types, without the name of the program. */
function wordsOf(command: string): string[] {
  const [program, ...words] = command.split(' ')
  expect(program).toBe('evsys')
  return words
}

async function typed(command: string, cwd: string): Promise<ExperimentResult> {
  const { stdout, stderr } = await runMain([...wordsOf(command), '--json'], { cwd })
  return ExperimentResult.parse(JSON.parse(stdout || '{}'), { error: () => stderr })
}

/** Types a command, and Ctrl-C when it says `moment`. */
async function interrupted(words: readonly string[], moment: RegExp, cwd: string): Promise<void> {
  const controller = new AbortController()
  const stop = (text: string) => moment.test(text) && controller.abort()
  const silent = { stdout: { write: () => {} }, stdin: (async function* () {})() }
  const env = { PATH: process.env.PATH ?? '' }
  const code = await main(words, { ...silent, stderr: { write: stop }, cwd, env, signal: controller.signal })
  expect(code).toBe(130)
}

function lab(options: SmallLabOptions): string {
  const cwd = folder()
  writeSmallLab(cwd, options)
  return cwd
}

const equal = { 'algorithm.params.learning_rate': [0.001, 0.0011] }
const objective = { metric: 'val.pass@1', direction: 'max' }
const benchmark = [{ name: 'val', path: 'val', split: 'val', run_every: 4, metrics: ['pass@1'], max_tokens: 8 }]

describe('a command that `next` proposes', () => {
  it('runs the seeds that are missing to decide a claim (USE-322)', slow, async () => {
    const cwd = lab({ file: { n_repeats: 1 } })
    await runMain(['run', 'config.yaml', '--set', 'metadata.claim.min_effect=0.15'], { cwd })
    const [decide, ...others] = (await nextSteps(cwd)).filter(({ command }) => command !== undefined)
    expect({ kind: decide?.kind, others }).toEqual({ kind: 'decide', others: [] })
    const { arms } = await typed(decide?.command ?? '', cwd)
    expect(decide?.command).toContain(`n_repeats=${arms?.[0]?.seeds.length}`)
    expect((await nextSteps(cwd)).map(({ command }) => command)).not.toContain(decide?.command)
  })

  it('confirms the best of several on seeds that it has not had (USE-322)', slow, async () => {
    const cwd = lab({ file: { n_repeats: 1, metadata: { objective, benchmark } }, axes: equal })
    const { stdout } = await runMain(['run', 'config.yaml', '--json'], { cwd })
    const before = ExperimentResult.parse(JSON.parse(stdout))
    const confirm = (await nextSteps(cwd)).find(({ kind }) => kind === 'confirm')
    const after = await typed(confirm?.command ?? '', cwd)
    const seedsOf = ({ runs = [] }: ExperimentResult) => new Set(runs.map(({ seed }) => seed))
    expect(seedsOf(after).size).toBe(3)
    expect([...seedsOf(after)].filter((seed) => seedsOf(before).has(seed))).toEqual([])
    expect((await nextSteps(cwd)).map(({ command }) => command)).not.toContain(confirm?.command)
  })

  it('resumes a session that was cut short, up to its cap (USE-322)', slow, async () => {
    const cwd = folder()
    await interrupted(['research', 'run', '--task', 'table-search', '--max-experiments', '12'], /^ +2 {2}/m, cwd)
    const [resume] = await nextSteps(cwd)
    expect(resume).toMatchObject({ kind: 'resume', command: expect.stringContaining('--resume') })
    expect((await runMain(wordsOf(resume?.command ?? ''), { cwd })).code).toBe(0)
    const { stdout } = await runMain(['research', 'status', '--json'], { cwd })
    expect(JSON.parse(stdout)).toMatchObject({ n_experiments: 12 })
    expect((await nextSteps(cwd)).map(({ command }) => command)).not.toContain(resume?.command)
  })

  it('goes on with a session that ended at its cap, and tries what a person wants tried (USE-322)', slow, async () => {
    const cwd = folder()
    const Status = z.looseObject({ n_experiments: z.number(), backlog: z.array(z.looseObject({ text: z.string() })) })
    const status = async () =>
      Status.parse(JSON.parse((await runMain(['research', 'status', '--json'], { cwd })).stdout))
    await runMain(['research', 'run', '--task', 'table-search', '--max-experiments', '3'], { cwd })
    const [more, ...others] = await nextSteps(cwd)
    expect({ kind: more?.kind, others: others.filter(({ command }) => command !== undefined) }).toEqual({
      kind: 'resume',
      others: [],
    })
    expect((await runMain(wordsOf(more?.command ?? ''), { cwd })).code).toBe(0)
    expect((await status()).n_experiments).toBe(8)
    expect((await nextSteps(cwd)).map(({ command }) => command)).not.toContain(more?.command)

    // Words alone are for a proposer that reads them; the optimizer does not.
    await runMain(['research', 'steer', 'add-idea', 'look at the corners'], { cwd })
    const words = (await nextSteps(cwd)).find(({ kind }) => kind === 'idea')
    expect(words).toEqual({ kind: 'idea', command: undefined })
    const idea = { title: 'wider', hypothesis: '', family: 'width', category: 'architectural' }
    const change = { kind: 'knobs', knobs: { width: 512, depth: 6, dropout: 0.1 } }
    await runMain(['research', 'steer', 'add-idea', '--idea', JSON.stringify({ ...idea, change })], { cwd })
    const ready = (await nextSteps(cwd)).find(({ kind, command }) => kind === 'idea' && command !== undefined)
    expect((await runMain(wordsOf(ready?.command ?? ''), { cwd })).code).toBe(0)
    expect((await nextSteps(cwd)).map(({ command }) => command)).not.toContain(ready?.command)
    const after = await status()
    expect(after.backlog.map(({ text }) => text)).toEqual(['look at the corners'])
    expect(after.n_experiments).toBe(9)
  })

  it('resumes what was cut short (USE-322)', slow, async () => {
    const cwd = lab({ steps: 40 })
    await interrupted(['run', 'config.yaml'], /step 8:/, cwd)
    const [resume, ...others] = await nextSteps(cwd)
    expect({ kind: resume?.kind, others }).toEqual({ kind: 'resume', others: [] })
    const { status, runs } = await typed(resume?.command ?? '', cwd)
    expect({ status, left: runs?.filter((run) => run.status !== 'completed') }).toEqual({
      status: 'completed',
      left: [],
    })
    expect((await nextSteps(cwd)).map(({ kind }) => kind)).not.toContain('resume')
  })

  it(
    'is run by `next --run`; a rank without a command is refused with those that have one (RES-596)',
    slow,
    async () => {
      const cwd = lab({ file: { n_repeats: 1, metadata: { objective, benchmark } }, axes: equal })
      await runMain(['run', 'config.yaml'], { cwd })
      const steps = await nextSteps(cwd)
      const rank = 1 + steps.findIndex(({ kind }) => kind === 'confirm')
      const { code, stdout, stderr } = await runMain(['next', '--run', String(rank), '--json'], { cwd })
      expect([code, stderr]).toEqual([0, expect.stringContaining(steps[rank - 1]?.command ?? '-')])
      expect(ExperimentResult.parse(JSON.parse(stdout)).runs).toHaveLength(6)
      expect((await nextSteps(cwd)).map(({ command }) => command)).not.toContain(steps[rank - 1]?.command)
      const refused = await runMain(['next', '--run', '99', '--json'], { cwd })
      expect([refused.code, JSON.parse(refused.stdout)]).toMatchObject([
        2,
        { errors: [{ code: 'CLI_USAGE', message: expect.stringContaining('no step 99'), fix: expect.any(String) }] },
      ])
    },
  )

  it('is read word by word as it was written (RES-596)', () => {
    expect(commandWords("evsys run 'a b.yaml' --set x=1 && evsys research steer confirm --session 'e'\\''1'")).toEqual([
      ['run', 'a b.yaml', '--set', 'x=1'],
      ['research', 'steer', 'confirm', '--session', "e'1"],
    ])
    const word = 'it\'s a [1, 2] "b" && c'
    expect(commandWords(`evsys run ${shellWord(word)}`)).toEqual([['run', word]])
  })
})
