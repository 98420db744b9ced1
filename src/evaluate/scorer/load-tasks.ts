// The tasks of a benchmark, from its folder or made from data rows. Here, and not in the controller: transforms may be code of
// the project, and what they yield holds the expected answers.
import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import type { Benchmark, DataConfig, HarborTask, Row, SealedTask } from '../../contracts/index.ts'
import { fetchStored, parseRows, rowStream, sourceKind, withPlace } from '../../data/index.ts'
import { EvsysError, equipPlugin, hashOf, type PluginServices } from '../../kernel/index.ts'
import { readBenchmarkFolder } from '../benchmarks/benchmark-folder.ts'
import { noContainer } from '../verifiers/code.ts'
import type { ScorerPlugins } from './scorer-plugins.ts'

export type TaskSource = { readonly folder: string } | { readonly rows: readonly Row[] } | { readonly data: DataConfig }

/** What contexts are made of, and how further plugins are loaded. */
export type ScorerServices = PluginServices &
  Pick<ScorerPlugins, 'need'> & {
    /** Where stored datasets are; absent: there are none. */
    readonly projectDir?: string | undefined
  }

/** The tasks that count: all of them, or the first `limit`. */
export async function loadTasks(
  benchmark: Benchmark,
  source: TaskSource,
  services: ScorerServices,
): Promise<readonly HarborTask[]> {
  const { signal } = services
  const folders = 'folder' in source ? await folderTasks(source.folder) : undefined
  if (folders !== undefined) return folders.slice(0, benchmark.limit)
  const tasks =
    'folder' in source
      ? (await readBenchmarkFolder(source.folder, { signal })).tasks
      : await tasksFrom(
          benchmark,
          'rows' in source ? placed(source.rows) : await dataRows(source.data, services),
          signal,
        )
  for (const { task_id, verifier } of tasks) {
    if (task_id === '__proto__') throw invalid(benchmark, 'a task is called "__proto__"', 'give it another id.')
    if (verifier.kind === 'e2b') throw noContainer()
  }
  return tasks.slice(0, benchmark.limit).map(judged)
}

/** The tasks of a folder of task folders; undefined: it is none. Where they lie is left out: the same tasks are the same anywhere. */
async function folderTasks(folder: string): Promise<readonly HarborTask[] | undefined> {
  if ((await stat(join(folder, 'tasks.jsonl')).catch(() => undefined)) !== undefined) return undefined
  const { holdsTaskFolders, loadTaskRows } = await import('../../rollout/index.ts') // only where there are such tasks
  if (!(await holdsTaskFolders(folder))) return undefined
  return (await loadTaskRows(folder)).map(({ row }) => {
    const { task_path: _, ...metadata } = row.metadata
    return { ...row, metadata }
  })
}

// A judge is a verifier like any other.
function judged(task: HarborTask): HarborTask {
  const { verifier } = task
  if (verifier.kind !== 'llm_judge') return task
  const params = { model: verifier.judge_model, rubric: verifier.rubric }
  return { ...task, verifier: { kind: 'in_process', fn_name: 'llm_judge', expected: undefined, params } }
}

async function tasksFrom(
  benchmark: Benchmark,
  rows: AsyncIterable<Row>,
  signal: AbortSignal,
): Promise<readonly HarborTask[]> {
  const tasks = new Map<string, HarborTask>()
  for await (const task of parseRows(withVerifier(rows, benchmark), 'harbor_task', { signal })) {
    if (tasks.has(task.task_id))
      throw invalid(benchmark, `two tasks are called "${task.task_id}"`, 'give every task a separate id.')
    tasks.set(task.task_id, task)
  }
  if (tasks.size > 0) return [...tasks.values()]
  throw invalid(benchmark, 'it has no task', 'look at its data: no row is left after its transforms.')
}

/** The verifier of the benchmark, for rows that name none. */
async function* withVerifier(rows: AsyncIterable<Row>, { verifier }: Benchmark): AsyncGenerator<Row> {
  for await (const row of rows) {
    if (verifier === undefined || 'verifier' in row) {
      yield row
      continue
    }
    const scored = {
      instruction: row.instruction,
      verifier: { kind: 'in_process', fn_name: verifier.kind, expected: row.expected, params: verifier.params },
    }
    yield { ...row, ...scored, task_id: row.task_id ?? `task-${hashOf(scored).slice(0, 12)}` }
  }
}

async function dataRows(data: DataConfig, services: ScorerServices): Promise<AsyncIterable<Row>> {
  const kind = sourceKind(data)
  await services.need('data_source', kind)
  for (const transform of data.transforms) await services.need('transform', transform.kind)
  const source = equipPlugin('data_source', { kind, params: data.params ?? {} }, services)
  const steps = data.transforms.map((spec) => {
    const { plugin, context } = equipPlugin('transform', spec, services)
    return { transform: plugin, context }
  })
  const { projectDir } = services
  if (data.store !== undefined) await services.need('data_store', data.store.kind)
  // Beside verdicts, which recipe code does not see: these rows hold expected answers.
  const folder = join(projectDir ?? process.cwd(), '.evsys', 'verdicts', 'stores')
  const fetched = await fetchStored(data, services, folder)
  const place = {
    data,
    resolve: (path: string) => (path === data.path ? fetched : undefined) ?? resolve(path),
    projectDir,
  }
  return rowStream(source.plugin.rows({ ...source.context, ...place }), steps)
}

async function* placed(rows: readonly Row[]): AsyncGenerator<Row> {
  for (const [i, row] of rows.entries()) yield withPlace(row, `row ${i + 1}`)
}

function invalid({ name }: Benchmark, message: string, fix: string): EvsysError {
  return new EvsysError('DATA_INVALID', `benchmark "${name}": ${message}`, { fix })
}

const Asked = z.looseObject({ user_turns: z.array(z.string()).min(1) })

/** What is asked, the turns of the user included, and nothing of what is expected. */
export function sealedTask({ task_id, instruction, metadata }: HarborTask): SealedTask {
  const { data } = Asked.safeParse(metadata)
  return { task_id, instruction, user_turns: data?.user_turns }
}
