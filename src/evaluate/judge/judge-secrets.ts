// Which secrets the judges of a benchmark need: they are asked for by name, so that a scorer without a judge has none.
import type { HarborTask, PluginSpec } from '../../contracts/index.ts'
import { builtInHash, pluginCard } from '../../kernel/index.ts'
import { clientSecrets, modelClient } from '../../models/index.ts'
import type { ScorerServices } from '../scorer/load-tasks.ts'
import { llmJudge } from '../verifiers/llm-judge.ts'

/** Names of secrets. A judge that nothing is known of is an error here, before anything is scored. */
export async function judgeSecrets(tasks: readonly HarborTask[], services: ScorerServices): Promise<string[]> {
  const names = new Set<string>()
  for (const spec of judgesOf(tasks)) {
    await services.need('inference_client', spec.kind)
    const { plugin } = services.registry.get('inference_client', spec.kind)
    const card = pluginCard(plugin, { origin: 'here', hash: builtInHash(plugin) })
    for (const name of clientSecrets(spec, card)) names.add(name)
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
