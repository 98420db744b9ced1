// What is hidden from the processes that run recipe code: the folders and files that hold expected answers. How well it is
// hidden is part of the record: where the machine cannot do it, nothing pretends otherwise.
import { mkdir, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { Benchmark, DataConfig, Notice, Plan, RunConfig } from '../../contracts/index.ts'
import { EvsysError, fileError, whyNotHidden } from '../../kernel/index.ts'
import { answersFolder, evaluationsFolder } from '../../record/index.ts'
import type { FoundLevel } from '../../sandbox/index.ts'
import { trialsFolder } from '../trials/trial-scratch.ts'

export interface BenchmarkSeal {
  /** `namespace`: the kernel shows empty folders in their place. `none`: recipe code can read them. */
  readonly level: 'namespace' | 'none'
  /** Paths that recipe code must not see; empty where they cannot be hidden. */
  readonly hidden: readonly string[]
  readonly notices: readonly Notice[]
}

/** `required`: an error where answers cannot be hidden. */
export type SealChoice = 'auto' | 'required' | 'off'

export interface SealOptions {
  readonly benchmarks: readonly Pick<Benchmark, 'name' | 'path' | 'data'>[]
  readonly runs: readonly Pick<RunConfig, 'data' | 'mix' | 'model'>[]
  readonly projectDir: string
  readonly choice: SealChoice
  /** Where recipe code runs; absent: it is not asked for. */
  readonly sandbox?: FoundLevel | undefined
}

export async function sealBenchmarks({
  benchmarks,
  runs,
  projectDir,
  choice,
  sandbox,
}: SealOptions): Promise<BenchmarkSeal> {
  const found = await Promise.all(
    benchmarks.map(async ({ name, path, data }) =>
      [path ?? (data?.store === undefined ? data?.path : undefined) ?? [], await storedFiles(data, projectDir)]
        .flat()
        .map((place) => ({ name, path: resolve(place) })),
    ),
  )
  const answers = found.flat()
  const outside = benchmarks.flatMap(({ name, data }) => (data?.store === undefined ? [] : [name]))
  const inStore = outside.map(
    (name) => `benchmark ${name} is read from a data store, which recipe code may be able to read too`,
  )
  if (choice === 'required' && sandbox?.level === 'process') {
    const why = sandbox.reason ?? '--sandbox process'
    throw new EvsysError('SEAL_FAILED', `recipe code cannot be shut in here: ${why}`, {
      fix: 'run it on Linux with user namespaces, or leave out --seal required.',
    })
  }
  if (choice === 'off') return open(['--seal off'])
  if (answers.length === 0 && (inStore.length === 0 || choice !== 'required')) return open(inStore)
  const problem = (await whyNotHidden()) ?? (await foreignOwner(projectDir))
  if (problem !== undefined) {
    if (choice === 'required') {
      throw new EvsysError('SEAL_FAILED', `benchmarks cannot be hidden from recipe code here: ${problem}`, {
        fix: 'run it on Linux with user namespaces, or leave out --seal required.',
      })
    }
    return open([problem])
  }
  const blocks = runs.flatMap(({ data, mix = [] }) => [data, ...mix])
  const stored = await Promise.all(blocks.map((data) => storedFiles(data, projectDir)))
  const read = [
    ...runs.map(({ model }) => model.name),
    ...blocks.flatMap(({ path, store, hf_dataset }) =>
      [(store === undefined ? path : undefined) ?? [], hf_dataset ?? []].flat(),
    ),
    ...stored.flat(),
  ]
  const clashing = answers.filter(({ path }) => read.some((used) => isWithin(resolve(used), path)))
  const clash = clashing.map(
    ({ name }) => `benchmark ${name} is made from a file that training reads, so recipe code can read its answers too`,
  )
  clash.push(...inStore)
  if (clash.length > 0 && choice === 'required') throw new EvsysError('SEAL_FAILED', clash.join('; '))
  const hidden = answers.filter((each) => !clashing.includes(each)).map(({ path }) => path)
  // Verdicts of judges quote reference answers, as do answers that were scored; trials hold tests; what is hidden must be there before a process starts.
  const verdicts = join(projectDir, '.evsys', 'verdicts')
  const kin = [verdicts, answersFolder(projectDir), evaluationsFolder(projectDir), trialsFolder(projectDir)]
  for (const folder of kin) {
    await mkdir(folder, { recursive: true }).catch((cause: unknown) => {
      throw fileError('write', folder, cause)
    })
  }
  const { benchmarksFolder } = await import('../../evaluate/index.ts')
  const others = [benchmarksFolder(projectDir), ...kin, join(projectDir, '.env'), ...(await histories(projectDir))]
  const kept = [...new Set([...hidden, ...others])]
  return { level: clash.length === 0 ? 'namespace' : 'none', hidden: kept, notices: clash.map((text) => ({ text })) }
}

/** The files of a stored dataset that a data block names. One that is not there is reported when it is read. */
async function storedFiles(data: DataConfig | undefined, projectDir: string): Promise<string[]> {
  const { dataset_id: id, dataset_name: name, hf_split = 'train' } = data ?? {}
  const reference = id !== undefined ? { id } : name !== undefined ? { name } : undefined
  if (reference === undefined) return []
  const { openNamedDatasets } = await import('../../data/index.ts')
  const datasets = openNamedDatasets(projectDir)
  try {
    return datasets.files(await datasets.find(reference), hf_split).map(({ path }) => path)
  } catch (error) {
    if (EvsysError.is(error)) return []
    throw error
  }
}

function open(reasons: readonly string[]): BenchmarkSeal {
  const notices = reasons.map((reason) => ({
    text: `benchmarks are not hidden from recipe code (${reason}): a plugin that opens their files can read the answers`,
  }))
  return { level: 'none', hidden: [], notices }
}

// In the namespace of the child one user is known: what others own could no longer be written.
async function foreignOwner(projectDir: string): Promise<string | undefined> {
  const { uid } = await stat(projectDir)
  return uid === process.getuid?.() ? undefined : 'the project belongs to another user'
}

// The history of a project holds every benchmark that was ever committed to it.
async function histories(projectDir: string): Promise<string[]> {
  const found: string[] = []
  for (let folder = resolve(projectDir); ; folder = dirname(folder)) {
    const history = join(folder, '.git')
    if ((await stat(history).catch(() => undefined)) !== undefined) found.push(history)
    if (folder === dirname(folder)) return found
  }
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && resolve(way) !== way)
}

/** The plan with a folder for every benchmark that is named: `id: router-val@2`, or `name: router-val` and nothing else. */
export async function resolveBenchmarks(plan: Plan, projectDir: string): Promise<Plan> {
  const { metadata } = plan.experiment
  const benchmark = await Promise.all(
    metadata.benchmark.map(async (entry) => {
      if (entry.path !== undefined || entry.data !== undefined) return entry
      const { findBenchmark } = await import('../../evaluate/index.ts')
      const { folder } = await findBenchmark(projectDir, entry.id ?? entry.name)
      return { ...entry, path: folder }
    }),
  )
  return { ...plan, experiment: { ...plan.experiment, metadata: { ...metadata, benchmark } } }
}
