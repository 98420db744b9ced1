// What trains on this machine: the kernels of the CPU engine, tried and timed.
import { EvsysError, messageOf } from '../../kernel/index.ts'
import type { CommandContext } from '../command-context.ts'
import { speedText } from '../output/quantity-text.ts'
import type { Check } from './check.ts'

export async function engineCheck({ env }: CommandContext): Promise<Check> {
  const base = { name: 'engine', required: false, gives: 'training on this machine with `backend: local`' } as const
  const { loadCpuEngine } = await import('../../engine/index.ts')
  const { inspectCpuEngine } = await loadCpuEngine()
  const { cacheFolder } = await import('../../models/index.ts')
  try {
    const { measured, why, problem } = await inspectCpuEngine({ env: { ...env }, cacheFolder: cacheFolder(env) })
    if (measured === undefined) {
      const found = `native kernels, not compiled yet (${why}): the first run or \`evsys engine build\` does it in some seconds`
      return { ...base, status: 'ok', found }
    }
    const { id, threads, gflops } = measured
    const found = `${id}, ${threads} ${threads === 1 ? 'thread' : 'threads'}, ${speedText(gflops)} (${why})`
    if (problem === undefined) return { ...base, status: 'ok', found }
    return { ...base, status: 'broken', found: `${found}. ${problem}`, get: '`evsys engine build --force`' }
  } catch (error) {
    const fix = EvsysError.is(error) ? error.fix : undefined
    return { ...base, status: 'broken', found: messageOf(error), ...(fix === undefined ? {} : { get: fix }) }
  }
}
