// One transform over a list of rows.
import type * as z from 'zod'
import type { Row, Transform } from '../src/contracts/index.ts'
import { collect, streamOf } from './collect.ts'
import { pluginContext } from './plugin-context.ts'

export function applyTransform<S extends z.ZodType>(
  transform: Transform<string, S>,
  params: z.input<S>,
  rows: Iterable<Row>,
  seed = 1,
): Promise<Row[]> {
  return collect(transform.run(streamOf(rows), pluginContext(transform, params, { seed })))
}
