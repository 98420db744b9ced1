import { appendFile, mkdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import type { Metrics } from '../../contracts/index.ts'
import { defineCallback } from '../../kernel/index.ts'
import { scalarEvent, startEvent, versionEvent } from './tensorboard-event.ts'

/** Event files that TensorBoard reads. */
export const tensorboardLogger = defineCallback({
  kind: 'tensorboard_logger',
  summary: 'Writes scalars as TensorBoard event files, one folder per run.',
  params: z.strictObject({
    log_dir: z.string().min(1).optional().describe('Folder of the runs; absent: tb/ beside the run’s logs.'),
    flush_secs: z.number().positive().default(30).describe('Longest that a value waits before it is written.'),
  }),
  async open({ params }) {
    let file: string | undefined
    let waiting: Uint8Array[] = []
    let written = Date.now()
    let from = 0
    let files = 0
    const flush = async () => {
      if (file === undefined || waiting.length === 0) return
      const bytes = Buffer.concat(waiting)
      waiting = []
      written = Date.now()
      await appendFile(file, bytes)
    }
    const add = async (step: number, prefix: string, metrics: Metrics) => {
      if (step < from) return // an earlier file has it
      for (const [key, value] of Object.entries(metrics)) {
        waiting.push(scalarEvent({ atS: Date.now() / 1000, step, tag: `${prefix}${key}`, value }))
      }
      if (Date.now() - written >= params.flush_secs * 1000) await flush()
    }
    return {
      async onTrainStart(scope) {
        const run = scope.run?.name ?? 'run'
        const dir =
          params.log_dir === undefined ? join(scope.run?.dir ?? scope.outputDir, 'tb') : join(params.log_dir, run)
        await mkdir(dir, { recursive: true })
        await flush()
        const atS = Date.now() / 1000
        from = scope.step
        files += 1
        file = join(dir, `events.out.tfevents.${Math.floor(atS)}.${hostname()}.${process.pid}.${files}`)
        waiting.push(versionEvent(atS), ...(from > 0 ? [startEvent(atS, from)] : []))
        await flush()
      },
      onStepEnd: ({ step }, metrics) => add(step, '', metrics),
      onEval: ({ step }, benchmark, split, metrics) => add(step, `${split}/${benchmark}/`, metrics),
      async [Symbol.asyncDispose]() {
        await flush()
      },
    }
  },
})
