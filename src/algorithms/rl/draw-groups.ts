// Groups of answers: the same weights answer each task several times, each time with another seed. Nothing here scores or trains.
import type { HarborTask, PluginSpec, Random, SamplerRef, StepContext, Trajectory } from '../../contracts/index.ts'
import { mapConcurrent } from '../../kernel/index.ts'
import { chatAgent } from '../sequences/rollouts.ts'
import { type ComparedGroup, compareGroup, type Group, verifiedReward } from './compare-group.ts'
import { type Curriculum, concurrencyOf, type RlParams } from './rl-params.ts'

type Step = StepContext<RlParams, 'harbor_task'>

// When the rollouts of a step are drawn. With b the batch of rollouts that step t belongs to, of num_substeps = m steps each, and
// max_steps_off_policy = k: those of b begin where batch b - k begins, and are answered by the weights of that moment, version
// m (b - k), or 0. What is drawn by which weights follows from the step alone, never from who is faster. A run that is resumed draws
// what is missing with the weights that it resumed with.
/** The rollouts of this batch. Those of later steps that are due are begun. `choose`: the tasks of a step. */
export async function rolloutsOf(
  context: Step,
  choose: (step: Pick<Step, 'batch' | 'batchIndex'>) => readonly HarborTask[],
): Promise<DrawnBatch> {
  const { params, agent, rows, random } = context
  const begun = await context.once('rl/begun', async () => new Map<number, Promise<DrawnBatch>>())
  const lanes = await context.once('rl/lanes', async () => createLanes(concurrencyOf(params, rows)))
  const missing = stepsDue(context).filter(({ batchIndex }) => !begun.has(batchIndex))
  if (missing.length > 0) {
    const policy = missing.some((step) => step !== context) ? await context.keepPolicy() : await onlyNow(context)
    const works = missing.map((step) => {
      const work = drawBatch(step, choose(step), { params, policy, agent, lanes, rows, random })
      begun.set(step.batchIndex, work)
      return work
    })
    // A failure reaches the step that awaits the work; work that no step awaits any more is dropped.
    Promise.allSettled(works)
      .then(() => policy.release())
      .catch(() => {})
  }
  const drawn = begun.get(context.batchIndex)
  if (drawn === undefined) throw new Error(`no rollouts for batch ${context.batchIndex}`)
  begun.delete(context.batchIndex)
  return await drawn
}

/** This step and those after it whose rollouts have to be under way. */
function stepsDue(context: Step) {
  const { step, params } = context
  const { num_substeps, max_steps_off_policy } = params
  const end = (Math.floor(step / num_substeps) + max_steps_off_policy + 1) * num_substeps
  const later = Array.from({ length: end - step - 1 }, (_, i) => context.later(i + 1) ?? [])
  return [context, ...later.flat()]
}

async function onlyNow({ policy, step }: Step) {
  return { weights: await policy(), version: step, release: async () => {} }
}

// The rollouts of one batch: its groups, and other tasks in place of groups that teach nothing.
export interface DrawnBatch {
  readonly groups: readonly ComparedGroup[]
  /** Groups of other tasks, drawn in place of constant ones. */
  readonly resampled: number
}

interface BatchOptions extends DrawOptions {
  /** All tasks, for those that take the place of others. */
  readonly rows: readonly HarborTask[]
  random(...path: (string | number)[]): Random
}

async function drawBatch(step: DrawnStep, tasks: readonly HarborTask[], options: BatchOptions): Promise<DrawnBatch> {
  const { params, rows, random } = options
  const draw = async (asked: readonly HarborTask[], first: number) => {
    const groups = await drawGroups(step, asked, options, first)
    return groups.map((group) => compareGroup(group, params))
  }
  let groups = await draw(tasks, 0)
  if (params.constant_groups !== 'resample') return { groups, resampled: 0 }
  const used = new Set(tasks)
  const others = random('resample', step.batchIndex).shuffle(rows.filter((row) => !used.has(row)))
  let resampled = 0
  for (let round = 0; round < params.max_resamples; round++) {
    const missing = tasks.length - groups.filter(({ state }) => state === 'useful').length
    const next = others.splice(0, missing)
    if (next.length === 0) break
    groups = [...groups, ...(await draw(next, tasks.length + resampled))]
    resampled += next.length
  }
  return { groups, resampled }
}

/** A step whose answers are drawn: this one, or one that is yet to come. */
type DrawnStep = Pick<Step, 'batchIndex' | 'rollout' | 'signal'>

