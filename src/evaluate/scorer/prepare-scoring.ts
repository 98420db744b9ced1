// A benchmark ready to score: its tasks, its verifiers and metrics with their params checked, and the hash over all of it.
import {
  type AnyPlugin,
  type Benchmark,
  type HarborTask,
  metricSpec,
  type OpenInferenceClient,
  type PluginSpec,
} from '../../contracts/index.ts'
import { type EquippedPlugin, EvsysError, equipPlugin, hashOf } from '../../kernel/index.ts'
import { classSizes, labelMetrics } from '../metrics/class-metrics.ts'
import { passThreshold, rewardMetrics } from '../metrics/reward-metrics.ts'
import { needSandbox } from '../verifiers/code.ts'
import { computeResult, type ReadyMetric } from './bounded-metrics.ts'
import { loadTasks, type ScorerServices, type TaskSource } from './load-tasks.ts'
import { metricTasks } from './metric-tasks.ts'
import type { ScoringPlan } from './score-predictions.ts'
import { verifyAnswer } from './verify-answer.ts'

export interface PrepareOptions {
  readonly benchmark: Benchmark
  readonly source: TaskSource
  readonly services: ScorerServices
  hashOf(plugin: AnyPlugin): string
  readonly verifierMs: number
  model?: ((which: string | PluginSpec) => Promise<OpenInferenceClient>) | undefined
  onVerify?: ((taskId: string, sample: number) => void) | undefined
}

export async function prepareScoring(options: PrepareOptions): Promise<ScoringPlan> {
  const { benchmark, source, services, verifierMs: timeoutMs } = options
  const tasks = await loadTasks(benchmark, source, services)
  const verifiers = await equipVerifiers(tasks, services)
  const specs = benchmark.metrics.map(metricSpec)
  for (const { kind } of specs) await services.need('metric', kind)
  const metrics = specs.map(({ name, kind, params }) => ({
    name,
    params,
    ...equipPlugin('metric', { kind, params }, services),
  }))
  checkSamples(benchmark, metrics)
  const ready = metrics.map(readyMetric)
  checkLabels(ready, tasks, benchmark)
  const code = ({ plugin }: EquippedPlugin<'verifier' | 'metric'>) => options.hashOf(plugin)
  return {
    // Task files count by what they mean; params of verifiers stand in the tasks, those of metrics in their names or beside their code.
    hash: hashOf({
      tasks: tasks.map((task) => hashOf(task)),
      verifiers: Object.fromEntries([...verifiers.values()].map((each) => [each.plugin.kind, code(each)])),
      metrics: Object.fromEntries(
        metrics.map((each) => [
          each.name,
          Object.keys(each.params).length === 0 && each.name === specs.find(({ name }) => name === each.name)?.kind
            ? code(each)
            : { code: code(each), params: each.params },
        ]),
      ),
      pass_threshold: passThreshold,
    }),
    tasks,
    numSamples: benchmark.num_samples,
    metrics: ready,
    breakdownKeys: benchmark.breakdown_keys,
    verify(task, output, sample, signal) {
      const { verifier } = task
      // Its tests have run or they have not: they are no function of an answer.
      if (verifier.kind === 'e2b')
        return Promise.resolve({ failure: 'a task folder is scored by a trial, and none was run' })
      const equipped = verifiers.get(verifierKey(task))
      if (verifier.kind !== 'in_process' || equipped === undefined) throw new TypeError('loadTasks admits no other')
      options.onVerify?.(task.task_id, sample)
      const asked = { task, output, expected: verifier.expected, sample, signal }
      const { model } = options
      return verifyAnswer(equipped, { ...asked, timeoutMs, model })
    },
  }
}

// Tasks by the thousand share a verifier and its params: it is equipped once.
async function equipVerifiers(
  tasks: readonly HarborTask[],
  services: ScorerServices,
): Promise<Map<string, EquippedPlugin<'verifier'>>> {
  const verifiers = new Map<string, EquippedPlugin<'verifier'>>()
  for (const task of tasks) {
    const { verifier } = task
    const key = verifierKey(task)
    if (verifier.kind !== 'in_process' || verifiers.has(key)) continue
    await services.need('verifier', verifier.fn_name)
    const equipped = equipPlugin('verifier', { kind: verifier.fn_name, params: verifier.params }, services)
    if (equipped.plugin.needs?.sandbox === true) await needSandbox()
    verifiers.set(key, equipped)
  }
  return verifiers
}

function verifierKey({ verifier }: HarborTask): string {
  return verifier.kind === 'in_process' ? JSON.stringify([verifier.fn_name, verifier.params]) : verifier.kind
}

type NamedMetric = EquippedPlugin<'metric'> & { readonly name: string; readonly params: PluginSpec['params'] }

function readyMetric({ name, plugin, context: { params } }: NamedMetric): ReadyMetric {
  return {
    name,
    direction: plugin.direction,
    range: plugin.range,
    readsLabels: labelMetrics.has(plugin),
    classes: classSizes(plugin, params),
    // Whoever reads the record finds a metric of rewards by its name.
    fromRewards: rewardMetrics.has(plugin) && new RegExp(`^${escaped(plugin.kind)}$`).test(name),
    compute: (rewards, usage, answers, tasks) => plugin.compute(rewards, { params, usage, answers, tasks }),
  }
}

// `pass@{k}` names pass@1.
function escaped(kind: string): string {
  return kind.replace(/[.^+$*?()[\]\\|]/g, '\\$&').replace(/\{\w+\}/, '\\d+')
}

// A metric of labels that the tasks do not have is refused before anything is trained: it is asked once, as if nothing had been answered.
function checkLabels(metrics: readonly ReadyMetric[], tasks: readonly HarborTask[], benchmark: Benchmark): void {
  const blank = metricTasks(
    tasks,
    tasks.map(() => Array.from({ length: benchmark.num_samples }, () => ({}))),
  )
  const none = tasks.map(() => Array.from({ length: benchmark.num_samples }, () => 0))
  for (const metric of metrics) {
    if (metric.readsLabels !== true) continue
    computeResult(metric, none, { usage: [], answers: [], tasks: blank }, 0)
  }
}

function checkSamples(benchmark: Benchmark, metrics: readonly NamedMetric[]): void {
  const names = new Set<string>()
  for (const { name: metric, plugin, context } of metrics) {
    if (names.has(metric)) {
      const message = `benchmark "${benchmark.name}": two metrics are called ${JSON.stringify(metric)}`
      throw new EvsysError('CONFIG_NAME', message, { fix: 'give one of them a `name`: { kind: ..., name: ... }.' })
    }
    names.add(metric)
    const needed = plugin.minSamples?.(context.params) ?? 1
    if (needed <= benchmark.num_samples) continue
    const { name, num_samples } = benchmark
    const message = `benchmark "${name}": ${metric} needs ${needed} samples of each task, and num_samples is ${num_samples}`
    throw new EvsysError('CONFIG_INVALID', message, { fix: `set num_samples: ${needed} or more in this benchmark.` })
  }
}
