// Which arms a claim compares. A side names one arm, or axis values that several arms have; then the arms of the two sides are
// paired by the axes that the claim does not name.
import {
  type ArmRef,
  type Benchmark,
  type Claim,
  type Direction,
  type Metadata,
  metricNamed,
  metricSpec,
  type Objective,
  type ResolvedClaim,
  type ResolvedObjective,
  trainingScores,
} from '../contracts/index.ts'
import { canonicalJson, suggest } from '../kernel/index.ts'
import { type PlacedClaim, placeSides, sharedMetric } from './claim-sides.ts'
import { parsePath } from './dotted-path.ts'
import type { CheckedArm } from './expand-matrix.ts'
import { type LocatedMap, nodeAt, type Path } from './located.ts'
import type { Report } from './report.ts'

/** The untrained model, as a side of a claim. */
export const baseModel = 'base_model'

interface ClaimContext {
  readonly root: LocatedMap
  readonly arms: readonly CheckedArm[]
  readonly benchmarks: readonly Benchmark[]
  readonly report: Report
}

/** One claim and where it stands. */
interface WrittenClaim extends ClaimContext {
  readonly at: Path
}

/** All claims of an experiment, those that the report finds no fault in. */
export function resolveClaims(metadata: Metadata, context: ClaimContext): ResolvedClaim[] {
  const { claim, claims } = metadata
  const { root, report } = context
  const origin = nodeAt(root, ['metadata', 'claims'])?.origin ?? root.origin
  const complain = (message: string, fix: string) => report.problem(origin, { code: 'CONFIG_CLAIM', message, fix })
  if (claim !== undefined && claims !== undefined) {
    complain('`claims` stands beside `claim`', 'keep one of the two: `claims` lists all of them.')
    return []
  }
  if (new Set(claims?.map(({ confidence }) => confidence)).size > 1) {
    complain('claims that are judged together need one confidence', 'write the same confidence in each claim.')
    return []
  }
  const written = claim === undefined ? (claims ?? []) : [claim]
  return written.flatMap((each, i) => {
    const at = claim === undefined ? ['metadata', 'claims', i] : ['metadata', 'claim']
    const placed = placeSides(each, { ...context, at, names: [...context.arms.map(({ name }) => name), baseModel] })
    if (placed === undefined) return []
    const own = { ...context, at }
    const resolved =
      placed === 'unplaced'
        ? resolveClaim(each, metadata.objective, own)
        : resolvePlaced(placed, metadata.objective, own)
    return resolved ?? []
  })
}

/** A claim whose sides name their benchmarks. */
function resolvePlaced(
  placed: PlacedClaim,
  objective: Objective | undefined,
  context: WrittenClaim,
): ResolvedClaim | undefined {
  const { claim, treatment, baseline } = placed
  const found = objective === undefined ? undefined : resolveMetric(objective.metric, context.benchmarks)
  const ranking = found !== undefined && 'metric' in found ? found : undefined
  const metric = sharedMetric(placed, ranking?.metric, context)
  const arms = {
    treatment: sideArms('treatment', claim.treatment, context),
    baseline: sideArms('baseline', claim.baseline, context),
  }
  const floor = smallestEffect(claim, context)
  if (metric === undefined || arms.treatment === undefined || arms.baseline === undefined || floor === undefined)
    return undefined
  const selects = [treatment, baseline].find(({ name }) => name === ranking?.benchmark?.name && treatment !== baseline)
  if (selects !== undefined && selects.run_every > 0) {
    const text = `${selects.name} chooses the checkpoint of each run, so its scores are of the best one there: part of a difference from it is that choice.`
    context.report.notice(text, nodeAt(context.root, context.at)?.origin)
  }
  const resolved = { benchmark: treatment.name, metric }
  const direction =
    claim.direction ?? (metric === ranking?.metric ? objective?.direction : undefined) ?? directionOf(resolved)
  const nameOf = (side: Arms, ref: ArmRef) => (side === baseModel ? baseModel : String(ref))
  return {
    ...resolved,
    ...(treatment === baseline ? {} : { baseline_benchmark: baseline.name }),
    direction,
    pairs: [{ treatment: nameOf(arms.treatment, claim.treatment), baseline: nameOf(arms.baseline, claim.baseline) }],
    min_effect: floor,
    confidence: claim.confidence,
  }
}

/** The smallest effect that counts: below zero where a drop is allowed. */
function smallestEffect({ min_effect, max_drop }: Claim, { root, at, report }: WrittenClaim): number | undefined {
  if (max_drop === undefined) return min_effect
  const written = nodeAt(root, [...at, 'min_effect'])
  if (written === undefined) return 0 - max_drop
  const message = '`max_drop` stands beside `min_effect`'
  const fix = 'keep one: min_effect claims an improvement, max_drop that nothing more than that is lost.'
  return report.problem(written.origin, { code: 'CONFIG_CLAIM', message, fix })
}

