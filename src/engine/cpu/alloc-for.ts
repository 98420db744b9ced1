import { EvsysError } from '../../kernel/index.ts'
import type { Runtime } from './runtime.ts'

/** A part of the arena for a named purpose. Where there is no room, the error says for what, how much, and what to do. */
export function allocFor(runtime: Runtime, bytes: number, what: string, fix: string): number {
  try {
    return runtime.alloc(bytes)
  } catch (cause) {
    if (!EvsysError.is(cause) || cause.code !== 'BACKEND_REFUSED') throw cause
    const [needs, all] = [sizeText(bytes), sizeText(runtime.capacityBytes)]
    const more =
      runtime.id.kind === 'cpu-wasm'
        ? ' WebAssembly has at most 4 GiB; native kernels (EVSYS_ENGINE=native) have more.'
        : ''
    const message = `${what} takes ${needs}, which the engine’s memory of ${all} has not left`
    throw new EvsysError('BACKEND_REFUSED', message, { cause, fix: `${fix}${more}` })
  }
}

function sizeText(bytes: number): string {
  return bytes < 2 ** 30 ? `${(bytes / 2 ** 20).toFixed(1)} MiB` : `${(bytes / 2 ** 30).toFixed(1)} GiB`
}
