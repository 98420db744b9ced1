import * as z from 'zod'
import type { HarborTask, SealedTask } from '../../contracts/index.ts'

const Asked = z.looseObject({ user_turns: z.array(z.string()).min(1) })

/** What is asked, the turns of the user included, and nothing of what is expected. */
export function sealedTask({ task_id, instruction, metadata }: HarborTask): SealedTask {
  const { data } = Asked.safeParse(metadata)
  return { task_id, instruction, ...(data === undefined ? {} : { user_turns: data.user_turns }) }
}
