import * as z from 'zod'
import { defineDataSource, EvsysError } from '../../kernel/index.ts'
import { loadTaskRows, taskRowsIdentity } from './task-rows.ts'

/** Tasks as folders in Harbor's layout. */
export const harborSource = defineDataSource({
  kind: 'harbor',
  summary: 'Reads Harbor task folders (data.path): a task per row, attempted in its environment, scored by its tests.',
  params: z.strictObject({}),
  async *rows({ data, resolve, signal }) {
    const path = pathOf(data.path)
    for (const { row, place } of await loadTaskRows(resolve(path), path)) {
      signal.throwIfAborted()
      yield { row, place }
    }
  },
  async identity({ data, resolve }) {
    const path = pathOf(data.path)
    return { path, tasks: await taskRowsIdentity(resolve(path), path) }
  },
})

function pathOf(path: string | undefined): string {
  if (path !== undefined) return path
  throw new EvsysError('DATA_READ', 'data.path is missing: the source "harbor" reads a folder of task folders', {
    fix: 'add `path: tasks` to data, relative to the experiment file.',
  })
}
