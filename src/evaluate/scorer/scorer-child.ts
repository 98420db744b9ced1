// The process of a scorer: it holds the tasks with their expected answers, the verifiers and the metrics of one benchmark. Out
// of it come instructions and scores, nothing else.

import { dataPlugins } from '../../data/index.ts'
import {
  createRedactor,
  EvsysError,
  keyedRandom,
  openParentLink,
  problemsOf,
  startWatchdog,
  toRecord,
} from '../../kernel/index.ts'
import { evaluatePlugins } from '../plugins.ts'
import { prepareScoring } from './prepare-scoring.ts'
import { answerKey, scorePredictions } from './score-predictions.ts'
import { createScorerPlugins } from './scorer-plugins.ts'
import { type FromScorer, ScorerStart, ToScorer } from './scorer-protocol.ts'

async function main(): Promise<void> {
  const link = await openParentLink()
  const { benchmark, source, project_dir, plugins, secrets, verifier_ms } = ScorerStart.parse(link.start)
  const redact = createRedactor(secrets)
  const say = (message: FromScorer) => link.say(redact(message))
  const fail = (error: unknown) => {
    const problems = problemsOf(error).map(toRecord)
    say({
      type: 'failed',
      problems: problems.length === 0 ? [new EvsysError('INTERNAL', 'unknown').toRecord()] : problems,
    })
  }
  const { signal } = new AbortController()
  // The clock of a verification: between two of them the event loop turns.
  const watchdog = startWatchdog({ token: link.token, timeoutMs: verifier_ms, files: [], parentPid: process.ppid })

  const open = async () => {
    const { registry, hashOf, need } = createScorerPlugins({
      builtins: [...dataPlugins, ...evaluatePlugins],
      places: plugins,
      projectDir: project_dir,
      signal,
      onRead: (files) => watchdog.know(files),
    })
    const secret = (name: string) => {
      const value = Object.hasOwn(secrets, name) ? secrets[name] : undefined
      if (value !== undefined) return value
      throw new EvsysError('SECRET_MISSING', `the secret ${name} is not set`)
    }
    return prepareScoring({
      benchmark,
      source,
      hashOf,
      verifierMs: verifier_ms,
      services: {
        registry,
        need,
        signal,
        secret,
        random: (...path) => keyedRandom(0, 'benchmark', benchmark.name, ...path),
        log: () => {}, // what a verifier has to say of an answer, nobody reads
      },
      onVerify: (task_id, sample) => link.say({ type: 'verifying', task_id, sample } satisfies FromScorer),
    })
  }

  try {
    const plan = await open()
    watchdog.keepTime()
    const tasks = plan.tasks.map(({ task_id, instruction }) => ({ task_id, instruction }))
    say({ type: 'ready', hash: plan.hash, tasks })
    for await (const message of link.messages) {
      const { predictions, excluded, limit } = ToScorer.parse(message)
      const reasons = new Map(excluded.map(({ task_id, sample, reason }) => [answerKey(task_id, sample), reason]))
      try {
        say({ type: 'scored', scored: await scorePredictions(plan, predictions, { limit, signal, excluded: reasons }) })
      } catch (error) {
        fail(error)
      }
    }
  } catch (error) {
    fail(error)
  }
}

await main()
