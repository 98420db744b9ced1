// `evsys serve`: a trainer for any client of the Tinker protocol, until it is interrupted.
import { once } from 'node:events'
import { join } from 'node:path'
import { type EngineKind, loadLocalTrainer } from '../../backends/index.ts'
import type { CpuEngineInfo, MeasuredEngine } from '../../engine/index.ts'
import { EvsysError, suggest } from '../../kernel/index.ts'
import { loadLab } from '../../lab/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { projectOf, withRecord } from '../context/project.ts'
import { type Fact, labelledLines } from '../output/table.ts'
import { shortPath, speedText } from '../output/text.ts'

export type ServeOptions = {
  readonly port?: number | undefined
  readonly host?: string | undefined
  readonly model?: readonly string[] | undefined
  readonly engine?: EngineKind | undefined
  readonly dir?: string | undefined
  readonly quota?: Readonly<Record<string, number>> | undefined
}

const usualPort = 10_600
const bundled = ['evsys/nano', 'evsys/tiny']
const loopback = ['127.0.0.1', '::1', 'localhost']

export async function serve(context: CommandContext, options: ServeOptions): Promise<ExitCode> {
  const { output, cwd, env, signal } = context
  const { port = usualPort, host = '127.0.0.1', model: models = bundled, engine = 'cpu' } = options
  const keys = (env.EVSYS_SERVE_KEYS ?? '').split(',').filter((key) => key !== '')
  if (keys.length === 0 && !loopback.includes(host)) {
    throw new EvsysError('CLI_USAGE', `serving on ${host} would let everybody in`, {
      fix: 'set EVSYS_SERVE_KEYS to one or more keys, separated by commas.',
    })
  }
  const project = (await projectOf(context)) ?? cwd
  const dir = options.dir ?? join(project, '.evsys', 'trainer')
  const { gigabytes, ...counts } = options.quota ?? {}
  const quota = gigabytes === undefined ? counts : { ...counts, bytes: gigabytes * 1e9 }
  const named = await servedModels(context, models)
  const aliases = Object.fromEntries(named.flatMap(({ name, trained }) => (trained ? [[name, trained.path]] : [])))
  const bases = [...new Set(named.map(({ name, trained }) => trained?.base ?? name))]
  const { openLocalTrainer, serveTrainer } = await loadLocalTrainer()
  await context.holding('the trainer', async () => {
    const onNotice = (text: string) => output.notice(text)
    await using trainer = await openLocalTrainer({
      engine,
      models: bases,
      aliases,
      project,
      dir,
      keys,
      quota,
      onNotice,
    })
    await using server = await serveTrainer(trainer, { port, host })
    const key = keys.length === 0 ? 'tml-local' : 'one of EVSYS_SERVE_KEYS'
    const checkpoints = named.flatMap(({ name, trained }) => (trained === undefined ? [] : [{ name, ...trained }]))
    output.result({ url: server.url, engine, models, checkpoints, key_required: keys.length > 0, dir }, () =>
      [
        `${output.colors.green('serving')} ${models.join(', ')} on ${output.colors.bold(server.url)} (engine ${engine})`,
        ...checkpoints.map(({ name, run, step, base }) => `  ${name}: ${run} at step ${step}, over ${base}`),
        `  TINKER_BASE_URL=${server.url} TINKER_API_KEY=${key}`,
        `  OpenAI-compatible: ${server.url}/v1${keys.length === 0 ? ', no key needed' : ''}`,
      ].join('\n'),
    )
    if (!signal.aborted) await once(signal, 'abort')
  })
  return exitCodes.interrupted
}

type ServedName = {
  readonly name: string
  /** Absent: a base model. */
  readonly trained?: { readonly path: string; readonly base: string; readonly run: string; readonly step: number }
}

/** What names lead to: runs and arms of the record to their checkpoints, all others are base models. */
async function servedModels(context: CommandContext, names: readonly string[]): Promise<ServedName[]> {
  const candidates = names.filter((name) => !bundled.includes(name))
  if (candidates.length === 0 || (await projectOf(context)) === undefined) return names.map((name) => ({ name }))
  return await withRecord(context, {}, async ({ store }) => {
    const { trainedWeights } = await loadLab()
    const served: ServedName[] = []
    for (const name of names) {
      const found = bundled.includes(name) ? undefined : await trainedWeights(store, name, { kind: 'sampler' })
      if (found === undefined) {
        served.push({ name })
        continue
      }
      const { run, checkpoint } = found
      const { backend, model } = run.config
      if (backend.kind !== 'local') {
        throw new EvsysError(
          'CLI_USAGE',
          `${name} was trained on the backend "${backend.kind}": its weights are not here`,
          {
            fix: 'serve runs of the backend local, or sample from the service that trained it.',
          },
        )
      }
      served.push({ name, trained: { path: checkpoint.ref, base: model.name, run: run.name, step: checkpoint.step } })
    }
    return served
  })
}

