// The models that judge: opened once each, asked once per question, metered. Their answers are kept beside the record, so that
// scoring again costs nothing and gives the same.
import type { HarborTask, JudgeReport, OpenInferenceClient, PluginSpec } from '../../contracts/index.ts'
import { builtInHash, canonicalJson, type PluginServices, pluginCard } from '../../kernel/index.ts'
import {
  clientAddresses,
  clientSecrets,
  meterUsage,
  modelClient,
  openInferenceClient,
  type TotalUsage,
} from '../../models/index.ts'
import { isKeptVerdict, llmJudge } from '../verifiers/llm-judge.ts'
import type { ScorerServices } from './load-tasks.ts'

/** `folder` keeps the answers. */
export function createJudgeModels(services: PluginServices, folder: string) {
  const opened = new Map<string, Promise<ReturnType<typeof meterUsage>>>()
  let reported = nothing
  const totals: (() => TotalUsage)[] = []
  return {
    async model(spec: PluginSpec): Promise<OpenInferenceClient> {
      const key = canonicalJson(spec)
      const opening =
        opened.get(key) ??
        openInferenceClient(spec, services, { cassette: { folder, mode: 'auto', keeps: isKeptVerdict } }).then(
          (client) => {
            const metered = meterUsage(client)
            totals.push(metered.total)
            return metered
          },
        )
      opened.set(key, opening)
      return (await opening).client
    },
    /** What was asked since the last report; undefined where nothing was. */
    report(): Omit<JudgeReport, 'calibration' | 'labels_failed'> | undefined {
      const now = totals.map((total) => total()).reduce((sum, each) => plus(sum, each), nothing)
      const since = plus(now, reported, -1)
      reported = now
      if (since.calls + since.replayed === 0) return undefined
      return {
        calls: since.calls,
        replayed: since.replayed,
        prompt_tokens: since.promptTokens,
        completion_tokens: since.completionTokens,
        cost_usd: since.unpriced > 0 ? null : since.costUsd,
      }
    },
  }
}

const nothing: TotalUsage = { calls: 0, promptTokens: 0, completionTokens: 0, costUsd: 0, unpriced: 0, replayed: 0 }

function plus(a: TotalUsage, b: TotalUsage, sign = 1): TotalUsage {
  return {
    calls: a.calls + sign * b.calls,
    promptTokens: a.promptTokens + sign * b.promptTokens,
    completionTokens: a.completionTokens + sign * b.completionTokens,
    costUsd: a.costUsd + sign * b.costUsd,
    unpriced: a.unpriced + sign * b.unpriced,
    replayed: a.replayed + sign * b.replayed,
  }
}

// Which secrets the judges of a benchmark need: they are asked for by name, so that a scorer without a judge has none.

/** Names of secrets. A judge that nothing is known of is an error here, before anything is scored. */
export async function judgeSecrets(tasks: readonly HarborTask[], services: ScorerServices): Promise<string[]> {
  const names = new Set<string>()
  for (const spec of judgesOf(tasks)) {
    await services.need('inference_client', spec.kind)
    const { plugin } = services.registry.get('inference_client', spec.kind)
    const card = pluginCard(plugin, { origin: 'here', hash: builtInHash(plugin) })
    for (const name of [...clientSecrets(spec, card), ...clientAddresses(spec)]) names.add(name)
  }
  return [...names].sort()
}

function judgesOf(tasks: readonly HarborTask[]): PluginSpec[] {
  const judges = new Map<string, PluginSpec>()
  for (const { verifier } of tasks) {
    if (verifier.kind !== 'in_process' || verifier.fn_name !== llmJudge.kind) continue
    const model = llmJudge.params.safeParse(verifier.params).data?.model
    if (model === undefined) continue // a project's own judge takes params of its own
    judges.set(JSON.stringify(model), typeof model === 'string' ? modelClient(model) : model)
  }
  return [...judges.values()]
}
