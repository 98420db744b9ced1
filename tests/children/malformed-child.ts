// Reads inputs of one kind and says after each, as a line of JSON, what came of it, in what time and with what memory:
// `malformed-child KIND FROM TO`, or `malformed-child KIND BOMB`. A parent that hears nothing knows which input hangs.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EvsysError, keyedRandom } from '../../src/kernel/index.ts'
import { damaged } from '../malformed/damage.ts'
import { type Input, kinds } from '../malformed/kinds.ts'

const [name = '', from = '', to] = process.argv.slice(2)
const kind = kinds.find((each) => each.name === name)
if (kind === undefined) throw new Error(`no kind is called ${name}`)
const home = mkdtempSync(join(tmpdir(), 'evsys-malformed-'))
const { bombs, seeds, mutate = damaged, use } = kind

/** The most memory that this process took since the last call, in MB. Linux alone forgets it on demand. */
function peakMb(): number {
  try {
    const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024
    writeFileSync('/proc/self/clear_refs', '5')
    return peak
  } catch {
    return process.resourceUsage().maxRSS / 1024
  }
}

async function outcomeOf(input: Input, dir: string): Promise<string> {
  try {
    const used = await use(input, dir)
    return typeof used === 'string' ? used : 'used'
  } catch (error) {
    if (EvsysError.is(error) && error.problems.every(({ code, message }) => code !== 'INTERNAL' && message !== ''))
      return error.code
    return `NOT TYPED: ${error instanceof Error ? (error.stack ?? error.message).slice(0, 600) : String(error)}`
  }
}

async function tried(label: string, input: Input): Promise<void> {
  const dir = mkdtempSync(join(home, 'x'))
  process.stdout.write(`${JSON.stringify({ began: label })}\n`)
  peakMb()
  const began = performance.now()
  const cpu = process.cpuUsage()
  const outcome = await outcomeOf(input, dir)
  const ms = performance.now() - began
  const { user, system } = process.cpuUsage(cpu)
  const cpuMs = (user + system) / 1000
  process.stdout.write(`${JSON.stringify({ label, outcome, ms, cpuMs, peakMb: peakMb() })}\n`)
  if (!name.startsWith('request')) rmSync(dir, { recursive: true, force: true })
}

if (to === undefined) {
  const bomb = bombs[from]
  if (bomb === undefined) throw new Error(`no bomb is called ${from}`)
  await tried(from, bomb())
} else {
  const all = await seeds()
  for (let at = Number(from); at < Number(to); at++) {
    const random = keyedRandom(1, 'malformed', name, at)
    const seed = all[at % all.length] ?? ''
    await tried(String(at), mutate(seed, random))
  }
}
rmSync(home, { recursive: true, force: true })
process.exit(0)
