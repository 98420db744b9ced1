// Plays the lists: `jiti tests/attacks/main.ts FOLDER [options of scripts/attack.mjs]`. A line of JSON for each row, as soon as it is played.
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
    target: { type: 'string' },
    every: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    to: { type: 'string', default: 'Infinity' },
    seconds: { type: 'string', default: 'Infinity' },
    // Names, as JSON, that are not played.
    except: { type: 'string', default: '[]' },
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
const except = new Set<string>(JSON.parse(values.except))
const isWanted = ({ name, target }: { name: string; target: string }, i: number) =>
  name.includes(values.word) &&
  (values.target === undefined || target === values.target) &&
  i % Number(values.every) === 0 &&
  i >= Number(values.from) &&
  i < Number(values.to) &&
  !except.has(name)
const size = Number(values.size)
// Each is played at once, and said when it has ended.
const parts: (() => Promise<Played[]>)[] = []
if (values.list !== 'attacks')
  for (const batch of batches(honestRows.filter(isWanted), size)) parts.push(() => playHonest(batch, player))
if (values.list !== 'honest') {
  for (const batch of batches(attackRows.filter(isWanted), size)) parts.push(() => playAttacks(batch, player))
  const requests = requestAttacks.filter((row, i) => isWanted({ ...row, target: 'trainer' }, i))
  if (requests.length > 0) parts.push(() => playRequests(requests, player))
  for (const row of inputAttacks.filter(isWanted)) parts.push(async () => [await playInput(row, player)])
}
for (const part of parts) {
  if (performance.now() > Number(values.seconds) * 1000) break
  say(await part())
}
