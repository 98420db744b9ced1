// Plays the lists: `jiti tests/attacks/main.ts FOLDER [--list attacks|honest] [--word WORD] [--size N] [--seal required]`. A line of JSON for each row.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { attackRows } from './attack-rows.ts'
import { honestRows } from './honest-rows.ts'
import { inputAttacks } from './input-attacks.ts'
import { playInput } from './play-inputs.ts'
import { batches, type Player, playAttacks, playHonest } from './play-recipes.ts'
import { playRequests } from './play-requests.ts'
import { requestAttacks } from './request-attacks.ts'
import type { Played } from './rows.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'string' },
    word: { type: 'string', default: '' },
    size: { type: 'string', default: '12' },
    seal: { type: 'string', default: 'auto' },
    every: { type: 'string', default: '1' },
    keep: { type: 'boolean', default: false },
  },
})
const [root = ''] = positionals
const evsys = [process.execPath, fileURLToPath(new URL('../../bin/evsys.js', import.meta.url))]
mkdirSync(root, { recursive: true })
const folders: string[] = []
const player: Player = {
  evsys,
  folder() {
    const made = mkdtempSync(join(root, 'place-'))
    folders.push(made)
    return made
  },
  onSuspects: (harm) =>
    process.stderr.write(
      `${harm.length} among many: ${harm
        .slice(0, 12)
        .map((each) => each.slice(0, 200))
        .join('\n  ')}\n`,
    ),
  seal: values.seal === 'required' ? 'required' : 'auto',
}
const say = (played: readonly Played[]) => {
  if (!values.keep) for (const each of folders.splice(0)) rmSync(each, { recursive: true, force: true, maxRetries: 3 })
  for (const each of played) process.stdout.write(`${JSON.stringify(each)}\n`)
}
const wanted = <R extends { name: string }>(rows: readonly R[]) =>
  rows.filter(({ name }) => name.includes(values.word)).filter((_, i) => i % Number(values.every) === 0)
if (values.list !== 'attacks')
  for (const batch of batches(wanted(honestRows), Number(values.size))) say(await playHonest(batch, player))
if (values.list !== 'honest')
  for (const batch of batches(wanted(attackRows), Number(values.size))) say(await playAttacks(batch, player))
if (values.list !== 'honest') {
  const requests = wanted(requestAttacks)
  if (requests.length > 0) say(await playRequests(requests, player))
  for (const row of wanted(inputAttacks)) say([await playInput(row, player)])
}