/** The claim with its arms paired and its metric found; undefined when the report says what is wrong. */
function resolveClaim(
  claim: Claim,
  objective: Objective | undefined,
  context: WrittenClaim,
): ResolvedClaim | undefined {
  const metric = claimMetric(claim, objective?.metric, context)
  const treatment = sideArms('treatment', claim.treatment, context)
  const baseline = sideArms('baseline', claim.baseline, context)
  if (metric === undefined || treatment === undefined || baseline === undefined) return undefined
  const pairs = pairArms(claim, treatment, baseline, context)
  if (pairs === undefined) return undefined
  if (context.benchmarks.length === 0 && pairs.some((pair) => Object.values(pair).includes(baseModel))) {
    const origin = nodeAt(context.root, context.at)?.origin ?? context.root.origin
    const message = `${baseModel} is not trained, so it has no ${metric.metric}`
    return context.report.problem(origin, {
      code: 'CONFIG_CLAIM',
      message,
      fix: 'declare a benchmark, or name an arm.',
    })
  }
  const min_effect = smallestEffect(claim, context)
  if (min_effect === undefined) return undefined
  const { confidence } = claim
  const isObjective = claim.metric === undefined || claim.metric === objective?.metric
  const direction = claim.direction ?? (isObjective ? objective?.direction : undefined) ?? directionOf(metric)
  return { ...metric, direction, pairs, min_effect, confidence }
}

function claimMetric(
  claim: Claim,
  fallback: string | undefined,
  { root, at, benchmarks, report }: WrittenClaim,
): { benchmark: string; metric: string } | undefined {
  const reference = claim.metric ?? fallback
  const node = nodeAt(root, [...at, 'metric']) ?? nodeAt(root, at)
  const origin = node?.origin ?? root.origin
  if (reference === undefined) {
    const message = 'the claim has no metric, and there is no objective to take it from'
    const fix = 'add claim.metric, or metadata.objective.'
    return report.problem(origin, { code: 'CONFIG_CLAIM', message, fix }, ['metric'])
  }
  const found = resolveMetric(reference, benchmarks)
  if (!('message' in found)) return { benchmark: found.benchmark?.name ?? trainingScores, metric: found.metric }
  // A fallback that cannot be found has been reported as the objective.
  if (claim.metric !== undefined) report.problem(origin, { code: 'CONFIG_CLAIM', ...found })
  return undefined
}

type Side = 'treatment' | 'baseline'

/** The arms that a side means; undefined when none does, or the reference makes no sense. */
function sideArms(side: Side, ref: ArmRef, context: WrittenClaim): CheckedArm[] | typeof baseModel | undefined {
  const { root, arms, report } = context
  const node = nodeAt(root, [...context.at, side])
  const origin = node?.origin ?? root.origin
  if (typeof ref === 'string') {
    if (ref === baseModel) return baseModel
    const named = arms.filter(({ name }) => name === ref)
    if (named.length > 0) return named
    const names = [...arms.slice(0, 1_000).map(({ name }) => name), baseModel]
    const message = `no arm is called ${JSON.stringify(ref)}`
    return report.problem(origin, { code: 'CONFIG_CLAIM', message, fix: suggest(ref, names) })
  }
  const conditions = Object.entries(ref).map(([key, value]) => ({ key, value, path: pathOfKey(key) }))
  const unknown = conditions.filter(({ key, path }) => !arms.some((arm) => valueIn(arm, key, path) !== undefined))
  for (const { key } of unknown) {
    const at = (node?.type === 'map' ? node.entries.get(key)?.at : undefined) ?? origin
    const axes = Object.keys(arms[0]?.params ?? {})
    const message = `no arm has a value at \`${key}\``
    const fix = axes.length === 0 ? 'name the arm itself.' : suggest(key, axes)
    report.problem(at, { code: 'CONFIG_CLAIM', message, fix })
  }
  if (unknown.length > 0) return undefined
  const matching = arms.filter((arm) =>
    conditions.every(({ key, path, value }) => canonicalJson(valueIn(arm, key, path) ?? null) === canonicalJson(value)),
  )
  if (matching.length > 0 && conditions.length > 0) return matching
  const message = conditions.length === 0 ? 'the reference is empty' : 'no arm has these values'
  const known = conditions.map(({ key, path }) => {
    const values = new Set(arms.map((arm) => JSON.stringify(valueIn(arm, key, path) ?? null)))
    return `\`${key}\` is ${listed([...values])}`
  })
  const fix = known.length === 0 ? 'name an arm, axis values, or base_model.' : `in the arms, ${known.join('; ')}.`
  return report.problem(origin, { code: 'CONFIG_CLAIM', message, fix })
}

