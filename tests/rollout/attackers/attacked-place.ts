// The machine as attackers find it: a task with a secret, a folder beside the job, and a ledger of the harm that is done to them.
import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../../src/kernel/index.ts'
import { processesThatKnow } from '../../processes-with.ts'
import { writeTaskFolder } from '../task-folder.ts'
import { filesWith, lookAt, plantedFiles } from './look-around.ts'

const check = `[ "$(cat /app/answer)" = 42 ] && grep -qx 42 /app/answer && sha256sum < /app/answer | grep -q ^084c799cd551dd1d
[ $? = 0 ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n`

export class AttackedPlace {
  readonly job: string
  readonly outside: string
  readonly task: string
  readonly harm: string[] = []
  readonly #id = randomUUID()
  /** In every file, and in the environment of this process, that attackers must not see. */
  readonly #canary = `canary-${this.#id}`
  readonly #before: Readonly<Record<string, string>>
  readonly #planted = plantedFiles()

  constructor(dir: string) {
    this.job = join(dir, 'job')
    this.outside = join(dir, 'outside')
    this.task = join(dir, 'task')
    process.env.EVSYS_ATTACK_CANARY = this.#canary
    mkdirSync(this.outside)
    writeFileSync(join(this.outside, 'note'), this.#canary)
    chmodSync(join(this.outside, 'note'), 0o666)
    chmodSync(this.outside, 0o777)
    writeTaskFolder(this.task, {
      'task.toml': 'schema_version = "1.4"\n[environment]\nnetwork_mode = "no-network"\nworkdir = "/app"\n',
      'instruction.md': 'Write 42 to /app/answer.\n',
      'tests/test.sh': '#!/bin/bash\nbash /tests/check.sh\n',
      'tests/check.sh': check,
      'tests/secret.txt': this.#canary,
      'solution/solve.sh': `#!/bin/bash\n# ${this.#canary}\necho 42 > /app/answer\n`,
    })
    this.#before = this.#look()
  }

  /** In the arguments and the environment of whatever the attacker `n` starts. */
  mark(n: number): string {
    return `evsys-attack-${this.#id}-${n}-`
  }

  /** What an honest agent leaves in its record. */
  note(n: number): string {
    return `${this.#canary} ${n}`
  }

  /** Looks at what an attacker returned, printed or threw. */
  hear(name: string, said: unknown): void {
    const text = textOf(said)
    if (text.includes('HARM')) this.harm.push(`${name}: ${text.slice(0, 300)}`)
    if (text.includes(this.#canary)) this.harm.push(`${name}: it saw what it must not`)
  }

  /** Looks at a trial that is over. */
  checkTrial(dir: string, resultId: string): void {
    if (existsSync(join(dir, '.environment'))) this.harm.push(`${dir}: files of the environment are left`)
    if (JSON.parse(readFileSync(join(dir, 'result.json'), 'utf8')).id !== resultId)
      this.harm.push(`${dir}: another result`)
  }

  checkHonest(dir: string, n: number): void {
    const file = join(dir, 'agent/note.txt')
    const note = existsSync(file) ? readFileSync(file, 'utf8') : 'missing'
    if (note !== `${this.note(n)}\n`) this.harm.push(`${dir}: the note of the honest agent ${n} is ${note}`)
  }

  checkAttacker(dir: string, n: number, name: string): void {
    const alive = processesThatKnow(this.mark(n)).length
    if (alive > 0) this.harm.push(`${name}: ${alive} processes outlive the trial`)
    const seen = ['agent', 'artifacts', 'verifier'].flatMap((each) => filesWith(join(dir, each), this.#canary))
    this.harm.push(...seen.map((file) => `${name}: ${file} holds what it must not see`))
  }

  /** Looks at the machine when all is over. */
  checkPlace(): void {
    if (processesThatKnow(`evsys-attack-${this.#id}`).length > 0) this.harm.push('processes outlive the job')
    if (JSON.stringify(this.#look()) !== JSON.stringify(this.#before))
      this.harm.push('files beside the job have changed')
    const written = plantedFiles().filter((file) => !this.#planted.includes(file))
    this.harm.push(...written.map((file) => `${file} was written`))
  }

  #look(): Record<string, string> {
    return { ...lookAt(this.task), ...lookAt(this.outside) }
  }
}

function textOf(said: unknown): string {
  try {
    return typeof said === 'string' ? said : messageOf(said)
  } catch {
    return '' // one that cannot be looked at
  }
}
