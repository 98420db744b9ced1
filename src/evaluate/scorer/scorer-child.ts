// The process of a scorer: it holds the tasks with their expected answers, the verifiers and the metrics of one benchmark. Out
// of it come instructions and scores, nothing else.

import type { AnyPlugin, PluginSpec, Scored } from '../../contracts/index.ts'
import { dataPlugins } from '../../data/index.ts'
import {
  createRedactor,
  EvsysError,
  keyedRandom,
  type Parent,
  problemsOf,
  sayWarnings,
  serve,
} from '../../kernel/index.ts'
import { loadModelPlugins, modelClient } from '../../models/index.ts'
import { evaluatePlugins } from '../plugins.ts'
import { calibrateJudge, checkLabels, readJudgeLabels } from './calibrate-judge.ts'
import { createJudgeModels, judgeSecrets } from './judge-models.ts'
import { sealedTask } from './load-tasks.ts'
import { prepareScoring } from './prepare-scoring.ts'
import { answerKey, scorePredictions } from './score-predictions.ts'
import { scoredAnswers, writeAnswers } from './scored-answers.ts'
import { createScorerPlugins } from './scorer-plugins.ts'
import { type ScorerStart, scorerProtocol, type ToScorer } from './scorer-protocol.ts'

let redact = createRedactor()
let scoring: ((message: ToScorer) => Promise<Scored>) | undefined

// Nothing leaves this process with a secret in it, errors included.
await serve(
  scorerProtocol,
  (parent) => ({
    async open(start) {
      redact = createRedactor(start.secrets)
      const { plan, score } = await openScoring(start, parent)
      scoring = score
      return redact({ hash: plan.hash, tasks: plan.tasks.map(sealedTask) })
    },
    async score(message) {
      if (scoring === undefined) throw new EvsysError('INTERNAL', 'the scorer is not open')
      return redact(await scoring(message))
    },
  }),
  { problemsOf: (error) => redact(problemsOf(error)) },
)

async function openScoring(
  { benchmark, source, project_dir, plugins, secrets, verifier_ms, verdicts_dir }: ScorerStart,
  parent: Parent<typeof scorerProtocol>,
) {
  const { signal } = new AbortController()
  // The clock of a verification: between two of them the event loop turns.
  const watchdog = parent.watch({ timeoutMs: verifier_ms })
  const builtins: AnyPlugin[] = [...dataPlugins, ...evaluatePlugins, ...(await loadModelPlugins())]
  const { registry, hashOf, need } = createScorerPlugins({
    builtins,
    places: plugins,
    projectDir: project_dir,
    signal,
    onRead: (files) => watchdog.know(files),
  })
  const known: Record<string, string> = { ...secrets }
  const services = {
    registry,
    need,
    projectDir: project_dir,
    signal,
    secret(name: string) {
      const value = Object.hasOwn(known, name) ? known[name] : undefined
      if (value !== undefined) return value
      throw new EvsysError('SECRET_MISSING', `the secret ${name} is not set`)
    },
    random: (...path: (string | number)[]) => keyedRandom(0, 'benchmark', benchmark.name, ...path),
    log: sayWarnings((text) => parent.notify('warned', redact(text))),
  }
  const judges = createJudgeModels(services, verdicts_dir)
  const plan = await prepareScoring({
    benchmark,
    source,
    hashOf,
    verifierMs: verifier_ms,
    services,
    model: async (which: string | PluginSpec) => {
      const spec = typeof which === 'string' ? modelClient(which) : which
      await need('inference_client', spec.kind)
      return judges.model(spec)
    },
    onVerify: (task_id, sample) => parent.notify('verifying', { task_id, sample }),
  })
  const names = await judgeSecrets(plan.tasks, services)
  if (names.length > 0) {
    Object.assign(known, await parent.call('secrets', [...names]))
    redact = createRedactor(known)
  }
  const labels = 'folder' in source ? await readJudgeLabels(source.folder, signal) : []
  checkLabels(labels, plan.tasks)
  watchdog.keepTime()

  const score = async ({ predictions, excluded, limit, rewards = [], answers_file }: ToScorer): Promise<Scored> => {
    const given = new Map(
      rewards.map(({ task_id, sample, reward, reason = 'its trial has no reward' }) => [
        answerKey(task_id, sample),
        reward === null ? { failure: reason } : { reward },
      ]),
    )
    const reasons = new Map(excluded.map(({ task_id, sample, reason }) => [answerKey(task_id, sample), reason]))
    const scored = await scorePredictions(plan, predictions, { limit, signal, excluded: reasons, given })
    if (answers_file !== undefined) await writeAnswers(answers_file, redact(scoredAnswers(plan, predictions, scored)))
    const calibrated = await calibrateJudge(plan, labels, signal)
    const used = judges.report()
    return { ...scored, judge: used && { ...used, ...calibrated } }
  }
  return { plan, score }
}