// `evsys engine info | build`: what the CPU engine computes with on this machine, and making its native kernels before a run does.
export type EngineOptions = { readonly force?: true | undefined }

export async function engine(context: CommandContext, action: string, options: EngineOptions): Promise<ExitCode> {
  if (action === 'build') return await build(context, options)
  if (action === 'info') return await info(context, options)
  throw new EvsysError('CLI_USAGE', `there is no "engine ${action}"`, { fix: suggest(action, ['build', 'info']) })
}

async function info(context: CommandContext, { force }: EngineOptions): Promise<ExitCode> {
  if (force === true) throw new EvsysError('CLI_USAGE', '--force is for `engine build`', { fix: 'leave --force away.' })
  const { output, cwd, env } = context
  const { loadCpuEngine } = await import('../../engine/index.ts')
  const { inspectCpuEngine } = await loadCpuEngine()
  const found = await inspectCpuEngine({ env: { ...env }, cacheFolder: await cacheOf(context) })
  const { kernels, why, sourceHash, cpuFeatures, native, measured, problem } = found
  const document = {
    engine: 'cpu',
    kernels,
    why,
    ...measuredFields(measured),
    kernels_hash: sourceHash,
    cpu_features: cpuFeatures,
    native: {
      state: native === undefined ? 'no compiler' : native.isBuilt ? 'built' : 'not built',
      compiler: native?.compiler,
      compiler_version: native?.compilerVersion,
      file: native?.file,
    },
    problem,
  }
  output.result(document, () => {
    const facts: Fact[] = [
      ['engine', `cpu, ${kernels === 'native' ? 'native kernels' : 'WebAssembly kernels'}: ${why}`],
      ...measuredFacts(measured),
      ['kernels', sourceHash.slice(0, 16)],
      ['processor', cpuFeatures],
      ['native', nativeText(found, cwd)],
      ...(problem === undefined ? [] : [['problem', problem, output.colors.red] satisfies Fact]),
    ]
    return labelledLines(facts, output)
  })
  return exitCodes.done
}

async function build(context: CommandContext, options: EngineOptions): Promise<ExitCode> {
  const { output, cwd, env } = context
  const { loadCpuEngine } = await import('../../engine/index.ts')
  const { buildCpuEngine } = await loadCpuEngine()
  const cacheFolder = await cacheOf(context)
  const force = options.force === true
  const built = await context.holding('the compiler', () =>
    buildCpuEngine({ env: { ...env }, cacheFolder, force, onBuild: (text) => output.notice(text) }),
  )
  const { native, cpuFeatures, sourceHash, tookS, measured } = built
  const document = {
    built: tookS !== undefined,
    took_s: tookS === undefined ? undefined : Number(tookS.toFixed(3)),
    compiler: native.compiler,
    compiler_version: native.compilerVersion,
    cpu_features: cpuFeatures,
    kernels_hash: sourceHash,
    file: native.file,
    ...measuredFields(measured),
  }
  output.result(document, () => {
    const { green } = output.colors
    const head =
      tookS === undefined
        ? `the native kernels are there already; --force compiles them again`
        : `${green('compiled')} the native kernels in ${tookS.toFixed(1)} s`
    const facts: Fact[] = [
      ['compiler', `${native.compiler} (${native.compilerVersion})`],
      ['processor', cpuFeatures],
      ['file', shortPath(native.file, cwd)],
      ...measuredFacts(measured),
    ]
    return `${head}\n\n${labelledLines(facts, output)}`
  })
  return exitCodes.done
}

async function cacheOf({ env }: CommandContext): Promise<string> {
  const { cacheFolder } = await import('../../models/index.ts')
  return cacheFolder(env)
}

function measuredFields(measured: MeasuredEngine | undefined) {
  if (measured === undefined) return {}
  const { id, threads, gflops } = measured
  return { engine_id: id, threads, gflops: Number(gflops.toPrecision(3)) }
}

function measuredFacts(measured: MeasuredEngine | undefined): Fact[] {
  if (measured === undefined) return []
  const { id, threads, gflops } = measured
  return [
    ['id', id],
    ['threads', String(threads)],
    ['speed', speedText(gflops)],
  ]
}

function nativeText(info: CpuEngineInfo, cwd: string): string {
  const { native, kernels } = info
  if (native === undefined)
    return 'not available: install a C compiler, e.g. `apt install gcc`, for about twice the speed'
  const by = `${native.compiler} (${native.compilerVersion})`
  if (native.isBuilt) return `built by ${by}: ${shortPath(native.file, cwd)}`
  const when = kernels === 'native' ? 'the first run compiles them in some seconds, or' : 'compiled by'
  return `not built yet: ${when} \`evsys engine build\`, with ${by}`
}
