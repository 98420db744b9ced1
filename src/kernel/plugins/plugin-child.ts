// The process that holds plugins for the controller: it loads them, describes them and checks params with their schemas. Plugins
// share this process, so whatever they may replace is kept before the first of them runs.
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { AnyPlugin } from '../../contracts/index.ts'
import { messageOf, type Problem } from '../evsys-error.ts'
import { type Parent, serve } from '../processes/serve.ts'
import type { Watchdog } from '../processes/watchdog.ts'
import { toWire } from '../processes/wire.ts'
import { checkParams, type ParamsResult, pluginCard } from './equip-plugin.ts'
import { loadProblems, placeInStack, placeOfLine } from './load-problem.ts'
import { type Checks, memoryMb, pluginProtocol, type Start } from './plugin-protocol.ts'
import { type PreparedPlugin, preparePlugin } from './prepare-plugin.ts'
import { createRegistry } from './registry.ts'

const exit = process.exit.bind(process)

class PluginHolder {
  readonly #parent: Parent<typeof pluginProtocol>
  readonly #registry = createRegistry()
  #watchdog: Watchdog | undefined

  constructor(parent: Parent<typeof pluginProtocol>) {
    this.#parent = parent
  }

  async load({ files, projectDir, timeoutMs }: Start): Promise<null> {
    const parent = this.#parent
    Error.stackTraceLimit = 100 // enough to reach the author's line under a library's
    for (const stream of [process.stdout, process.stderr]) makeBlocking(stream)
    const prepared: PreparedPlugin[] = []
    for (const [index, file] of files.entries()) {
      parent.notify('loading', index)
      prepared.push(await preparePlugin(file, projectDir))
    }
    parent.notify(
      'hashes',
      prepared.map(({ hash }) => hash),
    )
    let current = files[0]?.file ?? ''
    const authored = prepared.flatMap((each) => each.files)
    reportTheEnd(
      (problems) => parent.notify('failing', problems),
      authored,
      () => current,
    )
    const watchdog = parent.watch({ timeoutMs, memoryMb, files: authored })
    this.#watchdog = watchdog
    const seen = new Set<AnyPlugin>()
    for (const [index, { file, hash, load }] of prepared.entries()) {
      current = file.file
      parent.notify('loading', index)
      watchdog.begin()
      const { plugins, problems } = await load()
      await setTimeout(0) // what a file left for the next turn, timers and rejections, belongs to its loading
      await setImmediate()
      watchdog.end()
      const fresh = plugins.filter(({ plugin }) => !seen.has(plugin)) // one plugin may be exported by two files
      const described = fresh.map(({ plugin, origin }) => {
        seen.add(plugin)
        const card = pluginCard(plugin, { origin: file.label, hash })
        return { card, where: origin.where ?? placeOfLine(file.file, 1).where, plugin, origin }
      })
      for (const { plugin, origin } of described) tryAdd(() => this.#registry.add(plugin, origin))
      parent.notify('loaded', { index, plugins: described.map(({ card, where }) => ({ card, where })), problems })
    }
    return null
  }

  async check(requests: Checks): Promise<null> {
    for (const { index, type, kind, params } of requests) {
      this.#parent.notify('checking', index)
      this.#watchdog?.begin()
      const { plugin, params: fixed } = this.#registry.get(type, kind)
      const result = checkParams(plugin, params, fixed)
      this.#watchdog?.end()
      this.#parent.notify('checked', { index, result: sendable(result) })
    }
    return null
  }
}

// Nothing catches it: the process ends, with the report below where that is installed.
function crash(error: unknown): Promise<null> {
  queueMicrotask(() => {
    throw error
  })
  return new Promise(() => {})
}

// Params that lead back to themselves cannot be sent.
function sendable(result: ParamsResult): ParamsResult {
  try {
    toWire(result)
    return result
  } catch (cause) {
    return { ok: false, issues: [{ path: [], code: 'invalid', message: `cannot be stored: ${messageOf(cause)}` }] }
  }
}

// A conflict is the controller's to report, which knows the built-ins too; here the first one answers.
function tryAdd(add: () => void): void {
  try {
    add()
  } catch {}
}

// A plugin that prints waits until the controller has read it: a loop that prints is noticed as such and does not fill the memory.
function makeBlocking(stream: object): void {
  const handle: unknown = Reflect.get(stream, '_handle')
  if (typeof handle === 'object' && handle !== null) Reflect.get(handle, 'setBlocking')?.call(handle, true)
}

/** Reports to the controller why this process ends, where that is known. */
function reportTheEnd(report: (problems: Problem[]) => void, files: readonly string[], current: () => string): void {
  const problem = (message: string, error: Error): Problem => ({
    code: 'PLUGIN_LOAD',
    message,
    fix: 'importing a plugin should only define it; work belongs in its functions.',
    ...(placeInStack(error, files) ?? placeOfLine(current(), 1)),
  })
  const end: typeof process.exit = (code) => {
    report([problem(`ended the process with process.exit(${code ?? ''}) while it was loaded`, new Error())])
    return exit(1)
  }
  process.exit = end
  const fail = (cause: unknown) => {
    report(loadProblems(cause, current(), { files }))
    exit(1)
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)
}

await serve(pluginProtocol, (parent) => {
  const holder = new PluginHolder(parent)
  return {
    load: (start) => holder.load(start).catch(crash),
    check: (requests) => holder.check(requests).catch(crash),
  }
})