function pathOfKey(key: string): Path {
  const parsed = parsePath(key)
  return 'path' in parsed ? parsed.path : [key]
}

function valueIn(arm: CheckedArm, key: string, path: Path): unknown {
  if (Object.hasOwn(arm.params, key)) return arm.params[key]
  return path.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, step) ? Reflect.get(value, step) : undefined,
    arm.config,
  )
}

// A condition on part of an axis value, as on the kind of a transform, names that axis.
function isWithin(key: string, axis: string): boolean {
  const path = pathOfKey(key)
  return pathOfKey(axis).every((step, i) => step === path[i])
}

type Arms = readonly CheckedArm[] | typeof baseModel
type Pair = ResolvedClaim['pairs'][number]

function pairArms(
  claim: Claim,
  treatment: Arms,
  baseline: Arms,
  { root, at, report }: WrittenClaim,
): Pair[] | undefined {
  const origin = nodeAt(root, at)?.origin ?? root.origin
  const complain = (message: string, fix: string) => report.problem(origin, { code: 'CONFIG_CLAIM', message, fix })
  if (treatment === baseModel || baseline === baseModel) {
    if (treatment === baseline) return complain('both sides are the base model', 'name an arm as treatment.')
    const arms = treatment === baseModel ? baseline : treatment
    if (arms === baseModel) return undefined
    const models = new Set(arms.map(({ config }) => canonicalJson([config.model.name, config.backend])))
    if (models.size > 1) {
      const found = listed([...new Set(arms.map(({ config }) => `${config.model.name} on ${config.backend.kind}`))])
      const fix = 'let the claim be about arms that train one model in one place.'
      return complain(`${baseModel} could be any of: ${found}`, fix)
    }
    return arms.map(({ name }) =>
      treatment === baseModel ? { treatment: baseModel, baseline: name } : { treatment: name, baseline: baseModel },
    )
  }
  const both = treatment.filter((arm) => baseline.includes(arm))
  if (both.length > 0) return complain(`both sides mean ${namesOf(both)}`, 'let the two sides differ in an axis value.')
  const named = [claim.treatment, claim.baseline].flatMap((ref) => (typeof ref === 'string' ? [] : Object.keys(ref)))
  const isSingle = treatment.length === 1 && baseline.length === 1
  const keyOf = (arm: CheckedArm) =>
    isSingle
      ? ''
      : canonicalJson(
          Object.entries(arm.params)
            .filter(([axis]) => !named.some((key) => isWithin(key, axis)))
            .sort(([a], [b]) => (a < b ? -1 : 1)),
        )
  const partners = groupBy(baseline, keyOf)
  const sides = groupBy(treatment, keyOf)
  const pairs: Pair[] = []
  for (const [key, arms] of sides) {
    const others = partners.get(key) ?? []
    if (arms.length !== 1 || others.length !== 1) {
      const found = `${namesOf(arms)} against ${others.length === 0 ? 'no arm' : namesOf(others)}`
      const fix = 'name more axis values, so that each treatment arm meets one baseline arm.'
      return complain(`the arms of the two sides cannot be paired: ${found}`, fix)
    }
    for (const arm of arms) for (const other of others) pairs.push({ treatment: arm.name, baseline: other.name })
  }
  const lonely = [...partners.keys()].filter((key) => !sides.has(key)).flatMap((key) => partners.get(key) ?? [])
  if (lonely.length === 0) return pairs
  return complain(`no treatment arm meets ${namesOf(lonely)}`, 'name more axis values in the baseline.')
}

function namesOf(arms: readonly CheckedArm[]): string {
  return listed(arms.map(({ name }) => name))
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return groups
}

