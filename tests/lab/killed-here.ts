// A run in this process that is killed after one of its events, and goes on: what its folder held at that moment is what the next
// attempt finds, and what was told up to there is all that is known.
import { cpSync, renameSync, rmSync } from 'node:fs'
import { type Item, initialRunState, type RunAssignment, type RunEvent, reduceRun } from '../../src/contracts/index.ts'
import { resumed } from '../resumed-assignment.ts'
import { type HereOptions, type TrainedHere, trainHere } from '../train-here.ts'

/** Runs the assignment as if it had been killed after event `index`, and goes on. All events, those of both attempts. */
export async function killedHere(
  assignment: RunAssignment,
  index: number,
  options: HereOptions,
): Promise<readonly Item[]> {
  const dir = assignment.run_dir
  const kept = `${dir}.killed`
  let told = 0
  const onItem = () => {
    told += 1
    if (told === index + 1) cpSync(dir, kept, { recursive: true })
  }
  const first = cut(await trainHere(assignment, { ...options, onItem }), index + 1)
  rmSync(dir, { recursive: true })
  renameSync(kept, dir)
  const { checkpoints } = first.items.filter(isEvent).reduce(reduceRun, initialRunState)
  const state = checkpoints.filter(({ kind }) => kind === 'state').sort((a, b) => b.step - a.step)[0]
  const standing = new Set(checkpoints.map(({ step, kind }) => `${step}/${kind}`))
  const again = state === undefined ? fresh(assignment) : resumed(assignment, first, state)
  const past = {
    ...again.past,
    checkpoints: again.past.checkpoints.filter(({ step, kind }) => standing.has(`${step}/${kind}`)),
  }
  const rest = await trainHere({ ...again, past, next_event: first.items.length + 1 }, options)
  return [...first.items, ...rest.items]
}

function fresh(assignment: RunAssignment): RunAssignment {
  return { ...assignment, attempt: 2 }
}

function cut(run: TrainedHere, length: number): TrainedHere {
  const items = run.items.slice(0, length)
  return {
    ...run,
    items,
    of: <T extends Item['type']>(type: T) =>
      items.filter((item): item is Extract<Item, { type: T }> => item.type === type),
  }
}

function isEvent(item: Item): item is RunEvent {
  return 'run_id' in item
}
