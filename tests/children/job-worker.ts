// Works on durable jobs until all of them are done or it is killed: `job-worker ADDRESS OWNER LOG JOB...`. Each job has five steps
// with an output that nobody can guess, and a last one that repeats what the job saw of them. Every execution of a step is written
// to LOG, and printed as a line.

import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import * as z from 'zod'
import { openStore } from '../../src/store/index.ts'

const [address = '', owner = '', log = '', ...ids] = process.argv.slice(2)
await using store = await openStore(address)
const jobs = store.jobs({ leaseMs: 1000, attempts: 1000, backoffMs: 1, maxBackoffMs: 10 })
const never = new AbortController().signal
process.stdout.write('open\n')

for (;;) {
  const outcome = await jobs.work(
    owner,
    async (job, steps) => {
      const seen: string[] = []
      for (let step = 0; step < 5; step++) {
        const output = await steps.run(`step ${step}`, z.string(), async () => {
          const nonce = randomUUID()
          appendFileSync(log, `${job.id} ${nonce}\n`)
          process.stdout.write(`${job.id} ${step}\n`)
          return nonce
        })
        seen.push(output)
      }
      await steps.run('seen', z.array(z.string()), async () => seen)
    },
    never,
  )
  if (outcome !== 'idle') continue
  const states = await Promise.all(ids.map((id) => jobs.state(id)))
  if (states.every((state) => state?.state === 'done')) break
  await delay(20) // for jobs that another worker holds, or held until it was killed
}
