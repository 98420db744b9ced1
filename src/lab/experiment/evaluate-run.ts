// An evaluation that a run asked for: whether it may ask, what its weights answer, what that is worth. The run names weights and a
// benchmark; who asks them, how, and what came of it is decided and written here.
import { createHash } from 'node:crypto'
import { join, relative, sep } from 'node:path'
import {
  agentOf,
  type Evaluated,
  type EvaluatedAnswer,
  type OpenInferenceClient,
  type PluginSpec,
  type Prediction,
  type Scored,
  type SealedBenchmark,
} from '../../contracts/index.ts'
import { prompted } from '../../evaluate/index.ts'
import type { AskedWeights, Evaluation } from '../../evaluator/index.ts'
import { announceWait, errorRecord, writeForeignFile } from '../../kernel/index.ts'
import { answersFile, evaluationsFolder, predictionsFile, runFolder } from '../../record/index.ts'
import { type RunRow, requireTraining, type TrainingRunRow } from '../../store/index.ts'
import { placeOfAgent } from '../trials/trial-agents.ts'
import type { EvaluationQuestion } from '../workers/worker-process.ts'
import { type EvalLedger, type FoundEval, refused } from './eval-ledger.ts'
import type { RunHost } from './experiment-session.ts'
import { requireOwnWeights } from './own-weights.ts'

export async function evaluateRun(
  row: RunRow,
  question: EvaluationQuestion,
  {
    ledger,
    caughtUp,
  }: { ledger: EvalLedger /** All that the run has reported so far is in the record. */; caughtUp(): Promise<void> },
  session: RunHost,
): Promise<Evaluated> {
  const { benchmark: name, step, evaluation, weights, systemPrompt, signal, withAnswers } = question
  const run = requireTraining(row)
  if (step === undefined && ledger.hasChoice) await caughtUp()
  ledger.begin(question)
  const declared = session.sealed.sealed.find((each) => each.name === name)
  if (declared === undefined) throw refused(`it names the benchmark ${JSON.stringify(name)}`) // the ledger has refused it
  await requireOwnWeights(run, question, ledger, session)
  if (systemPrompt !== undefined && !session.checked.drivingAlgorithms.has(run.config.algorithm.kind)) {
    throw refused(`it asks ${name} with a system prompt, and its recipe tries none`)
  }
  const benchmark = systemPrompt === undefined ? declared : prompted(declared, systemPrompt)
  const of = evaluationOf(run, question, benchmark, session)
  const found: { deaths: number; predictions: readonly Prediction[] } = { deaths: 0, predictions: [] }
  const scored = await measured(run, question, of, session, found)
  const { deaths, predictions } = found
  const { predictions: _, ...rest } = scored
  const code =
    benchmark.in_folders === true
      ? agentCode(of, session)
      : [...session.evaluator.projectCode(of), ...agentCode(of, session)]
  const result: FoundEval = {
    ...rest,
    weights: 'uri' in weights ? weights.uri : weights.baseModel,
    ...(systemPrompt === undefined ? {} : { system_prompt: systemPrompt }),
    ...(code.length === 0 ? {} : { project_code: code }),
    ...(deaths === 0 ? {} : { n_deaths: deaths }),
    ...(predictions.length === 0
      ? {}
      : { predictions: await keepPredictions(run, { name, step }, predictions, session) }),
  }
  signal.throwIfAborted()
  ledger.finish(evaluation, result)
  const answers = withAnswers ? withInstructions(predictions, name, session) : undefined
  return { scored: rest, failure: wholeFailure(predictions) ?? failureWithoutAnswers(scored, predictions), answers }
}

/** What the weights answer, and what the scorer says of it. Why nothing could be scored is part of what it says. */
async function measured(
  run: TrainingRunRow,
  question: EvaluationQuestion,
  of: Evaluation,
  session: RunHost,
  found: { deaths: number; predictions: readonly Prediction[] },
): Promise<Scored> {
  const { benchmark, step, signal } = question
  const { sealed, evaluator, options, onCost, projectDir } = session
  const tasks = sealed.tasks(benchmark)
  const all = tasks.length * of.benchmark.num_samples
  const isInFolders = of.benchmark.in_folders === true
  const whose = of.agent === undefined ? (of.benchmark.inference?.kind ?? 'the model') : `agent "${of.agent.kind}"`
  let n = 0
  using waiting = announceWait((seconds) =>
    options.onNotice?.(
      isInFolders
        ? `${run.name}: the task folders of ${benchmark} have been attempted for ${seconds} s`
        : n < all
          ? `${run.name}, ${benchmark}: no answer of ${whose} for ${seconds} s (${n} of ${all} are there)`
          : `${run.name}, ${benchmark}: its verifiers and judges have been at the answers for ${seconds} s`,
    ),
  )
  const hooks = {
    act: (order: Parameters<Parameters<typeof evaluator.evaluate>[1]['act']>[0]) =>
      question.runAgent({ order, policy: policyFor(asked, order.seed_path, onCost, order.takes_tools) }, signal),
    onAnswer() {
      n += 1
      waiting.restart()
    },
    onDeath(error: Error) {
      found.deaths += 1
      n = 0
      options.onNotice?.(`${run.name}: ${error.message}; ${benchmark} is evaluated again`)
    },
  }
  let asked: AskedWeights | undefined
  const answered = answersFile(projectDir, run, { benchmark, step })
  try {
    const scored = await evaluator.evaluate(
      of,
      hooks,
      async (weights) => {
        asked = weights
        if (isInFolders) return await attemptFolders(run, question, of, weights, session, found)
        found.predictions = await weights.answer(tasks)
        waiting.restart()
        return undefined
      },
      signal,
    )
    if (scored !== undefined) return scored
    const given = await sealed.score(benchmark, found.predictions, { answersFile: answered, signal })
    const paid = found.predictions.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0) // of a client that answers
    onCost((given.judge?.cost_usd ?? 0) + paid)
    return given
  } catch (error) {
    signal.throwIfAborted()
    return unscored(error)
  }
}

