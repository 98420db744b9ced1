// What is hidden from the processes that run recipe code: the folders and files that hold expected answers. How well it is
// hidden is part of the record: where the machine cannot do it, nothing pretends otherwise.
import { mkdir, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { Benchmark, Notice, RunConfig } from '../../contracts/index.ts'
import { benchmarksFolder } from '../../evaluate/index.ts'
import { EvsysError, whyNotHidden } from '../../kernel/index.ts'

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
}

export async function sealBenchmarks({ benchmarks, runs, projectDir, choice }: SealOptions): Promise<BenchmarkSeal> {
  const answers = benchmarks.flatMap(({ name, path, data }) => {
    const place = path ?? data?.path
    return place === undefined ? [] : [{ name, path: resolve(place) }]
  })
  if (answers.length === 0 || choice === 'off') return open(choice === 'off' ? ['--seal off'] : [])
  const problem = (await whyNotHidden()) ?? (await foreignOwner(projectDir))
  if (problem !== undefined) {
    if (choice === 'required') {
      throw new EvsysError('SEAL_FAILED', `benchmarks cannot be hidden from recipe code here: ${problem}`, {
        fix: 'run it on Linux with user namespaces, or leave out --seal required.',
      })
    }
    return open([problem])
  }
  const read = runs.flatMap(({ data, mix = [], model }) => [
    model.name,
    ...[data, ...mix].flatMap(({ path, hf_dataset }) => [path ?? [], hf_dataset ?? []].flat()),
  ])
  const clashing = answers.filter(({ path }) => read.some((used) => isWithin(resolve(used), path)))
  const clash = clashing.map(
    ({ name }) => `benchmark ${name} is made from a file that training reads, so recipe code can read its answers too`,
  )
  if (clash.length > 0 && choice === 'required') throw new EvsysError('SEAL_FAILED', clash.join('; '))
  const hidden = answers.filter((each) => !clashing.includes(each)).map(({ path }) => path)
  // Verdicts of judges quote reference answers; what is hidden must be there before a process starts.
  const verdicts = join(projectDir, '.evsys', 'verdicts')
  await mkdir(verdicts, { recursive: true })
  const others = [benchmarksFolder(projectDir), verdicts, join(projectDir, '.env'), ...(await histories(projectDir))]
  const kept = [...new Set([...hidden, ...others])]
  return { level: clash.length === 0 ? 'namespace' : 'none', hidden: kept, notices: clash.map((text) => ({ text })) }
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
    if (
      await stat(history).then(
        () => true,
        () => false,
      )
    )
      found.push(history)
    if (folder === dirname(folder)) return found
  }
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && resolve(way) !== way)
}