interface DrawOptions {
  readonly params: RlParams
  /** `version`: optimiser steps that the weights had seen. */
  readonly policy: { readonly weights: SamplerRef; readonly version: number }
  /** The agent of the run; absent: one chat. */
  readonly agent: PluginSpec | undefined
  readonly lanes: ReturnType<typeof createLanes>
}

/** One group for each task. `first`: number of the first of them among the groups of its batch. */
async function drawGroups(
  step: DrawnStep,
  tasks: readonly HarborTask[],
  options: DrawOptions,
  first = 0,
): Promise<Group[]> {
  const { num_samples } = options.params
  const asked = tasks.flatMap((task, i) =>
    Array.from({ length: num_samples }, (_, sample) => ({ task, at: first + i, sample })),
  )
  const limits = { limit: options.lanes.limit, signal: step.signal }
  const drawn = await mapConcurrent(asked, limits, (each, _, signal) =>
    options.lanes.run(step.batchIndex, () => drawAnswer({ ...step, signal }, each, options)),
  )
  return tasks.map((task, i) => {
    const own = drawn.slice(i * num_samples, (i + 1) * num_samples)
    return { task, answers: own.map(({ answer }) => answer), retried: own.reduce((sum, each) => sum + each.retried, 0) }
  })
}

async function drawAnswer(
  { batchIndex, rollout, signal }: DrawnStep,
  { task, at, sample }: { task: HarborTask; at: number; sample: number },
  { params, policy, agent = chatAgent(params) }: DrawOptions,
): Promise<{ answer: Trajectory; retried: number }> {
  const { max_tokens: maxTokens, temperature, max_retries, rollout_timeout_s } = params
  const limits = {
    sampling: { maxTokens, temperature },
    timeoutMs: rollout_timeout_s === undefined ? undefined : 1000 * rollout_timeout_s,
  }
  for (let retried = 0; ; retried++) {
    const seedPath = ['rl', batchIndex, at, task.task_id, ...(retried === 0 ? [] : ['retry', retried])]
    const answer = await rollout({ task, sample, policy, agent, seedPath, ...limits }, signal)
    if (verifiedReward(answer) !== undefined || retried >= max_retries) return { answer, retried }
  }
}

// So many things at a time, over everything that is drawn for a run: rollouts of a later step must not slow those of an earlier one.
export function createLanes(limit: number) {
  let free = limit
  const waiting: { order: number; start: () => void }[] = []
  const leave = () => {
    let next = 0
    for (const [i, { order }] of waiting.entries()) if (order < (waiting[next]?.order ?? 0)) next = i
    const [first] = waiting.splice(next, 1)
    if (first === undefined) free += 1
    else first.start()
  }
  return {
    limit,
    /** Runs `work` when there is room; of those that wait, the lowest `order` first. */
    async run<T>(order: number, work: () => Promise<T>): Promise<T> {
      if (free > 0) free -= 1
      else await new Promise<void>((start) => waiting.push({ order, start }))
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }
}

// Which tasks a step trains on. `uniform` is the order of the data; `success_rate` prefers tasks that are neither solved nor out of
// reach: with p the share of reward, groups of answers differ most often where p (1 - p) is large.
/** Share of reward that tasks had, by id. */
export type Successes = Map<string, number>

/** Takes in what a step saw. Rewards beyond 0 and 1 count as those. */
export function remember(successes: Successes, groups: readonly Group[], { memory }: Curriculum): void {
  for (const { task, answers } of groups) {
    const rewards = answers.flatMap((answer) => verifiedReward(answer) ?? [])
    if (rewards.length === 0) continue
    const seen = rewards.reduce((sum, reward) => sum + Math.min(1, Math.max(0, reward)), 0) / rewards.length
    const known = successes.get(task.task_id)
    successes.set(task.task_id, known === undefined ? seen : memory * known + (1 - memory) * seen)
  }
}

/** `size` tasks, none twice before all were taken. Weighted draws without replacement (Efraimidis and Spirakis 2006). */
export function openTasks(
  rows: readonly HarborTask[],
  size: number,
  { successes, explore, random }: { successes: Successes; explore: number; random: Random },
): HarborTask[] {
  const ranked = rows
    .map((task) => {
      const share = successes.get(task.task_id) ?? 0.5
      const weight = explore + (1 - explore) * 4 * share * (1 - share)
      return { task, key: Math.log(1 - random.float()) / weight }
    })
    .sort((a, b) => b.key - a.key)
  return Array.from({ length: size }, (_, i) => ranked[i % ranked.length]?.task ?? []).flat()
}
