// Brings files out of an environment before it is gone, to a folder of the trial, with a list of what became of each. Best effort:
// an artifact that is missing is reported in the list and fails nothing.
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join, posix } from 'node:path'
import type { OpenEnvironment } from '../../contracts/index.ts'
import { messageOf, writeFileAtomic } from '../../kernel/index.ts'
import { ignoreRules } from '../task/ignore-rules.ts'
import { type Artifact, artifactPlace, manifestName, placesOverlap } from '../task/index.ts'

/** What became of one artifact; `empty` and `skipped` are not failures. */
interface ArtifactEntry {
  readonly source: string
  /** Relative to the folder of artifacts. */
  readonly destination: string
  readonly type: 'file' | 'directory'
  readonly status: 'ok' | 'failed' | 'empty' | 'skipped'
  readonly service: string
  /** Why it failed or was skipped. */
  readonly reason?: string | undefined
}

/** The folder that is collected in every task. */
const artifactsFolder = '/logs/artifacts'

interface CollectOptions {
  readonly environment: Pick<OpenEnvironment, 'download' | 'workdir'>
  readonly entries: readonly Artifact[]
  /** Folder of artifacts on this machine. */
  readonly target: string
  readonly signal: AbortSignal
}

/** Collects `/logs/artifacts` and `entries`, and writes `manifest.json`. Rejects only when cancelled. */
export async function collectArtifacts({
  environment,
  entries,
  target,
  signal,
}: CollectOptions): Promise<ArtifactEntry[]> {
  const manifest: ArtifactEntry[] = []
  const taken: string[] = []
  for (const artifact of withConvention(entries)) {
    signal.throwIfAborted()
    const { service = 'main' } = artifact
    const source = posix.resolve(environment.workdir, artifact.source)
    const destination = artifactPlace({ ...artifact, source })
    const entry = { source: artifact.source, destination, service }
    if (service !== 'main') {
      const reason = `this environment has no service "${service}"`
      manifest.push({ ...entry, type: 'file', status: 'skipped', reason })
    } else if (destination === manifestName || taken.some((place) => placesOverlap(place, destination))) {
      manifest.push({ ...entry, type: 'file', status: 'skipped', reason: 'another artifact has its place' })
    } else {
      taken.push(destination)
      manifest.push({ ...entry, ...(await collect(environment, { ...artifact, source }, join(target, destination))) })
    }
  }
  await mkdir(target, { recursive: true }).catch(() => undefined)
  await writeFileAtomic(join(target, manifestName), `${JSON.stringify(manifest, null, 2)}\n`).catch(() => undefined)
  return manifest
}

type Outcome = Pick<ArtifactEntry, 'type' | 'status' | 'reason'>

async function collect(
  environment: CollectOptions['environment'],
  { source, exclude }: Artifact,
  target: string,
): Promise<Outcome> {
  try {
    await environment.download(source, target)
    const found = await stat(target)
    if (!found.isDirectory()) return { type: 'file', status: 'ok' }
    await pruneExcluded(target, exclude)
    return { type: 'directory', status: (await readdir(target)).length === 0 ? 'empty' : 'ok' }
  } catch (error) {
    return { type: 'file', status: 'failed', reason: messageOf(error) }
  }
}

function withConvention(entries: readonly Artifact[]): Artifact[] {
  const isConvention = ({ source, service = 'main' }: Artifact) =>
    service === 'main' && source.replace(/\/+$/, '') === artifactsFolder
  return entries.some(isConvention) ? [...entries] : [{ source: artifactsFolder, exclude: [] }, ...entries]
}

// Patterns of an artifact's `exclude`, as `tar --exclude` reads them: a pattern matches a whole path or any part of its end.

/** Removes what `patterns` exclude from a folder that was copied to this machine. */
async function pruneExcluded(folder: string, patterns: readonly string[]): Promise<void> {
  if (patterns.length === 0) return
  const excluded = ignoreRules(patterns)
  const visit = async (relative: string): Promise<void> => {
    for (const entry of await readdir(join(folder, relative), { withFileTypes: true })) {
      const path = relative === '' ? entry.name : `${relative}/${entry.name}`
      // A pattern such as `build/` means folders: what is in one has a path that it matches.
      if (excluded(path) || (entry.isDirectory() && excluded(`${path}/x`))) {
        await rm(join(folder, path), { recursive: true, force: true })
      } else if (entry.isDirectory()) await visit(path)
    }
  }
  await visit('')
}
