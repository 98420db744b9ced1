// What a file of the project exports, by `path#name`: tools and simulated users. For processes that run code of the project.
import { dirname, isAbsolute } from 'node:path'
import { EvsysError, loadValue } from '../../kernel/index.ts'

const loaded = new Map<string, Promise<unknown>>()

/** Loads it once in this process: attempts by the hundred share the code, and none of them pays for it twice. */
export function loadProjectExport(reference: string): Promise<unknown> {
  const known = loaded.get(reference)
  if (known !== undefined) return known
  const path = reference.split('#')[0] ?? reference
  if (!isAbsolute(path)) {
    // Paths of a config are made absolute when it is read; this one comes from code.
    return Promise.reject(
      new EvsysError('PLUGIN_LOAD', `${reference} is no file: paths are absolute here`, {
        fix: 'write it in the config as ./FILE.ts#NAME, or give an absolute path.',
      }),
    )
  }
  const loading = loadValue(reference, { from: dirname(path) })
  loaded.set(reference, loading)
  loading.catch(() => loaded.delete(reference)) // a file that was wrong may be right the next time
  return loading
}
