// Checks every step of a run: its loss, whatever the recipe, and what recipes that roll out report. It only checks; rolling back and
// ending are the loop's work.
import {
  createCollapseGuard,
  entropyCollapse,
  type Finding,
  GuardMemory,
  GuardParams,
  type Guards,
  guardedLoss,
  guardRow,
  klBlowup,
  lengthExplosion,
  rewardHacking,
  type Watched,
} from '../../algorithms/index.ts'
import type { GuardAction, GuardReason, GuardTrip, Metrics, RunAssignment } from '../../contracts/index.ts'
import type { Phase } from './phases.ts'

/** Roll-backs of a run. */
export const MOST_ROLL_BACKS = 3

/** What is to be done after a step. */
export interface Trip {
  readonly step: number
  readonly reason: GuardReason
  readonly action: GuardAction
  /** First step of those that show it. */
  readonly since: number
  readonly text?: string | undefined
}

/** `phase`: where the run begins or resumes. */
export function createWatch({ past, guard_trips }: RunAssignment, phase: Phase) {
  const inPhase = ({ step }: { step: number }) => step >= phase.firstStep
  const memory = new GuardMemory({ rows: past.guards.rows.filter(inPhase), trips: past.guards.trips })
  const before = guard_trips - memory.rollBacks // roll-backs that only their number is known of
  let guards = guardsOf(phase)
  let collapse = createCollapseGuard(past.losses.filter(inPhase).map(({ loss }) => loss))

  const rollBacks = () => before + memory.rollBacks

  return {
    /** Roll-backs so far. */
    get rollBacks() {
      return rollBacks()
    },
    /** The trip that ended the run, of an earlier attempt or of this one. */
    get end() {
      return memory.end
    },
    /** Another phase begins. */
    enter(next: Phase) {
      guards = guardsOf(next)
      memory.forgetRows()
      collapse = createCollapseGuard()
    },
    /** What is wrong after a step; undefined: nothing. */
    check(step: number, metrics: Metrics): Trip | undefined {
      const reason = collapse.look(guardedLoss(metrics))
      if (reason !== undefined) return { step, reason, action: 'roll_back', since: step }
      const row = guardRow(step, metrics)
      if (guards === undefined || row === undefined) return undefined
      memory.add(row)
      for (const found of findings(memory, guards)) {
        const isOver = found.action === 'roll_back' && rollBacks() >= MOST_ROLL_BACKS
        const action = isOver ? 'stop' : found.action
        if (action === 'off' || (action === 'record' && memory.hasReported(found.reason))) continue
        return { step, reason: found.reason, action, since: found.since, text: found.text }
      }
      return undefined
    },
    /** A trip was reported. */
    tripped(trip: GuardTrip) {
      memory.trip(trip)
      if (trip.action !== 'record') collapse.reset()
    },
  }
}

type Found = Finding & { readonly reason: GuardReason; readonly action: GuardAction | 'off' }

/** What the guards find in the steps so far, the gravest first: one that rewinds is not kept from it by one that only records. */
function findings(watched: Watched, guards: Guards): Found[] {
  const found: [GuardReason, GuardAction | 'off', Finding | undefined][] = [
    ['kl_blowup', guards.kl_blowup.action, klBlowup(watched, guards.kl_blowup)],
    ['reward_hacking', guards.reward_hacking.action, rewardHacking(watched, guards.reward_hacking)],
    ['entropy_collapse', guards.entropy_collapse.action, entropyCollapse(watched, guards.entropy_collapse)],
    ['length_explosion', guards.length_explosion.action, lengthExplosion(watched, guards.length_explosion)],
  ]
  const weight = { stop: 0, roll_back: 1, record: 2, off: 3 }
  return found
    .flatMap(([reason, action, finding]) => (finding === undefined ? [] : [{ reason, action, ...finding }]))
    .sort((a, b) => weight[a.action] - weight[b.action])
}

// A recipe that declares no guards is not guarded: its numbers need not mean what these mean.
function guardsOf({ params }: Phase): Guards | undefined {
  return GuardParams.safeParse(params).data?.guards
}
