// A benchmark ready to score: its tasks, its verifiers and metrics with their params checked, and the hash over all of it.
import type { AnyPlugin, Benchmark, HarborTask, OpenInferenceClient, PluginSpec } from '../../contracts/index.ts'
import { type EquippedPlugin, EvsysError, equipPlugin, hashOf } from '../../kernel/index.ts'
import { passThreshold, rewardMetrics } from '../metrics/reward-metrics.ts'
import { needSandbox } from '../verifiers/code.ts'
import type { ReadyMetric } from './bounded-metrics.ts'
import { loadTasks, type ScorerServices, type TaskSource } from './load-tasks.ts'
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
  for (const kind of benchmark.metrics) await services.need('metric', kind)
  const metrics = benchmark.metrics.map((kind) => equipPlugin('metric', { kind, params: {} }, services))
  checkSamples(benchmark, metrics)
  const code = ({ plugin }: EquippedPlugin<'verifier' | 'metric'>) => options.hashOf(plugin)
  return {
    // Task files count by what they mean; params of verifiers stand in the tasks, those of metrics in their names.
    hash: hashOf({
      tasks: tasks.map((task) => hashOf(task)),
      verifiers: Object.fromEntries([...verifiers.values()].map((each) => [each.plugin.kind, code(each)])),
      metrics: Object.fromEntries(metrics.map((each, i) => [benchmark.metrics[i], code(each)])),
      pass_threshold: passThreshold,
    }),
    tasks,
    numSamples: benchmark.num_samples,
    metrics: metrics.map((each, i) => ready(benchmark.metrics[i] ?? each.plugin.kind, each)),
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

function ready(name: string, { plugin, context: { params } }: EquippedPlugin<'metric'>): ReadyMetric {
  return {
    name,
    direction: plugin.direction,
    range: plugin.range,
    fromRewards: rewardMetrics.has(plugin),
    compute: (rewards, usage, answers) => plugin.compute(rewards, { params, usage, answers }),
  }
}

function checkSamples(benchmark: Benchmark, metrics: readonly EquippedPlugin<'metric'>[]): void {
  for (const [i, { plugin, context }] of metrics.entries()) {
    const needed = plugin.minSamples?.(context.params) ?? 1
    if (needed <= benchmark.num_samples) continue
    const { name, num_samples } = benchmark
    const needs = `${benchmark.metrics[i]} needs ${needed} samples of each task`
    const message = `benchmark "${name}": ${needs}, and num_samples is ${num_samples}`
    throw new EvsysError('CONFIG_INVALID', message, { fix: `set num_samples: ${needed} or more in this benchmark.` })
  }
}
