// One job in which every second agent attacks and the others are honest, in the real environment `local`. Tells how each trial ended
// and what harm was done.
import { join } from 'node:path'
import * as z from 'zod'
import type { Agent } from '../../../src/contracts/index.ts'
import { createRegistry, defineAgent, keyedRandom } from '../../../src/kernel/index.ts'
import { folderAgent, folderEnvironment } from '../../../src/rollout/folders/folder-trials.ts'
import {
  JobConfig,
  type JobTrial,
  loadTaskFolder,
  local,
  type ProxyServer,
  runJob,
  type ServedSession,
  serveProxy,
} from '../../../src/rollout/index.ts'
import type { Attack, AttackRun } from './attack.ts'
import { AttackedPlace } from './attacked-place.ts'
import { actHonestly } from './honest.ts'

/** How a trial ended. */
export interface Ending {
  readonly name: string
  readonly reward?: number | undefined
  readonly error?: string | undefined
}

export interface AttackReport {
  readonly attackers: readonly Ending[]
  readonly honest: readonly Ending[]
  readonly harm: readonly string[]
}

const limits = { memory_mb: 256, storage_mb: 64, processes: 64, output_kb: 200, max_download_mb: 16 }
const sampling = { maxTokens: 16, temperature: 0 }
const usage = { promptTokens: 1, completionTokens: 1, latencyS: 0 }
const policy = { generate: async () => ({ text: '42', stopReason: 'stop' as const, usage }) }

/** Runs the attackers, and as many honest agents, in folders below `dir`. */
export async function runAttackJob(dir: string, attacks: readonly Attack[]): Promise<AttackReport> {
  const place = new AttackedPlace(dir)
  const task = await loadTaskFolder(place.task)
  await using proxy = await serveProxy()
  const crowd = createCrowd(place, attacks, proxy)
  const end = await runJob({
    config: JobConfig.parse({
      n_concurrent_trials: 4,
      agents: attacks.flatMap(({ seconds }, n) => [
        {
          ...{ name: 'attacker', kwargs: { n }, env: { EVSYS_ATTACK: place.mark(n) } },
          ...(seconds === undefined ? {} : { override_timeout_sec: seconds }),
        },
        { name: 'honest', kwargs: { n } },
      ]),
    }),
    ...{ tasks: [{ path: place.task, name: 'task', task }], dir: place.job, hostEnv: {}, graceMs: 1000 },
    signal: new AbortController().signal,
    async prepare({ agent }) {
      const spec = { kind: agent.name ?? '', params: agent.kwargs }
      return {
        openEnvironment: folderEnvironment({ kind: 'local', params: limits }, crowd.services),
        agentInfo: { name: spec.kind, version: '1', model_info: null },
        runAgent: folderAgent(
          { spec, policy: () => policy, sampling, random: (_part, ...path) => keyedRandom(1, ...path) },
          crowd.services,
        ),
      }
    },
    onTrial({ planned, result }) {
      const [trialDir, n] = [join(place.job, planned.config.trial_name), Number(planned.agent.kwargs.n)]
      place.checkTrial(trialDir, result.id)
      if (planned.agent.name === 'honest') return place.checkHonest(trialDir, n)
      crowd.end(n)
      place.checkAttacker(trialDir, n, attacks[n]?.name ?? '')
    },
  })
  await crowd.settled()
  place.checkPlace()
  const endings = (kind: string) => end.trials.filter(({ planned }) => planned.agent.name === kind)
  return {
    attackers: endings('attacker').map((trial, n) => endingOf(attacks[n]?.name ?? '', trial)),
    honest: endings('honest').map((trial, n) => endingOf(`honest ${n}`, trial)),
    harm: place.harm,
  }
}

/** The agents of the job, and what they leave to be looked at. */
function createCrowd(place: AttackedPlace, attacks: readonly Attack[], proxy: ProxyServer) {
  const ended = attacks.map(() => new AbortController())
  const going: Promise<void>[] = []
  const proxied: ServedSession[] = []
  const params = z.strictObject({ n: z.int() })
  const attacker = defineAgent({
    kind: 'attacker',
    summary: 'Attacks.',
    params,
    async run(context) {
      const { n } = context.params
      const attack = attacks[n]
      if (attack === undefined) throw new Error(`there is no attacker ${n}`)
      const target = {
        ...{ mark: place.mark(n), task: place.task, job: place.job, outside: place.outside, pid: process.pid },
        ...{ proxy, others: proxied, ended: ended[n]?.signal ?? AbortSignal.abort() },
        later: (work: Promise<string>) => {
          going.push(work.then((said) => place.hear(attack.name, said)))
        },
      }
      try {
        place.hear(attack.name, await attack.run(inside(context), target))
      } catch (error) {
        place.hear(attack.name, error)
        throw error
      }
      return { output: 'done' }
    },
  })
  const honest = defineAgent({
    kind: 'honest',
    summary: 'Does what the task asks for.',
    params,
    async run(context) {
      const { n } = context.params
      const onProxyTrial = (trial: ServedSession) => proxied.push(trial)
      await actHonestly(inside(context), { n, note: place.note(n), proxy, onProxyTrial })
      return { output: 'done' }
    },
  })
  const registry = createRegistry()
  for (const plugin of [local, attacker, honest]) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  return {
    services: {
      registry,
      random: (...path: (string | number)[]) => keyedRandom(1, ...path),
      log: () => {},
      secret: () => '',
    },
    end: (n: number) => ended[n]?.abort(),
    async settled() {
      await Promise.all(going)
      const touched = proxied.filter(({ turns }) => turns.length !== 1)
      place.harm.push(...touched.map(({ turns }) => `an honest trial has ${turns.length} answers`))
    },
  }
}

function inside(context: Omit<Parameters<Agent['run']>[0], 'params'>): AttackRun {
  if (context.environment === undefined) throw new Error('the trial has no environment')
  return { ...context, params: {}, environment: context.environment }
}

function endingOf(name: string, { reward, result }: JobTrial): Ending {
  const error = result.exception_info?.exception_type
  return { name, ...(reward === undefined ? {} : { reward }), ...(error === undefined ? {} : { error }) }
}
