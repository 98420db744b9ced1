// The models that judge: opened once each, asked once per question, metered. Their answers are kept beside the record, so that
// scoring again costs nothing and gives the same.
import type { JudgeReport, OpenInferenceClient, PluginSpec } from '../../contracts/index.ts'
import { canonicalJson, type PluginServices } from '../../kernel/index.ts'
import { meterUsage, openInferenceClient, type TotalUsage } from '../../models/index.ts'

export interface JudgeModels {
  model(spec: PluginSpec): Promise<OpenInferenceClient>
  /** What was asked since the last report; undefined where nothing was. */
  report(): Omit<JudgeReport, 'calibration'> | undefined
  close(): Promise<void>
}

/** `folder` keeps the answers. */
export function createJudgeModels(services: PluginServices, folder: string): JudgeModels {
  const opened = new Map<string, Promise<ReturnType<typeof meterUsage>>>()
  let reported: TotalUsage | undefined
  const totals: (() => TotalUsage)[] = []
  return {
    async model(spec) {
      const key = canonicalJson(spec)
      const opening =
        opened.get(key) ??
        openInferenceClient(spec, services, { cassette: { folder, mode: 'auto' } }).then((client) => {
          const metered = meterUsage(client)
          totals.push(metered.total)
          return metered
        })
      opened.set(key, opening)
      return (await opening).client
    },
    report() {
      const now = totals.map((total) => total()).reduce(added, nothing)
      const since = added(now, negated(reported ?? nothing))
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
    async close() {
      for (const each of opened.values()) await (await each.catch(() => undefined))?.client[Symbol.asyncDispose]?.()
    },
  }
}

const nothing: TotalUsage = { calls: 0, promptTokens: 0, completionTokens: 0, costUsd: 0, unpriced: 0, replayed: 0 }

function added(a: TotalUsage, b: TotalUsage): TotalUsage {
  return {
    calls: a.calls + b.calls,
    promptTokens: a.promptTokens + b.promptTokens,
    completionTokens: a.completionTokens + b.completionTokens,
    costUsd: a.costUsd + b.costUsd,
    unpriced: a.unpriced + b.unpriced,
    replayed: a.replayed + b.replayed,
  }
}

function negated(total: TotalUsage): TotalUsage {
  return {
    calls: -total.calls,
    promptTokens: -total.promptTokens,
    completionTokens: -total.completionTokens,
    costUsd: -total.costUsd,
    unpriced: -total.unpriced,
    replayed: -total.replayed,
  }
}
