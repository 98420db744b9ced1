// The CPU engine with ways to fail, by the learning rate of a step: a kernel that is lost, and the end of the whole process.
import * as z from 'zod'
import type { Engine } from '../../src/contracts/index.ts'
import { createCpuEngine } from '../../src/engine/cpu/cpu-engine.ts'
import { openRuntime } from '../../src/engine/cpu/open-runtime.ts'
import { Program } from '../../src/engine/cpu/program.ts'

/** Loses a kernel, as a defect of it would. */
export const trapRate = 1313
/** Ends the process, as native code does that has destroyed more than its own memory. */
export const abortRate = 6666

const Options = z.object({ kind: z.enum(['native', 'wasm']), model: z.string(), cacheFolder: z.string() })

export async function openEngine(options: unknown): Promise<Engine> {
  const { kind, model: folder, cacheFolder } = Options.parse(options)
  const runtime = await openRuntime({ kind, cacheFolder, threads: 2, capacityBytes: 2 ** 26 })
  const engine = createCpuEngine({ resolve: async () => ({ folder }), runtime })
  let traps = 0
  return {
    id: engine.id,
    async run(op, signal) {
      const rate = op.op === 'optim_step' ? op.adam.learningRate : 0
      if (rate === trapRate) runtime.run(new Program().add('trap', { thread: traps++ }))
      if (rate === abortRate) process.abort()
      return engine.run(op, signal)
    },
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  }
}
