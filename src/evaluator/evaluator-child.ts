// The process of an evaluator: it opens clients of backends, renders prompts and draws answers. No recipe runs in it, and no expected
// answer is known to it.
import { builtins } from '../builtins/index.ts'
import { createScorerPlugins } from '../evaluate/index.ts'
import { createRedactor, EvsysError, type Parent, problemsOf, sayWarnings, serve } from '../kernel/index.ts'
import { evaluatorProtocol } from './evaluator-protocol.ts'
import { AnsweringPlaces } from './open-answering.ts'
import { type EvaluationServices, OpenEvaluation } from './serve-evaluations.ts'

/** Longest that its event loop may stand still: a template that never ends is ended with the process. */
const BLOCKED_MS = 60_000

const builtIn = builtins()
builtIn.catch(() => {}) // thrown where they are used
const places = new AnsweringPlaces()
const begun = new Map<number, OpenEvaluation>()
const known: Record<string, string> = {}
let redact = createRedactor()
let shared: EvaluationServices | undefined

function openedAs(evaluation: number): OpenEvaluation {
  const found = begun.get(evaluation)
  if (found === undefined) throw new EvsysError('INTERRUPTED', 'the evaluation is over')
  return found
}

async function openServices(
  start: { readonly project_dir: string; readonly plugins: Parameters<typeof createScorerPlugins>[0]['places'] },
  parent: Parent<typeof evaluatorProtocol>,
): Promise<EvaluationServices> {
  const watchdog = parent.watch({ timeoutMs: BLOCKED_MS })
  watchdog.keepTime()
  const { signal } = new AbortController()
  const { registry, need } = createScorerPlugins({
    builtins: await builtIn,
    places: start.plugins,
    projectDir: start.project_dir,
    signal,
    onRead: (files) => watchdog.know(files),
  })
  return { registry, need, signal, log: sayWarnings((text) => parent.notify('warned', redact(text))) }
}

await serve(
  evaluatorProtocol,
  (parent) => ({
    async open(start) {
      shared = await openServices(start, parent)
      return null
    },
    async begin({ evaluation, of }) {
      if (shared === undefined) throw new EvsysError('INTERNAL', 'the evaluator is not open')
      Object.assign(known, of.secrets)
      redact = createRedactor(known)
      const opened = await OpenEvaluation.begin(of, places, shared, {
        act: (order) => parent.call('act', { evaluation, order }),
        onAnswer: () => parent.notify('answered', { evaluation }),
      })
      begun.set(evaluation, opened)
      return { takes_tools: opened.takesTools }
    },
    answer: async ({ evaluation, tasks }, signal) => redact(await openedAs(evaluation).answer(tasks, signal)),
    generate: async ({ evaluation, asked }, signal) => redact(await openedAs(evaluation).generate(asked, signal)),
    async end({ evaluation }) {
      const opened = begun.get(evaluation)
      begun.delete(evaluation)
      await opened?.[Symbol.asyncDispose]()
      return null
    },
    async close() {
      await places[Symbol.asyncDispose]()
      return null
    },
  }),
  { problemsOf: (error) => redact(problemsOf(error)) },
)
