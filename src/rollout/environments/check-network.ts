// Whether an environment can keep the network policies of a task. One that cannot refuses before it starts: a task never runs with
// another network than it asks for.
import { type NetworkPolicy, samePolicy } from '../task/index.ts'
import type { EnvironmentDefinition } from './environment-definition.ts'

/** What an environment can enforce. */
export interface NetworkMeans {
  /** Can change from phase to phase. */
  readonly perPhase: boolean
}

/** Why the policies of a definition cannot be enforced; empty: they can. */
export function networkFaults({ network, phases }: EnvironmentDefinition, means: NetworkMeans): string[] {
  const faults = new Set<string>()
  for (const { name, policy } of [
    { name: 'environment', policy: network },
    ...phases.map((each) => ({ name: each.name, policy: each.network })),
  ]) {
    if (policy.mode === 'allowlist' && policy.hosts.length > 0) {
      faults.add(`it cannot hold the network to an allowlist (${name}: ${policy.hosts.join(', ')})`)
    } else if (!means.perPhase && !sameReach(policy, network)) {
      faults.add(`it cannot change the network between phases (${name}: ${policy.mode}, environment: ${network.mode})`)
    }
  }
  return [...faults]
}

/** Whether commands under a policy have a network. An empty allowlist denies everything. */
export function hasNetwork(policy: NetworkPolicy): boolean {
  return policy.mode === 'public'
}

function sameReach(a: NetworkPolicy, b: NetworkPolicy): boolean {
  return samePolicy(a, b) || hasNetwork(a) === hasNetwork(b)
}
