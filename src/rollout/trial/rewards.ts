// What a verifier wrote as numbers. JSON comes first; whatever is not a finite number is an error with a name, never a reward.

import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { type EvsysError, isMapping, messageOf, systemCode } from '../../kernel/index.ts'
import { type ExceptionName, trialError } from './trial-error.ts'
import type { Rewards, StepResult } from './trial-result.ts'

/** A verifier reports a few numbers; details have a separate file. */
const REWARD_FILE_BYTES = 1_000_000

/** Contents of the reward files; undefined: there is no such file. */
interface RewardFiles {
  readonly json: string | undefined
  readonly text: string | undefined
}

/** The rewards, and what is worth a warning. */
export function parseRewards({ json, text }: RewardFiles): { rewards: Rewards; warnings: string[] } {
  if (json === undefined && text === undefined) {
    throw trialError('RewardFileNotFoundError', 'the verifier wrote neither reward.json nor reward.txt')
  }
  if (json === undefined) return { rewards: parseText(text ?? ''), warnings: [] }
  const rewards = parseJson(json)
  return { rewards, warnings: text === undefined ? [] : disagreement(rewards, text) }
}

function parseText(text: string): Rewards {
  const written = text.trim()
  if (written === '') throw trialError('RewardFileEmptyError', 'reward.txt is empty')
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(written)) throw wrong('reward.txt', `holds ${shown(written)}`)
  return { reward: finite(Number(written), 'reward.txt') }
}

function parseJson(json: string): Rewards {
  if (json.trim() === '') throw trialError('RewardFileEmptyError', 'reward.json is empty')
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (cause) {
    throw wrong('reward.json', `is no JSON: ${messageOf(cause)}`)
  }
  if (!isMapping(value)) {
    throw wrong('reward.json', `holds ${shown(json.trim())} in place of an object of numbers`)
  }
  const entries = Object.entries(value)
  if (entries.length === 0) throw wrong('reward.json', 'names no reward')
  return Object.fromEntries(
    entries.map(([key, each]: [string, unknown]) => {
      if (typeof each !== 'number')
        throw wrong('reward.json', `"${shown(key)}" is ${shown(textOf(each))}, not a number`)
      return [key, finite(each, `reward.json: "${shown(key)}"`)]
    }),
  )
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    return 'nested too deeply' // V8 writes fewer levels than it reads
  }
}

function finite(value: number, place: string): number {
  if (Number.isFinite(value)) return value
  throw wrong(place, 'is larger than any number')
}

function disagreement(rewards: Rewards, text: string): string[] {
  const written = Number(text.trim())
  const agrees = text.trim() !== '' && scalarReward(rewards) === written
  return agrees
    ? []
    : [`reward.json and reward.txt disagree: reward.json counts, reward.txt holds ${shown(text.trim())}`]
}

function wrong(place: string, what: string): EvsysError {
  return trialError('VerifierOutputParseError', `${place} ${what}`)
}

function shown(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}...` : text
}

// The reward files of a verifier, read from the folder they were brought to. A link, a pipe or a folder under their name is no reward,
// however it came there.

export async function readRewardFiles(dir: string): Promise<RewardFiles> {
  return { json: await readPlain(dir, 'reward.json'), text: await readPlain(dir, 'reward.txt') }
}

// Opened without following a link and without waiting for the other end of a pipe; looked at through the handle, so that what is
// checked is what is read.
async function readPlain(dir: string, name: string): Promise<string | undefined> {
  const path = join(dir, name)
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (cause: unknown) => {
      const code = systemCode(cause)
      if (code === 'ENOENT') return undefined
      if (code === 'ELOOP' || code === 'EMLINK') throw wrong(name, 'is a link')
      throw trialError('DownloadVerifierDirError', `${name} cannot be read`, { cause })
    },
  )
  if (file === undefined) return undefined
  await using handle = file
  const found = await handle.stat()
  if (!found.isFile()) throw wrong(name, 'is no file')
  if (found.nlink > 1) throw wrong(name, 'is a link')
  if (found.size > REWARD_FILE_BYTES) throw wrong(name, `has ${found.size} bytes`)
  return await handle.readFile('utf8')
}

// Rewards of several steps: whether the next one is reached, and what the whole trial gets.

/** Whether a step was good enough for the next one. A number gates the key `reward`; what is missing is below every gate. */
export function meetsGate(
  minReward: number | Readonly<Record<string, number>> | undefined,
  rewards: Rewards | null | undefined,
): boolean {
  if (minReward === undefined) return true
  const gates = typeof minReward === 'number' ? { reward: minReward } : minReward
  return Object.entries(gates).every(([key, least]) => (rewards?.[key] ?? Number.NEGATIVE_INFINITY) >= least)
}

/**
 * Rewards of the trial. `mean`: per key, over the steps that were scored; `final`: those of the last step that ran. A step that could
 * not be scored for what its agent left counts as 0.
 */
export function combineSteps(
  steps: readonly (Pick<StepResult, 'verifier_result'> & Partial<Pick<StepResult, 'exception_info'>>)[],
  strategy: 'mean' | 'final',
): Rewards | undefined {
  if (strategy === 'final') return steps.at(-1)?.verifier_result?.rewards ?? undefined
  const scored = steps
    .map(({ verifier_result, exception_info }) => verifier_result?.rewards ?? (isWrecked(exception_info) ? {} : null))
    .filter((each) => each !== null)
  if (scored.length === 0) return undefined
  const keys = [...new Set(scored.flatMap((rewards) => Object.keys(rewards)))]
  if (keys.length === 0) return undefined
  return Object.fromEntries(
    keys.map((key) => [key, scored.reduce((sum, rewards) => sum + (rewards[key] ?? 0), 0) / scored.length]),
  )
}

function isWrecked(info: StepResult['exception_info'] | undefined): boolean {
  return info?.exception_type === ('EnvironmentWreckedError' satisfies ExceptionName)
}

/** The number that counts: the key `reward`, else the only one. */
export function scalarReward(rewards: Rewards | null | undefined): number | undefined {
  if (rewards === null || rewards === undefined) return undefined
  const values = Object.values(rewards)
  return rewards.reward ?? (values.length === 1 ? values[0] : undefined)
}
