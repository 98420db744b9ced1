// One attack on the real executor, and whether it got anything: a score that it did not earn, a secret, a process that outlives it, a
// word with a server of this machine. It is run unread, as if the validator had found nothing; what reading it finds is reported beside.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import type { Executor, FailureClass, Level, RunOutcome } from '../../contracts/index.ts'
import { openExecutor } from '../../research/index.ts'
import { type Attack, type AttackWorld, untampered } from './attacks.ts'
import { lineTask, unearned } from './line-task.ts'

export interface AttackResult {
  readonly attack: string
  /** `unclear`: the machine failed, so it shows nothing. */
  readonly ended: 'blocked' | 'scored truly' | 'got through' | 'unclear'
  /** Of a candidate that failed. */
  readonly class?: FailureClass | undefined
  /** Its code is turned down before it runs. */
  readonly turned_down_by_reading: boolean
  /** What it got, or what was unclear. */
  readonly why?: string | undefined
}

export interface AttackOptions {
  /** Where folders for tasks and runs are made; the caller removes it. */
  readonly folder: string
  readonly world: Pick<AttackWorld, 'canary' | 'port' | 'tag'>
  /** How often somebody asked the server of `port`. */
  visits(): number
  readonly signal: AbortSignal
  /** Absent: the strongest that works here. */
  readonly level?: Level | undefined
}

/** Honest training takes a moment; its score must not depend on how busy the machine is. */
const honestSeconds = 20
/** Past this an attack on time has used up what it was given. */
const shortSeconds = 1

export async function runAttack(attack: Attack, options: AttackOptions): Promise<AttackResult> {
  const { signal, world, visits } = options
  const [dir, workDir] = await Promise.all(['task-', 'runs-'].map((name) => mkdtemp(join(options.folder, name))))
  if (dir === undefined || workDir === undefined) throw new RangeError('two folders were made')
  await using executor = await openLine(attack, { dir, workDir, level: options.level })
  const files = attack.files({ ...world, dir, workDir })
  const run = (candidate: typeof files, trainSeconds: number) =>
    executor.run({ files: candidate, seed: 1, split: 'val', trainSeconds }, signal)
  const seen = visits()
  const outcome = await run(files, attack.ends === 'timeout' ? shortSeconds : honestSeconds)
  const again = attack.twice === true ? await run(files, honestSeconds) : undefined
  // An honest part that is scored has to have the score of an honest candidate, to the last digit.
  const isComparable =
    outcome.status === 'scored' && outcome.value > unearned && attack.ends === 'scored' && attack.language === undefined
  const truth = isComparable ? await run(untampered, honestSeconds) : undefined
  const failures = attack.isRead === true ? await executor.check(files, signal) : []
  const got = [
    ...[outcome, ...(again === undefined ? [] : [again])].flatMap((each) => unearnedScore(each, truth)),
    ...(JSON.stringify(outcome).includes(world.canary) ? ['it read the environment of the controller'] : []),
    ...(hasProcessWith(world.tag) ? ['it leaked a process'] : []),
    ...(visits() > seen ? ['it reached a server of this machine'] : []),
  ]
  const found = failures.some((failure) => failure.class === 'validation' || failure.class === 'tamper')
  return { attack: attack.name, turned_down_by_reading: found, ...endOf(outcome, got) }
}

function endOf(outcome: RunOutcome, got: readonly string[]): Pick<AttackResult, 'ended' | 'class' | 'why'> {
  if (got.length > 0) return { ended: 'got through', why: got.join('; ') }
  if (outcome.status === 'scored') return { ended: 'scored truly' }
  if (outcome.status === 'killed') return { ended: 'blocked' }
  const { class: kind, reason } = outcome.failure
  return kind === 'infra' ? { ended: 'unclear', class: kind, why: reason } : { ended: 'blocked', class: kind }
}

function unearnedScore(outcome: RunOutcome, truth: RunOutcome | undefined): string[] {
  if (outcome.status !== 'scored') return []
  if (outcome.value <= unearned) return [`it was scored ${outcome.value}, which no one reaches without the labels`]
  if (truth?.status === 'scored' && truth.value !== outcome.value)
    return [`it was scored ${outcome.value}, and without its trick ${truth.value}`]
  return []
}

/** An executor of the small task with limits that attacks reach in seconds. */
async function openLine(
  { language, checkpoint = false }: Attack,
  { dir, ...rest }: { readonly dir: string; readonly workDir: string; readonly level?: Level | undefined },
): Promise<Executor> {
  const program = { startSeconds: 3, answerSeconds: 5, memoryBytes: 256 << 20 }
  const task = lineTask(dir, language, { program, checkpoint })
  return await openExecutor(task, { ...rest, limits: { outputBytes: 4 << 20, answerBytes: 1 << 20 } })
}

/** Whether any process but this one has `mark` anywhere in its arguments or its environment. */
function hasProcessWith(mark: string): boolean {
  const holds = (file: string) => {
    try {
      return readFileSync(file, 'latin1').includes(mark)
    } catch {
      return false // it is gone, or another's
    }
  }
  if (!existsSync('/proc')) return false // another system: what runs in a container ends with it
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .some((name) => holds(`/proc/${name}/cmdline`) || holds(`/proc/${name}/environ`))
}
