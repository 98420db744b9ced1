// The process that holds plugins for the controller: it loads them, describes them and checks params with their schemas. Its
// environment is scrubbed and its memory bounded by guarded-process.ts.
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { AnyPlugin } from '../../contracts/index.ts'
import type { Problem } from '../evsys-error.ts'
import { openParentLink } from '../processes/parent-link.ts'
import { startWatchdog } from '../processes/watchdog.ts'
import { checkParams } from './check-params.ts'
import { loadProblems, placeInStack } from './load-problem.ts'
import { placeOfLine } from './locate-text.ts'
import { pluginCard } from './plugin-card.ts'
import { CheckMessage, type ChildMessage, StartMessage } from './plugin-protocol.ts'
import { preparePlugin } from './prepare-plugin.ts'
import { createRegistry } from './registry.ts'

const exit = process.exit.bind(process)

async function main(): Promise<void> {
  Error.stackTraceLimit = 100 // enough to reach the author's line under a library's
  const link = await openParentLink()
  const { files, projectDir, timeoutMs } = StartMessage.parse(link.start)
  const say = (message: ChildMessage) => link.say(message)

  const prepared = files.map((file) => preparePlugin(file, projectDir))
  say({ say: 'hashes', hashes: prepared.map(({ hash }) => hash) })

  let current = files[0]?.file ?? ''
  const authored = prepared.flatMap((each) => each.files)
  reportTheEnd(
    (problems) => say({ say: 'failing', problems }),
    authored,
    () => current,
  )
  const watchdog = startWatchdog({ token: link.token, timeoutMs, files: authored, parentPid: process.ppid })

  const registry = createRegistry()
  const seen = new Set<AnyPlugin>()
  for (const [index, { file, hash, load }] of prepared.entries()) {
    current = file.file
    say({ say: 'loading', index })
    watchdog.begin()
    const { plugins, problems } = await load()
    await setTimeout(0) // what a file left behind for the next turn, timers and rejections, belongs to its loading
    await setImmediate()
    watchdog.end()
    const fresh = plugins.filter(({ plugin }) => !seen.has(plugin)) // one plugin may be exported by two files
    const described = fresh.map(({ plugin, origin }) => {
      seen.add(plugin)
      const card = pluginCard(plugin, { origin: file.label, hash })
      return { card, where: origin.where ?? placeOfLine(file.file, 1).where, plugin, origin }
    })
    for (const { plugin, origin } of described) tryAdd(() => registry.add(plugin, origin))
    say({ say: 'loaded', index, plugins: described.map(({ card, where }) => ({ card, where })), problems })
  }
  say({ say: 'ready' })

  for await (const message of link.messages) {
    for (const { index, type, kind, params } of CheckMessage.parse(message).requests) {
      say({ say: 'checking', index })
      watchdog.begin()
      const { plugin, params: fixed } = registry.get(type, kind)
      const result = checkParams(plugin, params, fixed)
      watchdog.end()
      say({ say: 'checked', index, result })
    }
  }
}

// A conflict is the controller's to report, which knows the built-ins too; here the first one answers.
function tryAdd(add: () => void): void {
  try {
    add()
  } catch {}
}

/** Tells the controller why this process ends, where that can be told. */
function reportTheEnd(report: (problems: Problem[]) => void, files: readonly string[], current: () => string): void {
  const problem = (message: string, error: Error): Problem => ({
    code: 'PLUGIN_LOAD',
    message,
    fix: 'importing a plugin should only define it; work belongs in its functions.',
    ...(placeInStack(error, files) ?? placeOfLine(current(), 1)),
  })
  const end: typeof process.exit = (code) => {
    report([problem(`it ended the process with process.exit(${code ?? ''}) while it was loaded`, new Error())])
    return exit(1)
  }
  process.exit = end
  const crash = (cause: unknown) => {
    report(loadProblems(cause, current(), { files }))
    exit(1)
  }
  process.on('uncaughtException', crash)
  process.on('unhandledRejection', crash)
}

await main()
