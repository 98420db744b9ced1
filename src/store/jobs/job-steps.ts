// The memory of a job: the output of each named step, stored together with the check that the job is still held.
import * as z from 'zod'
import type { Steps } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { checkedName } from '../checked-name.ts'
import { guarded } from '../guarded.ts'
import { parseStored } from '../parse-stored.ts'
import { type HeldJob, requireHolding } from './hold-job.ts'

// In an object of its own, so that a step without output has JSON too.
const Kept = z.object({ output: z.unknown().optional() })

export function jobSteps(held: HeldJob, signal: AbortSignal): Steps {
  const { database, queue, job } = held
  const memory = guarded(
    {
      async recall(key: string): Promise<string | undefined> {
        const row = await database.query
          .selectFrom('job_step')
          .select('output')
          .where('queue', '=', queue)
          .where('job_id', '=', job.id)
          .where('step_key', '=', key)
          .executeTakeFirst()
        return row?.output
      },
      async remember(key: string, output: string): Promise<void> {
        await database.transaction(async (query) => {
          await requireHolding(query, held)
          await query
            .insertInto('job_step')
            .values({ queue, job_id: job.id, step_key: key, output })
            .onConflict((conflict) => conflict.columns(['queue', 'job_id', 'step_key']).doNothing())
            .execute()
        })
      },
    },
    database,
  )
  return {
    async run<T>(key: string, schema: z.ZodType<T>, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
      signal.throwIfAborted()
      checkedName('step key', key)
      const read = (text: string) =>
        checkOutput(schema, parseStored(Kept, text, `step ${key} of job ${job.id}`).output, key)
      const known = await memory.recall(key)
      if (known !== undefined) return read(known)
      const text = JSON.stringify({ output: await work(signal) })
      read(text) // what could not be read again is not kept
      signal.throwIfAborted()
      await memory.remember(key, text)
      return read((await memory.recall(key)) ?? text) // of two at once the first counts, for both
    },
  }
}

function checkOutput<T>(schema: z.ZodType<T>, output: unknown, key: string): T {
  const checked = schema.safeParse(output)
  if (checked.success) return checked.data
  throw new EvsysError('DATA_INVALID', `the output of step ${key} does not fit: ${checked.error.issues[0]?.message}`, {
    cause: checked.error,
    fix: 'give the step another key when what it returns has changed.',
  })
}
