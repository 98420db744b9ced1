// What a verifier wrote as numbers. JSON comes first; whatever is not a finite number is an error with a name, never a reward.
import { type EvsysError, messageOf } from '../../kernel/index.ts'
import { trialError } from './trial-error.ts'
import type { Rewards } from './trial-result.ts'

/** A verifier has a few numbers to tell; details have a file of their own. */
export const REWARD_FILE_BYTES = 1_000_000

/** Contents of the reward files; undefined: there is no such file. */
export interface RewardFiles {
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
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrong('reward.json', `holds ${shown(json.trim())} in place of an object of numbers`)
  }
  const entries = Object.entries(value)
  if (entries.length === 0) throw wrong('reward.json', 'names no reward')
  return Object.fromEntries(
    entries.map(([key, each]: [string, unknown]) => {
      if (typeof each !== 'number')
        throw wrong('reward.json', `"${shown(key)}" is ${shown(JSON.stringify(each))}, not a number`)
      return [key, finite(each, `reward.json: "${shown(key)}"`)]
    }),
  )
}

function finite(value: number, place: string): number {
  if (Number.isFinite(value)) return value
  throw wrong(place, 'is larger than any number')
}

function disagreement(rewards: Rewards, text: string): string[] {
  const told = Object.values(rewards)
  const written = Number(text.trim())
  const agrees = text.trim() !== '' && (rewards.reward ?? (told.length === 1 ? told[0] : undefined)) === written
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
