// The named benchmarks of a project: copies of benchmark folders with a version each, below `.evsys/benchmarks`. A version never
// changes; what changed is a new one. A version is known by the hash of its tasks.
import { cp, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { Name } from '../../contracts/index.ts'
import { EvsysError, suggest, systemCode, writeFileAtomic } from '../../kernel/index.ts'
import { readBenchmarkFolder } from './benchmark-folder.ts'

const Version = z.strictObject({
  benchmark_id: z.string(),
  name: z.string(),
  version: z.int().min(1),
  content_hash: z.string(),
  n_tasks: z.int().min(1),
  at: z.string(),
})
type BenchmarkVersion = z.infer<typeof Version>

type KeptBenchmark = Omit<BenchmarkVersion, 'at'> & { readonly status: 'created' | 'updated' | 'unchanged' }

export function benchmarksFolder(projectDir: string): string {
  return join(projectDir, '.evsys', 'benchmarks')
}

/** Takes a benchmark folder in under a name; the same tasks again change nothing. */
export async function keepBenchmark(
  projectDir: string,
  folder: string,
  { name, at, signal }: { name?: string | undefined; at: string; signal: AbortSignal },
): Promise<KeptBenchmark> {
  const read = await readBenchmarkFolder(folder, { signal })
  const kept = checkedName(name ?? read.name)
  const versions = await versionsOf(projectDir, kept)
  const same = versions.find(({ content_hash }) => content_hash === read.hash)
  if (same !== undefined) return { ...without(same), status: 'unchanged' }
  const version = 1 + Math.max(0, ...versions.map((each) => each.version))
  const identity = { benchmark_id: `${kept}@${version}`, name: kept, version }
  const entry = { ...identity, content_hash: read.hash, n_tasks: read.tasks.length, at }
  const place = join(benchmarksFolder(projectDir), kept)
  const making = join(place, `.making-${process.pid}-${version}`)
  await rm(making, { recursive: true, force: true })
  await mkdir(making, { recursive: true })
  for (const file of ['tasks.jsonl', 'metadata.yaml', 'judge-labels.jsonl']) {
    await cp(join(folder, file), join(making, file), { errorOnExist: true }).catch((cause: unknown) => {
      if (systemCode(cause) !== 'ENOENT') throw cause
    })
  }
  await writeFileAtomic(join(making, 'version.json'), `${JSON.stringify(entry, null, 2)}\n`)
  await rename(making, join(place, String(version))) // whole or not there
  return { ...without(entry), status: versions.length === 0 ? 'created' : 'updated' }
}

/** The folder of a stored benchmark: `name` (its newest version) or `name@version`. */
export async function findBenchmark(
  projectDir: string,
  reference: string,
): Promise<BenchmarkVersion & { folder: string }> {
  const [, name = reference, number] = /^(.+)@(\d+)$/.exec(reference) ?? []
  const versions = await versionsOf(projectDir, name)
  const found = number === undefined ? versions.at(-1) : versions.find(({ version }) => version === Number(number))
  if (found !== undefined) {
    const folder = join(benchmarksFolder(projectDir), found.name, String(found.version))
    await requireUnchanged(found, folder)
    return { ...found, folder }
  }
  const known =
    versions.length > 0 ? versions.map(({ benchmark_id }) => benchmark_id) : await entries(benchmarksFolder(projectDir))
  throw new EvsysError('DATA_READ', `no benchmark of this project is called "${reference}"`, {
    fix:
      known.length === 0
        ? 'keep one with `evsys benchmark upload FOLDER`, or name its folder.'
        : suggest(reference, known),
  })
}

// A version never changes: scores under its id stand for these tasks.
async function requireUnchanged({ benchmark_id, content_hash }: BenchmarkVersion, folder: string): Promise<void> {
  const { signal } = new AbortController()
  const { hash } = await readBenchmarkFolder(folder, { signal })
  if (hash === content_hash) return
  throw new EvsysError('BLOB_CORRUPT', `the tasks of ${benchmark_id} have changed since it was stored: ${folder}`, {
    fix: `remove that folder and keep the benchmark again with \`evsys benchmark upload FOLDER\`.`,
  })
}

async function versionsOf(projectDir: string, name: string): Promise<BenchmarkVersion[]> {
  if (!Name.safeParse(name).success) return []
  const place = join(benchmarksFolder(projectDir), name)
  const numbers = (await entries(place)).filter((each) => /^\d+$/.test(each))
  const texts = await Promise.all(numbers.map((each) => readFile(join(place, each, 'version.json'), 'utf8')))
  return texts.map((text) => Version.parse(JSON.parse(text))).sort((a, b) => a.version - b.version)
}

async function entries(folder: string): Promise<string[]> {
  return readdir(folder).catch((cause: unknown) => {
    if (systemCode(cause) === 'ENOENT') return []
    throw cause
  })
}

function checkedName(name: string): string {
  if (Name.safeParse(name).success) return name
  throw new EvsysError('CONFIG_NAME', `"${name}" cannot be the name of a benchmark`, {
    fix: 'give it another with --name: letters, digits, ".", "_" and "-".',
  })
}

function without({ at: _at, ...entry }: BenchmarkVersion): Omit<BenchmarkVersion, 'at'> {
  return entry
}
