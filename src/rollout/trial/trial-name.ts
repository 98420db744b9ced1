// Names of trials: the task for people, seven characters for uniqueness. They are derived, not drawn: the same place in the same job
// always has the same name, so a job that starts again finds every trial where it left it.
import { createHash } from 'node:crypto'

const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** `<32 characters of the task's short name>__<7 characters of the key>`. */
export function trialName(taskName: string, ...key: readonly (string | number)[]): string {
  const short = (taskName.split('/').at(-1) ?? '').replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[.-]+/, '')
  return `${short.slice(0, 32).replace(/[_-]+$/, '') || 'task'}__${suffix(key)}`
}

function suffix(key: readonly (string | number)[]): string {
  let rest = createHash('sha256').update(JSON.stringify(key)).digest().readBigUInt64BE()
  let text = ''
  for (let i = 0; i < 7; i++, rest /= BigInt(alphabet.length)) text += alphabet[Number(rest % BigInt(alphabet.length))]
  return text
}
