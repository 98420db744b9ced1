// Does what a plan says in an open local environment: folders, copies, and commands of the Dockerfile, without network.
import { lstat } from 'node:fs/promises'
import { basename, posix } from 'node:path'
import type { OpenEnvironment } from '../../contracts/index.ts'
import { SandboxBuildFailedError } from './environment-error.ts'
import type { BuildStep } from './plan-dockerfile.ts'

type Place = Pick<OpenEnvironment, 'exec' | 'upload'>

/** Does all steps in order; the first that fails is told with its line. */
export async function buildLocally(place: Place, steps: readonly BuildStep[], signal: AbortSignal): Promise<void> {
  for (const step of steps) {
    signal.throwIfAborted()
    if (step.kind === 'folder') await mustDo(place, ['mkdir', '-p', step.target], { what: step.target, signal })
    else if (step.kind === 'copy') await copy(place, step, signal)
    else {
      const { argv, cwd, env, line } = step
      await mustDo(place, argv, { what: `line ${line} of the Dockerfile`, cwd, env, signal })
    }
  }
}

async function copy(place: Place, step: Extract<BuildStep, { kind: 'copy' }>, signal: AbortSignal): Promise<void> {
  const { sources, target, mode } = step
  const isFolder = await place.exec({ argv: ['test', '-d', target], cwd: '/', network: false }, signal)
  const intoFolder = step.intoFolder || isFolder.exitCode === 0
  for (const source of sources) {
    const found = await lstat(source)
    const end = found.isDirectory() || !intoFolder ? target : posix.join(target, basename(source))
    await place.upload(source, end)
    if (mode === undefined) continue
    const argv = ['chmod', '-R', mode.toString(8), end]
    await mustDo(place, argv, { what: `line ${step.line} of the Dockerfile`, signal })
  }
}

type Doing = { what: string; cwd?: string; env?: Readonly<Record<string, string>>; signal: AbortSignal }

async function mustDo(place: Place, argv: readonly string[], { what, signal, cwd = '/', env }: Doing): Promise<void> {
  const result = await place.exec({ argv, cwd, network: false, ...(env === undefined ? {} : { env }) }, signal)
  if (result.exitCode === 0) return
  const said = `${result.stdout}${result.stderr}`.trim().slice(-400)
  throw new SandboxBuildFailedError(
    `the environment "local" could not build ${what}: ${said === '' ? `exit code ${result.exitCode}` : said}`,
    { fix: 'use the environment `docker`, which builds the image itself.' },
  )
}
