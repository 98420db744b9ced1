// What a task may reach over the network. Hosts are exact names, `*.suffix`, addresses or CIDR ranges; never URLs or ports.
import { isIP } from 'node:net'
import * as z from 'zod'

/** `hosts` counts with `allowlist` alone; empty, it denies everything. */
export interface NetworkPolicy {
  readonly mode: 'public' | 'no-network' | 'allowlist'
  readonly hosts: readonly string[]
}

/** A host of an allowlist in its one spelling: lower case, no trailing dot. */
export const AllowedHost = z.string().transform((written, context) => {
  const host = normaliseHost(written)
  if (host !== undefined) return host
  context.addIssue({
    code: 'custom',
    message: `expected a host, \`*.suffix\`, address or CIDR range without scheme, port or path, got ${JSON.stringify(written)}`,
  })
  return z.NEVER
})

/** The one spelling of a host; undefined: not a host. */
export function normaliseHost(written: string): string | undefined {
  const host = written.trim().toLowerCase().replace(/\.$/, '')
  if (isIP(host) !== 0 || isRange(host)) return host
  const name = host.startsWith('*.') ? host.slice(2) : host
  const labels = name.split('.')
  const isName = name.length <= 253 && labels.every((label) => /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/.test(label))
  // Digits and dots that are no address are a mistake, not a name.
  return isName && !/^[0-9.]+$/.test(name) ? host : undefined
}

function isRange(host: string): boolean {
  const [address = '', bits = '', ...rest] = host.split('/')
  const family = isIP(address)
  return family !== 0 && rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
}

type Written = { network_mode?: NetworkPolicy['mode'] | undefined; allowed_hosts?: readonly string[] | undefined }

/** The policy of a phase: its own fields, else the environment's. */
export function networkPolicy(phase: Written, baseline?: NetworkPolicy): NetworkPolicy {
  if (phase.network_mode === undefined) return baseline ?? { mode: 'public', hosts: [] }
  return {
    mode: phase.network_mode,
    hosts: phase.network_mode === 'allowlist' ? [...new Set(phase.allowed_hosts)] : [],
  }
}

/**
 * A policy with further hosts of the run: they widen an allowlist, turn no network into one, and mean nothing where everything
 * is allowed.
 */
export function widenPolicy(policy: NetworkPolicy, extraHosts: readonly string[]): NetworkPolicy {
  if (extraHosts.length === 0 || policy.mode === 'public') return policy
  return { mode: 'allowlist', hosts: [...new Set([...policy.hosts, ...extraHosts])] }
}

/** Whether two policies allow the same. */
export function samePolicy(a: NetworkPolicy, b: NetworkPolicy): boolean {
  return a.mode === b.mode && [...a.hosts].sort().join() === [...b.hosts].sort().join()
}