function listed(names: readonly string[]): string {
  const rest = names.length - 5
  return `${names.slice(0, 5).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

// What ranks the arms. A validation benchmark selects; a test benchmark only confirms, so an objective on it is an error.
// Where only test is declared nothing is selected: scores are reported, and a notice says so.
/** The benchmark and metric of the objective; undefined where nothing is selected. */
export function resolveObjective(
  root: LocatedMap,
  objective: Objective | undefined,
  benchmarks: readonly Benchmark[],
  report: Report,
): ResolvedObjective | undefined {
  if (objective === undefined) return undefined
  const origin = nodeAt(root, ['metadata', 'objective', 'metric'])?.origin ?? root.origin
  const found = resolveMetric(objective.metric, benchmarks)
  if ('message' in found) return report.problem(origin, { code: 'CONFIG_OBJECTIVE', ...found })
  const { benchmark, metric } = found
  if (benchmark === undefined) {
    const resolved = { benchmark: trainingScores, metric }
    const direction = objective.direction ?? directionOf(resolved)
    const better = direction === 'min' ? 'lower' : 'higher'
    report.notice(
      `No benchmark is declared: arms are ranked by the training metric ${metric} at the end of a run, ${better} is better. It is measured on training rows and says nothing of others.`,
      origin,
    )
    return { ...resolved, direction }
  }
  if (benchmark.split === 'val') {
    const resolved = { benchmark: benchmark.name, metric }
    return { ...resolved, direction: objective.direction ?? directionOf(resolved) }
  }
  const selecting = benchmarks.filter(({ split }) => split === 'val')
  if (selecting.length === 0) {
    return report.notice('Only test benchmarks are declared: scores are reported, nothing is selected by them.', origin)
  }
  const names = selecting.map(({ name }) => `${name}.${metric}`).join(', ')
  const message = `${benchmark.name} is a test benchmark: test confirms, validation selects`
  return report.problem(origin, { code: 'CONFIG_OBJECTIVE', message, fix: `select on validation, such as ${names}.` })
}

// Which benchmark and metric a reference means: `<benchmark>.<metric>`, or a bare metric of the benchmark that selects. Names may
// hold dots, so the longest benchmark name that fits is the one that is meant.
// No benchmark: a training metric.
type ResolvedMetric = { benchmark?: Benchmark | undefined; metric: string } | { message: string; fix: string }

/** Of training metrics by their names; metrics of benchmarks say it themselves, once plugins are known. */
// Which way is better is for the metric to say, once plugins are loaded (`check-deep.ts`). Until then what answers take is the better the
// less, and so are the losses of training.
function directionOf({ benchmark, metric }: { benchmark: string; metric: string }): Direction {
  const less =
    benchmark === trainingScores
      ? /(?:^|[/_.])(?:loss|nll|perplexity)(?:$|[/_.:])/
      : /^(?:(?:time|tokens|cost)_per_task|latency_p\d+)(?:\[|$)/
  return less.test(metric) ? 'min' : 'max'
}

// What only answers to tasks have: a training metric is never called so.
function isScored(metric: string): boolean {
  return /^[\w-]+\./.test(metric) || /^(?:(?:pass|majority)[@^]\d+|pass_rate|mean_reward)$/.test(metric)
}

/** The metric that `reference` means. A bare one is looked for in the val split, then, with no val benchmark, in test. */
function resolveMetric(reference: string, benchmarks: readonly Benchmark[]): ResolvedMetric {
  const declared = benchmarks.flatMap(({ name, metrics }) => metrics.map((each) => `${name}.${metricSpec(each).name}`))
  if (benchmarks.length === 0) {
    const metric = reference.startsWith(`${trainingScores}.`) ? reference.slice(trainingScores.length + 1) : reference
    if (!isScored(metric)) return { metric }
    const fix =
      'add metadata.benchmark with a validation benchmark that has this metric, or name a training metric: loss.'
    return { message: `no benchmark is declared that could give ${JSON.stringify(reference)}`, fix }
  }
  const named = benchmarks
    .filter(({ name }) => reference.startsWith(`${name}.`))
    .sort((a, b) => b.name.length - a.name.length)
  for (const benchmark of named) {
    const metric = reference.slice(benchmark.name.length + 1)
    if (metricNamed(benchmark.metrics, metric) !== undefined) return { benchmark, metric }
  }
  const selecting = benchmarks.filter(({ split }) => split === 'val')
  const candidates = selecting.length > 0 ? selecting : benchmarks
  const bare = candidates.find(({ metrics }) => metricNamed(metrics, reference) !== undefined)
  if (bare !== undefined) return { benchmark: bare, metric: reference }
  const [nearest] = named
  if (nearest !== undefined) {
    const metric = reference.slice(nearest.name.length + 1)
    const message = `the benchmark ${JSON.stringify(nearest.name)} has no metric ${JSON.stringify(metric)}`
    return {
      message,
      fix: suggest(
        metric,
        nearest.metrics.map((each) => metricSpec(each).name),
        { more: 'Its `metrics` list what it measures.' },
      ),
    }
  }
  const onTest = benchmarks.find(({ metrics }) => metricNamed(metrics, reference) !== undefined)
  if (onTest !== undefined) {
    const message = `only the test benchmark ${JSON.stringify(onTest.name)} has the metric ${JSON.stringify(reference)}`
    return { message, fix: `add ${reference} to the metrics of a validation benchmark.` }
  }
  return { message: `no benchmark declares ${JSON.stringify(reference)}`, fix: suggest(reference, declared) }
}
