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
function normaliseHost(written: string): string | undefined {
  const host = written.trim().toLowerCase().replace(/\.+$/, '')
  if (host.includes('/')) return normaliseRange(host)
  if (isIP(host) === 4) return host
  if (host.includes(':')) return normaliseIpv6(host)
  const name = host.startsWith('*.') ? host.slice(2) : host
  // Digits and dots that are no address are a mistake, not a name.
  const isName =
    /[^0-9.]/.test(name) && name.split('.').every((label) => label.length <= 63 && labelPattern.test(label))
  return isName ? host : undefined
}

const labelPattern = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/

function normaliseIpv6(host: string): string | undefined {
  // A URL holds an address in its shortest spelling; zones (`%eth0`) name an interface of one machine.
  return isIP(host) === 6 && !host.includes('%') ? new URL(`http://[${host}]`).hostname.slice(1, -1) : undefined
}

// A range names its first address: bits after the prefix are zero.
function normaliseRange(host: string): string | undefined {
  const [address = '', bits = '', ...rest] = host.split('/')
  const first = isIP(address) === 4 ? address : normaliseIpv6(address)
  const width = isIP(address) === 4 ? 32 : 128
  if (first === undefined || rest.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > width) return undefined
  const after = BigInt(width - Number(bits))
  return addressBits(first) % (1n << after) === 0n ? `${first}/${Number(bits)}` : undefined
}

function addressBits(address: string): bigint {
  if (isIP(address) === 4) return address.split('.').reduce((sum, part) => (sum << 8n) + BigInt(part), 0n)
  const [head = '', tail] = address.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const missing = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length
  const all = [...groups(head), ...Array.from({ length: missing }, () => '0'), ...groups(tail ?? '')]
  return all.reduce((sum, group) => (sum << 16n) + BigInt(`0x${group}`), 0n)
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

export function samePolicy(a: NetworkPolicy, b: NetworkPolicy): boolean {
  return a.mode === b.mode && [...a.hosts].sort().join() === [...b.hosts].sort().join()
}
