// What is known of the runs of an experiment while they go on: a fold over their events, the same that a dashboard makes.
import { type Item, initialRunState, type Plan, type RunRow, type RunState, reduceRun } from '../../contracts/index.ts'

export interface RunProgress {
  readonly name: string
  readonly state: RunState
  /** Steps by the plan; the run itself tells once it has read its data. */
  readonly plannedSteps: number | undefined
  /** Where this process saw it begin: steps done by then, and when. */
  readonly began: { readonly step: number; readonly atMs: number } | undefined
  /** Time of its last event. */
  readonly atMs: number | undefined
}

export interface ProgressState {
  readonly objective: Plan['objective']
  readonly runs: Map<string, RunProgress>
}

/** The runs as the record has them before anything starts. */
export function beginProgress({ objective, arms, experiment }: Plan, rows: readonly RunRow[]): ProgressState {
  // Arms of a matrix all begin with the name of the experiment, which says nothing here.
  const prefix = `${experiment.name}__`
  const isShared = rows.every(({ name }) => name.startsWith(prefix) && name.length > prefix.length)
  const runs = new Map<string, RunProgress>()
  for (const { id, name, arm, status } of rows) {
    const plannedSteps = arms.find((each) => each.name === arm)?.max_steps
    const isDone = status === 'completed'
    const state: RunState = { ...initialRunState, status: isDone ? status : 'pending', seq: UNKNOWN_SEQ }
    runs.set(id, {
      name: isShared ? name.slice(prefix.length) : name,
      state,
      plannedSteps,
      began: undefined,
      atMs: undefined,
    })
  }
  return { objective, runs }
}

/** A resumed run goes on with the number after its last event, which only its next event tells. */
const UNKNOWN_SEQ = -1

/** Takes in one more item of a run. */
export function followProgress({ runs }: ProgressState, { id }: Pick<RunRow, 'id'>, item: Item): void {
  const run = runs.get(id)
  if (run === undefined || item.type === 'points' || 'experiment_id' in item) return
  const known = run.state.seq === UNKNOWN_SEQ ? { ...run.state, seq: item.seq - 1 } : run.state
  const state = reduceRun(known, item)
  const atMs = Date.parse(item.at)
  const began = item.type === 'run.started' ? { step: stepsDone(state), atMs } : run.began
  runs.set(id, { ...run, state, began, atMs })
}

/** Steps that a run has behind it. */
export function stepsDone({ step }: RunState): number {
  return step === undefined ? 0 : step + 1
}

/** Steps that a run takes in all, as far as is known. */
export function stepsInAll({ state, plannedSteps }: RunProgress): number | undefined {
  return state.num_steps ?? plannedSteps
}

export function isActive({ state }: RunProgress): boolean {
  return state.status === 'running'
}

export function hasEnded({ state }: RunProgress): boolean {
  return state.status !== 'running' && state.status !== 'pending'
}

/** The loss of a step, or of a run's last one. */
export function lossOf({ metrics }: Pick<RunState, 'metrics'>): number | undefined {
  return metrics.train_mean_nll ?? metrics['train/mean_loss'] ?? metrics.loss ?? metrics['loss:sum']
}

/**
 * The score of a run: on the objective's benchmark if it has one, else its first metric. The newest while it goes on; at its end
 * that of the checkpoint that was chosen, which is what counts.
 */
export function lastScore(
  { evals, best_step }: RunState,
  objective: ProgressState['objective'],
): { name: string; value: number } | undefined {
  const own = evals.filter(({ error }) => error === undefined)
  const judged = own.filter(({ benchmark }) => benchmark === objective?.benchmark)
  const chosen = judged.find(({ step }) => step === undefined) ?? judged.find(({ step }) => step === best_step)
  const last = (best_step === undefined ? undefined : chosen) ?? judged.at(-1) ?? own.at(-1)
  if (last === undefined) return undefined
  const metric = objective?.metric !== undefined && objective.metric in last.metrics ? objective.metric : undefined
  const name = metric ?? Object.keys(last.metrics)[0]
  const value = name === undefined ? undefined : last.metrics[name]
  return value === undefined ? undefined : { name: `${last.benchmark}.${name}`, value }
}
