import type { AtifFinalMetrics, AtifStep, AtifTrajectory } from '../../contracts/index.ts'

/** The sums over the steps and over embedded subagents. What no step tells is left out. */
export function finalMetrics(
  steps: readonly AtifStep[],
  subagents: readonly Pick<AtifTrajectory, 'final_metrics'>[] = [],
): AtifFinalMetrics {
  const inner = subagents.flatMap(({ final_metrics }) => (final_metrics === undefined ? [] : [final_metrics]))
  const own = steps.flatMap(({ metrics }) => (metrics === undefined ? [] : [metrics]))
  const sums = {
    total_prompt_tokens: sum([
      ...own.map((each) => each.prompt_tokens),
      ...inner.map((each) => each.total_prompt_tokens),
    ]),
    total_completion_tokens: sum([
      ...own.map((each) => each.completion_tokens),
      ...inner.map((each) => each.total_completion_tokens),
    ]),
    total_cached_tokens: sum([
      ...own.map((each) => each.cached_tokens),
      ...inner.map((each) => each.total_cached_tokens),
    ]),
    total_cost_usd: sum([...own.map((each) => each.cost_usd), ...inner.map((each) => each.total_cost_usd)]),
  }
  return {
    ...Object.fromEntries(Object.entries(sums).filter(([, value]) => value !== undefined)),
    total_steps: steps.length,
  }
}

function sum(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : known.reduce((total, value) => total + value, 0)
}
