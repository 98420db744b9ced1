// From the data block of a run to typed rows, from the cache where it has them. The hash covers the rows as they are trained on,
// after every transform.
import type { DataConfig, RowFormat, RowOf } from '../../contracts/index.ts'
import { isDamaged, type OpenRows, openRows, type RowManifest, type RowRequest } from '../../data/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { RunServices } from './run-context.ts'

export interface LoadedRows<F extends RowFormat> {
  readonly rows: readonly RowOf[F][]
  readonly hash: string
  /** Key of the cache; absent where the rows are not cached. */
  readonly key: string | undefined
  readonly manifest: RowManifest
}

export async function loadRows<F extends RowFormat>(
  data: DataConfig,
  format: F,
  services: RunServices,
): Promise<LoadedRows<F>> {
  const { projectDir, cache } = services.data ?? {}
  const request = {
    data,
    format,
    services,
    ...(projectDir === undefined ? {} : { projectDir }),
    ...(cache === undefined ? {} : { cache }),
  }
  const loaded = await loadOrRepair(request, services)
  await services.data?.onLoaded?.(loaded)
  return loaded
}

async function loadOrRepair<F extends RowFormat>(request: RowRequest<F>, { log }: RunServices): Promise<LoadedRows<F>> {
  try {
    return await collect(await openRows(request))
  } catch (error) {
    if (!EvsysError.is(error) || !isDamaged(error)) throw error
    log('warn', error.message)
    return await collect(await openRows(request)) // once: it is made anew from the source
  }
}

async function collect<F extends RowFormat>(opened: OpenRows<F>): Promise<LoadedRows<F>> {
  const rows: RowOf[F][] = []
  for await (const { row } of opened.rows()) rows.push(row)
  const manifest = opened.manifest()
  if (manifest === undefined)
    throw new EvsysError('INTERNAL', 'rows were read to their end and nothing is known of them')
  return { rows, hash: manifest.hash, key: opened.key, manifest }
}