// Task folders are attempted here, beside their tests; what the policy says comes from the evaluator.
async function attemptFolders(
  run: TrainingRunRow,
  { benchmark, step, systemPrompt, runAgent, signal }: EvaluationQuestion,
  of: Evaluation,
  weights: AskedWeights,
  { sealed, outputDir, projectDir }: RunHost,
  found: { predictions: readonly Prediction[] },
): Promise<Scored> {
  const { remotePolicy } = await import('../../rollout/index.ts') // with agents and environments
  const { config } = run
  const at = step ?? 'final'
  const place = join('logs', of.benchmark.split === 'test' ? 'test' : 'validation', 'trials', `${benchmark}-${at}`)
  const { scored, predictions } = await sealed.attempt(benchmark, {
    runAgent,
    signal,
    // Tools of agents that run here are described in words.
    policy: (session) => remotePolicy({ session, takesTools: false }, weights.generate),
    takesTools: weights.takesTools,
    systemPrompt: systemPrompt ?? of.benchmark.chat_template.system_prompt ?? '',
    agent: agentOf(config),
    environment: config.environment,
    kept: { root: runFolder(outputDir, run.name), place },
    seed: config.seed,
    step: at,
    label: `${run.id}-${at}`,
    answersFile: answersFile(projectDir, run, { benchmark, step }),
  })
  found.predictions = predictions
  return scored
}

/** The weights as an agent of the project has them, in one attempt. */
function policyFor(
  weights: AskedWeights | undefined,
  attempt: readonly (string | number)[],
  onCost: (usd: number) => void,
  takesTools: boolean,
): OpenInferenceClient {
  return {
    takesTools,
    async generate(request, signal) {
      const { remotePolicy } = await import('../../rollout/index.ts') // with agents
      if (weights === undefined) throw refused('an agent asks before its evaluation has begun')
      const policy = remotePolicy({ session: JSON.stringify(attempt), takesTools }, weights.generate)
      const given = await policy.generate(request, signal)
      onCost(given.usage.costUsd ?? 0)
      return given
    },
  }
}

function evaluationOf(
  run: TrainingRunRow,
  { weights, step, benchmark: name }: EvaluationQuestion,
  benchmark: SealedBenchmark,
  { secrets, addresses, outputDir, projectDir, checked }: RunHost,
): Evaluation {
  const { config } = run
  const agent =
    benchmark.one_completion === true || benchmark.in_folders === true
      ? undefined
      : (benchmark.agent ?? agentOf(config))
  return {
    run_id: run.id,
    benchmark,
    seed: config.seed,
    step,
    weights,
    config,
    run_dir: runFolder(outputDir, run.name),
    agent,
    agent_elsewhere: agent !== undefined && isElsewhere(agent, checked.cards),
    secrets: { ...secrets.get(run.name) },
    addresses: { ...addresses },
    cassette_dir: join(evaluationsFolder(projectDir), run.experimentId, run.name, name),
  }
}

// A file of answers is data: who reads it aloud is ours.
function isElsewhere(agent: PluginSpec, cards: RunHost['checked']['cards']): boolean {
  const isProjects = (kind: string) =>
    cards.some((card) => card.type === 'agent' && card.kind === kind && card.origin !== 'built-in')
  if (agent.kind === 'predictions' && !isProjects(agent.kind)) return false
  return placeOfAgent(agent, isProjects) === 'worker'
}

function agentCode({ agent, agent_elsewhere, benchmark, config }: Evaluation, { checked }: RunHost): string[] {
  const named = benchmark.in_folders === true ? (benchmark.agent ?? agentOf(config)) : agent
  if (named === undefined) return []
  const isOutside = benchmark.in_folders === true ? isElsewhere(named, checked.cards) : agent_elsewhere
  return isOutside ? [`agent ${named.kind}`] : []
}

// Answers can be scored again by a later scorer. They lie outside of the folder of the run, and their hash is in the record.
async function keepPredictions(
  run: TrainingRunRow,
  { name, step }: { name: string; step?: number | undefined },
  predictions: readonly Prediction[],
  { outputDir }: RunHost,
): Promise<string> {
  const text = predictions.map((each) => `${JSON.stringify(each)}\n`).join('')
  const file = predictionsFile(runFolder(outputDir, run.name), { benchmark: name, step })
  await writeForeignFile(outputDir, relative(outputDir, file).split(sep), text)
  return createHash('sha256').update(text).digest('hex')
}

function withInstructions(
  predictions: readonly Prediction[],
  benchmark: string,
  { sealed }: RunHost,
): EvaluatedAnswer[] {
  const asked = new Map(sealed.tasks(benchmark).map(({ task_id, instruction }) => [task_id, instruction]))
  return predictions.map((each) => ({ ...each, instruction: asked.get(each.task_id) }))
}

// Whether the attempts failed, and not their scoring: answers that are there can be scored again.
export function wholeFailure(predictions: readonly Prediction[]) {
  const errors = predictions.flatMap(({ error, agent_error }) => error ?? agent_error ?? [])
  return errors.length === predictions.length ? errors[0] : undefined
}

function failureWithoutAnswers({ error }: Scored, predictions: readonly Prediction[]) {
  return predictions.length === 0 ? error : undefined
}

function unscored(error: unknown): Scored {
  return { metrics: {}, rewards: {}, n_tasks: 0, n_infra_failed: 0, scorer_hash: '', error: errorRecord(error) }
}
