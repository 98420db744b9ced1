// The secrets of a run: those that its plugins declare, by name, and no other. They are resolved in the controller and handed to
// the worker in the message that assigns the run.
import * as z from 'zod'
import { type PluginCard, PluginSpec, type PluginType, type RunConfig, teachersOf } from '../../contracts/index.ts'
import { EvsysError, findSecrets, type Problem, type SecretSource } from '../../kernel/index.ts'
import { clientSecrets, modelClient } from '../../models/index.ts'

/** Values by name. All that are missing are reported at once. */
export function runSecrets(
  config: RunConfig,
  {
    callbacks,
    agents = [],
    cardOf,
    source,
  }: {
    callbacks: readonly PluginSpec[]
    /** Agents of the benchmarks. */
    agents?: readonly PluginSpec[] | undefined
    cardOf: (type: PluginType, kind: string) => PluginCard | undefined
    source: SecretSource
  },
): Record<string, string> {
  const secrets: [string, string][] = []
  const problems = new Map<string, Problem>()
  const leaders = [config.agent ?? [], agents].flat()
  const wanted = [
    ...pluginsOf(config, callbacks),
    ...agents.map(({ kind }): [PluginType, string] => ['agent', kind]),
  ].flatMap(([type, kind]) => (cardOf(type, kind)?.needs.secrets ?? []).map((name) => ({ kind, name })))
  const written = leaders.flatMap(({ kind, params }) => findSecrets(params).map(({ name }) => ({ kind, name })))
  const taught = teacherClients(config).flatMap((spec) =>
    clientSecrets(spec, cardOf('inference_client', spec.kind)).map((name) => ({ kind: spec.kind, name })),
  )
  for (const { kind, name } of [...wanted, ...written, ...taught]) {
    const value = source.get(name)
    if (value !== undefined && value.trim() !== '') secrets.push([name, value])
    else problems.set(name, missing(name, kind, source))
  }
  if (problems.size > 0) throw EvsysError.many([...problems.values()])
  return Object.fromEntries(secrets)
}

/** The clients of models that teach. */
function teacherClients({ algorithm }: RunConfig): PluginSpec[] {
  return teachersOf(algorithm.params).flatMap(({ client }) => {
    if (client === undefined) return []
    return typeof client === 'string' ? modelClient(client) : client
  })
}

const OwnCallbacks = z.object({ callbacks: z.array(PluginSpec) })
const HeldOut = z.object({ held_out_verifier: PluginSpec })

/** Every plugin that a run names. */
function pluginsOf(config: RunConfig, callbacks: readonly PluginSpec[]): [PluginType, string][] {
  const { algorithm, backend, agent, environment, data, model } = config
  const own = OwnCallbacks.safeParse(algorithm.params).data?.callbacks ?? []
  const heldOut = HeldOut.safeParse(algorithm.params).data?.held_out_verifier
  const renderers = [model.renderer_name, algorithm.params.renderer_name]
  return [
    ['algorithm', algorithm.kind],
    ['backend', backend.kind],
    ['data_source', data.source_kind],
    ...(agent === undefined ? [] : [['agent', agent.kind] as [PluginType, string]]),
    ...(environment === undefined ? [] : [['environment', environment.kind] as [PluginType, string]]),
    ...data.transforms.map(({ kind }): [PluginType, string] => ['transform', kind]),
    ...[...callbacks, ...own].map(({ kind }): [PluginType, string] => ['callback', kind]),
    ...(heldOut === undefined ? [] : [['verifier', heldOut.kind] as [PluginType, string]]),
    ...renderers.flatMap((kind): [PluginType, string][] => (typeof kind === 'string' ? [['renderer', kind]] : [])),
  ]
}

function missing(name: string, kind: string, { hint }: SecretSource): Problem {
  return {
    code: 'SECRET_MISSING',
    message: `"${kind}" needs the secret ${name}, which is not set`,
    fix: `set ${name} ${hint}, as ${name}=value.`,
  }
}
