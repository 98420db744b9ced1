// The process of a scorer: it holds the tasks with their expected answers, the verifiers and the metrics of one benchmark. Out
// of it come instructions and scores, nothing else.

import type { AnyPlugin, JudgeReport, PluginSpec } from '../../contracts/index.ts'
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
import { loadModelPlugins, modelClient } from '../../models/index.ts'
import { calibrateJudge, checkLabels } from '../judge/calibrate-judge.ts'
import { readJudgeLabels } from '../judge/judge-labels.ts'
import { createJudgeModels } from '../judge/judge-models.ts'
import { judgeSecrets } from '../judge/judge-secrets.ts'
import { evaluatePlugins } from '../plugins.ts'
import { prepareScoring } from './prepare-scoring.ts'
import { answerKey, type ScoringPlan, scorePredictions } from './score-predictions.ts'
import { createScorerPlugins } from './scorer-plugins.ts'
import { type FromScorer, ScorerSecrets, ScorerStart, ToScorer } from './scorer-protocol.ts'
import { sealedTask } from './sealed-task.ts'

async function main(): Promise<void> {
  const link = await openParentLink()
  const messages = link.messages[Symbol.asyncIterator]()
  const { benchmark, source, project_dir, plugins, secrets, verifier_ms, verdicts_dir } = ScorerStart.parse(link.start)
  let redact = createRedactor(secrets)
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
    log: () => {}, // what a verifier has to say of an answer, nobody reads
  }
  const judges = createJudgeModels(services, verdicts_dir)

  const open = async () => {
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
      onVerify: (task_id, sample) => link.say({ type: 'verifying', task_id, sample } satisfies FromScorer),
    })
    const names = await judgeSecrets(plan.tasks, services)
    if (names.length > 0) {
      say({ type: 'needs', secrets: names })
      Object.assign(known, ScorerSecrets.parse((await messages.next()).value).secrets)
      redact = createRedactor(known)
    }
    const labels = 'folder' in source ? await readJudgeLabels(source.folder, signal) : []
    checkLabels(labels, plan.tasks)
    return { plan, labels }
  }

  const judgeReport = async (plan: ScoringPlan, labels: Awaited<ReturnType<typeof open>>['labels']) => {
    const calibration = await calibrateJudge(plan, labels, signal)
    const used = judges.report()
    const judge: JudgeReport | undefined =
      used === undefined ? undefined : { ...used, ...(calibration === undefined ? {} : { calibration }) }
    return judge === undefined ? {} : { judge }
  }

  try {
    const { plan, labels } = await open()
    watchdog.keepTime()
    const tasks = plan.tasks.map(sealedTask)
    say({ type: 'ready', hash: plan.hash, tasks })
    for (let told = await messages.next(); told.done !== true; told = await messages.next()) {
      const { predictions, excluded, limit, rewards = [] } = ToScorer.parse(told.value)
      const given = new Map(
        rewards.map(({ task_id, sample, reward, reason = 'its trial has no reward' }) => [
          answerKey(task_id, sample),
          reward === null ? { failure: reason } : { reward },
        ]),
      )
      const reasons = new Map(excluded.map(({ task_id, sample, reason }) => [answerKey(task_id, sample), reason]))
      try {
        const scored = await scorePredictions(plan, predictions, { limit, signal, excluded: reasons, given })
        say({ type: 'scored', scored: { ...scored, ...(await judgeReport(plan, labels)) } })
      } catch (error) {
        fail(error)
      }
    }
  } catch (error) {
    fail(error)
  }
}

await main()
