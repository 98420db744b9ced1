// A limit of a rollout as an error: it ends an agent that keeps asking, and is no one's failure.
import type { Trajectory } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'

export type RolloutLimit = NonNullable<Trajectory['truncated']>

const words: Record<RolloutLimit, string> = {
  max_turns: 'the rollout has had all of its turns',
  max_tokens: 'the rollout has drawn all of its tokens',
  context: 'the conversation is longer than the context of the model',
}

// A registered symbol: a plugin may bring its own copy of this module.
const brand = Symbol.for('evsys.rollout-limit')

/** What a policy throws when the rollout may not continue. `runAgent` makes a truncated rollout of it. */
export class LimitReached extends EvsysError {
  readonly [brand]: RolloutLimit

  constructor(limit: RolloutLimit) {
    super('BUDGET_EXCEEDED', words[limit])
    this[brand] = limit
  }
}

/** The limit that an error reports, itself or by its cause. */
export function limitOf(error: unknown): RolloutLimit | undefined {
  for (let each = error, depth = 0; each instanceof Error && depth < 8; each = each.cause, depth++) {
    const limit: unknown = Reflect.get(each, brand)
    if (limit === 'max_turns' || limit === 'max_tokens' || limit === 'context') return limit
  }
  return undefined
}
