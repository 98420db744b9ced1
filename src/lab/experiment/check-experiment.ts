// A loaded experiment against every plugin, model and secret that it names, and what its runs are given: secrets, callbacks, data.
import * as z from 'zod'
import { checkDeep, type LoadedExperiment } from '../../config/index.ts'
import {
  type Benchmark,
  type DataConfig,
  type Notice,
  type Plan,
  type PluginCard,
  PluginSpec,
  type PluginType,
  type RecordedPlan,
  RowFormat,
  type RunConfig,
  teachersOf,
} from '../../contracts/index.ts'
import { requireStoredData, sourceKind } from '../../data/index.ts'
import {
  type Catalog,
  EvsysError,
  equipPlugin,
  findSecrets,
  hashOf,
  type PluginReference,
  type Problem,
  problemsOf,
  readSecretSource,
  type SecretSource,
} from '../../kernel/index.ts'
import { clientAddresses, clientSecrets, modelClient, namedModel, resolveModelFolder } from '../../models/index.ts'
import { builtinServices } from '../trials/builtin-services.ts'
import type { ShutIn } from '../workers/worker-sandbox.ts'
import { type BenchmarkSeal, resolveBenchmarks } from './benchmark-seal.ts'
import { checkForecast } from './budget-keeper.ts'

/** An experiment that was checked and may start. */
export interface CheckedExperiment {
  readonly plan: Plan
  /** The experiment file, seen from the project; absent: the experiment came as data. */
  readonly file?: string | undefined
  readonly notices: readonly Notice[]
  readonly projectDir: string
  readonly plugins: readonly PluginReference[]
  /** Of the plugins of the project. */
  readonly cards: readonly PluginCard[]
  /** Kinds of algorithms that drive their runs: they may try system prompts. */
  readonly drivingAlgorithms: ReadonlySet<string>
  readonly seal: BenchmarkSeal
  /** How recipe code is shut in; absent: nothing runs. */
  readonly shutIn?: ShutIn | undefined
  readonly secretSource: SecretSource
  /** What the plugins of a run declare, by the name of the run. */
  readonly secrets: ReadonlyMap<string, Readonly<Record<string, string>>>
  /** What the runs train on, each data block once. */
  readonly trainingData: readonly TrainingData[]
}

interface CheckOptions {
  readonly projectDir: string
  readonly plugins: readonly PluginReference[]
  readonly seal: BenchmarkSeal
  /** Absent: the environment and the project's `.env`. */
  readonly secretSource?: SecretSource | undefined
  readonly signal: AbortSignal
}

/** Throws all that is wrong at once; what comes back may start. */
export async function checkExperiment(
  loaded: LoadedExperiment,
  catalog: Catalog,
  options: CheckOptions,
): Promise<CheckedExperiment> {
  const { projectDir, plugins, seal, signal } = options
  const secretSource = options.secretSource ?? (await readSecretSource({ projectDir }))
  const checked = await checkDeep(loaded, catalog, { signal, secrets: secretSource })
  const stored = await storedProblems(checked.plan, projectDir)
  const models = [...(await unknownModels(checked.plan)), ...(await missingModels(checked.plan, catalog, projectDir))]
  const problems = [...catalog.problems, ...checked.problems, ...models, ...stored]
  if (problems.length > 0) throw EvsysError.many(problems)
  const plan = await resolveBenchmarks(checked.plan, projectDir)
  checkForecast(plan)
  const agents = plan.experiment.metadata.benchmark.flatMap(({ agent }) => agent ?? [])
  const clients = plan.experiment.metadata.benchmark.flatMap(({ inference }) => inference ?? [])
  const logStore = plan.experiment.log_store
  const asked = {
    callbacks: callbacksOf(plan),
    agents,
    clients,
    logStore,
    cardOf: catalog.card.bind(catalog),
    source: secretSource,
  }
  return {
    plan,
    notices: [...checked.plan.notices, ...catalog.notices, ...checked.notices, ...seal.notices],
    projectDir,
    plugins,
    cards: catalog.cards().filter(({ origin }) => origin !== 'built-in'),
    drivingAlgorithms: new Set(catalog.cards('algorithm').flatMap(({ kind, facts }) => (facts.drives ? [kind] : []))),
    seal,
    secretSource,
    secrets: new Map(checked.plan.runs.map(({ name, config }) => [name, runSecrets(config, asked)])),
    trainingData: trainingDataOf(checked.plan, catalog),
  }
}

// Stored datasets are there and hold what was stored: found out here, not by every run for itself.
async function storedProblems({ experiment, runs }: Plan, projectDir: string): Promise<Problem[]> {
  const ofRuns = runs.flatMap(({ config }) => [config.data, ...(config.mix ?? [])])
  const blocks = [...ofRuns, ...experiment.metadata.benchmark.flatMap(({ data }) => data ?? [])]
  const problems = new Map<string, Problem>()
  for (const data of new Map(blocks.map((data) => [hashOf(data), data])).values()) {
    try {
      await requireStoredData(data, projectDir)
    } catch (error) {
      for (const problem of problemsOf(error)) problems.set(problem.message, problem)
    }
  }
  return [...problems.values()]
}

// A model that nothing is known of is reported before anything starts, not after hours of training.
async function unknownModels({ experiment }: Plan): Promise<Problem[]> {
  const services = { ...(await builtinServices({ seed: 0 })), signal: new AbortController().signal }
  return experiment.metadata.benchmark.flatMap((benchmark) => {
    const whose = `benchmark "${benchmark.name}"`
    const labels = new Map<string, string>()
    return benchmark.models
      .filter((entry) => entry !== 'base_model')
      .flatMap((entry): Problem[] => {
        try {
          const { label, client } = namedModel(entry)
          equipPlugin('inference_client', client, services)
          const known = labels.get(label)
          labels.set(label, hashOf(client))
          if (known === undefined || known === hashOf(client)) return []
          const fix = 'give them names: { name: ..., kind: ..., base_url: ..., model: ... }.'
          return [{ code: 'CONFIG_NAME', message: `${whose}: two of its models are called "${label}"`, fix }]
        } catch (error) {
          return problemsOf(error).map((problem) => ({ ...problem, message: `${whose}: ${problem.message}` }))
        }
      })
  })
}

// The files of models that are trained on this machine.
async function missingModels({ runs }: Plan, catalog: Pick<Catalog, 'card'>, project: string): Promise<Problem[]> {
  const isHere = ({ backend: { kind, params } }: RunConfig) =>
    kind === 'local' && params.engine !== 'mock' && catalog.card('backend', kind)?.origin === 'built-in'
  const names = new Set(runs.filter(({ config }) => isHere(config)).map(({ config }) => config.model.name))
  const problems: Problem[] = []
  for (const name of names) {
    await resolveModelFolder(name, { project }).catch((error: unknown) => problems.push(...problemsOf(error)))
  }
  return problems
}

/** Models that are asked through a client, each once; `base_model` is scored by separate runs. */
export function namedModels({ models }: Pick<Benchmark, 'models'>): ReturnType<typeof namedModel>[] {
  const all = models.filter((entry) => entry !== 'base_model').map(namedModel)
  return [...new Map(all.map((each) => [each.label, each])).values()]
}

export interface TrainingData {
  readonly data: DataConfig
  readonly format: RowFormat
  /** Names, in the order of the plan. */
  readonly arms: readonly string[]
  readonly seeds: readonly number[]
  /** The first run that uses it. */
  readonly config: RunConfig
  readonly callbacks: readonly PluginSpec[]
  /** Whether all its plugins come with evsys: then the controller may read it. */
  readonly isBuiltIn: boolean
}

/** Algorithms that take no rows are left out. */
function trainingDataOf(plan: Plan, catalog: Pick<Catalog, 'card'>): TrainingData[] {
  type Found = { data: DataConfig; format: RowFormat; config: RunConfig; arms: Set<string>; seeds: Set<number> }
  const found = new Map<string, Found>()
  for (const { arm, seed, config } of plan.runs) {
    const format = RowFormat.safeParse(catalog.card('algorithm', config.algorithm.kind)?.facts.rowFormat)
    if (!format.success) continue
    for (const data of [config.data, ...(config.mix ?? [])]) {
      const key = hashOf({ data, format: format.data })
      const known = found.get(key) ?? { data, format: format.data, config, arms: new Set(), seeds: new Set() }
      known.arms.add(arm)
      known.seeds.add(seed)
      found.set(key, known)
    }
  }
  const isOurs = (type: 'data_source' | 'data_store' | 'transform', kind: string) =>
    catalog.card(type, kind)?.origin === 'built-in'
  return [...found.values()].map(({ data, arms, seeds, ...rest }) => ({
    ...rest,
    data,
    arms: [...arms],
    seeds: [...seeds],
    callbacks: callbacksOf(plan),
    isBuiltIn:
      isOurs('data_source', sourceKind(data)) &&
      (data.store === undefined || isOurs('data_store', data.store.kind)) &&
      data.transforms.every(({ kind }) => isOurs('transform', kind)),
  }))
}

/** Callbacks of every run; without any, its files are written. */
export function callbacksOf({ experiment }: Pick<RecordedPlan, 'experiment'>): PluginSpec[] {
  return experiment.callbacks.length > 0 ? experiment.callbacks : [{ kind: 'local_logger', params: {} }]
}

interface SecretOptions {
  readonly callbacks: readonly PluginSpec[]
  /** Agents of the benchmarks. */
  readonly agents?: readonly PluginSpec[] | undefined
  /** Clients that answer benchmarks. */
  readonly clients?: readonly PluginSpec[] | undefined
  readonly logStore?: PluginSpec | undefined
  readonly cardOf: (type: PluginType, kind: string) => PluginCard | undefined
  readonly source: SecretSource
}

/**
 * The secrets that the plugins of a run declare, by name, and no other: they are sent to the worker with the assignment. All that
 * are missing are reported at once.
 */
export function runSecrets(
  config: RunConfig,
  { callbacks, agents = [], clients = [], logStore, cardOf, source }: SecretOptions,
): Record<string, string> {
  const secrets: Record<string, string> = {}
  const problems = new Map<string, Problem>()
  const wanted = pluginsOf(config, callbacks, agents).flatMap(([type, kind]) =>
    (cardOf(type, kind)?.needs.secrets ?? []).map((name) => ({ kind, name })),
  )
  const written = [config.agent ?? [], agents]
    .flat()
    .flatMap(({ kind, params }) => findSecrets(params).map(({ name }) => ({ kind, name })))
  const stores = [config.data.store, ...(config.mix ?? []).map(({ store }) => store)].flatMap((store) => store ?? [])
  for (const [type, spec] of [
    ...stores.map((store) => ['data_store', store] as const),
    ['log_store', logStore] as const,
  ]) {
    for (const name of spec === undefined ? [] : (cardOf(type, spec.kind)?.needs.secrets ?? [])) {
      wanted.push({ kind: spec?.kind ?? '', name })
    }
  }
  const taught = [...teacherClients(config), ...clients].flatMap((spec) =>
    clientSecrets(spec, cardOf('inference_client', spec.kind)).map((name) => ({ kind: spec.kind, name })),
  )
  for (const { kind, name } of [...wanted, ...written, ...taught]) {
    const value = source.get(name)
    if (value !== undefined && value.trim() !== '') secrets[name] = value
    else problems.set(name, missing(name, kind, source))
  }
  for (const name of teacherClients(config).flatMap(clientAddresses)) {
    const value = source.get(name)
    if (value !== undefined && value.trim() !== '') secrets[name] = value
  }
  if (problems.size > 0) throw EvsysError.many([...problems.values()])
  return secrets
}

function teacherClients({ algorithm }: RunConfig): PluginSpec[] {
  return teachersOf(algorithm.params).flatMap(({ client }) => {
    if (client === undefined) return []
    return typeof client === 'string' ? modelClient(client) : client
  })
}

const OwnCallbacks = z.object({ callbacks: z.array(PluginSpec) })
const HeldOut = z.object({ held_out_verifier: PluginSpec })

function pluginsOf(
  { algorithm, backend, agent, environment, data, model }: RunConfig,
  callbacks: readonly PluginSpec[],
  agents: readonly PluginSpec[],
): [PluginType, string][] {
  const own = OwnCallbacks.safeParse(algorithm.params).data?.callbacks ?? []
  const heldOut = HeldOut.safeParse(algorithm.params).data?.held_out_verifier
  const renderers = [model.renderer_name, algorithm.params.renderer_name]
  const named: readonly [PluginType, readonly unknown[]][] = [
    ['algorithm', [algorithm.kind]],
    ['backend', [backend.kind]],
    ['data_source', [data.source_kind]],
    ['agent', [agent?.kind]],
    ['environment', [environment?.kind]],
    ['transform', data.transforms.map(({ kind }) => kind)],
    ['callback', [...callbacks, ...own].map(({ kind }) => kind)],
    ['verifier', [heldOut?.kind]],
    ['renderer', renderers],
    ['agent', agents.map(({ kind }) => kind)],
  ]
  return named.flatMap(([type, kinds]) =>
    kinds.flatMap((kind): [PluginType, string][] => (typeof kind === 'string' ? [[type, kind]] : [])),
  )
}

function missing(name: string, kind: string, { hint }: SecretSource): Problem {
  return {
    code: 'SECRET_MISSING',
    message: `"${kind}" needs the secret ${name}, which is not set`,
    fix: `set ${name} ${hint}, as ${name}=value.`,
  }
}
