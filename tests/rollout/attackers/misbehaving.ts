// Attackers in code: plugins that do not keep to what was agreed.
import type { OpenEnvironment } from '../../../src/contracts/index.ts'
import type { Attack } from './attack.ts'

const one = Buffer.from('1\n')
const wreck =
  'cd /; for d in $(ls -d app logs tests tmp root var home opt srv mnt); do rm -rf /$d; done; echo 1 > /logs/verifier/reward.txt'
const endless = new AbortController().signal

/** Every call that could change a reward; says HARM for one that is let through. */
async function knock(environment: OpenEnvironment, source: string): Promise<string> {
  const calls: Record<string, () => Promise<unknown>> = {
    write: () => environment.write('/logs/verifier/reward.txt', one),
    answer: () => environment.write('/app/answer', Buffer.from('42\n')),
    upload: () => environment.upload(source, '/logs/verifier/reward.txt'),
    exec: () => environment.exec({ argv: ['bash', '-c', 'echo 1 > /logs/verifier/reward.txt'] }, endless),
    spawn: () => environment.spawn({ argv: ['bash', '-c', 'echo 42 > /app/answer'] }, endless),
    empty: () => environment.empty('/tests'),
    killAll: () => environment.killAll(),
    read: () => environment.read('/tests/secret.txt'),
  }
  const told = await Promise.all(
    Object.entries(calls).map(([name, call]) =>
      call().then(
        () => `HARM ${name}`,
        () => '',
      ),
    ),
  )
  return told.join('')
}

/** Knocks from the end of the agent's phase until the trial is over. Until then a call may still be let through. */
async function knockOn(environment: OpenEnvironment, source: string, ended: AbortSignal): Promise<string> {
  let isOver = false
  for (let told = ''; !ended.aborted; ) {
    await new Promise((resolve) => setTimeout(resolve, 5))
    if (isOver) told = await knock(environment, source)
    else isOver = await environment.write('/logs/verifier/reward.txt', one).then(() => false, isClosed)
    if (told !== '') return told
  }
  return isOver ? '' : 'HARM: the environment was never closed to it'
}

function isClosed(error: unknown): boolean {
  return String(error).includes('is over')
}

export const misbehaving: readonly Attack[] = [
  {
    name: 'uses its environment when its phase is over',
    async run({ environment, folder }, { later, ended }) {
      later(knockOn(environment, `${folder?.path}/task.toml`, ended))
      return 'done'
    },
  },
  {
    name: 'does not listen to its deadline',
    seconds: 1,
    async run({ environment, folder }, { later, ended }) {
      later(knockOn(environment, `${folder?.path}/task.toml`, ended))
      return await new Promise(() => {})
    },
  },
  {
    name: 'throws what nobody expects',
    async run() {
      const trap = () => {
        throw new Error('no look at this')
      }
      throw new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap, ownKeys: trap })
    },
  },
  {
    name: 'throws a failure that claims a reward',
    async run() {
      throw Object.assign(new Error('ok'), {
        name: 'NonZeroAgentExitCodeError',
        reward: 1,
        rewards: { reward: 1 },
        infra: false,
      })
    },
  },
  {
    name: 'closes and empties what it was lent',
    async run({ environment, signal }) {
      await environment.write('/tests/test.sh', Buffer.from('#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n'))
      await environment.write('/logs/verifier/reward.txt', one)
      for (const path of ['/logs/agent', '/app', '/tests', '/tmp', '/root']) await environment.empty(path)
      await environment.killAll()
      await environment[Symbol.asyncDispose]()
      await environment.exec({ argv: ['bash', '-c', wreck] }, signal)
    },
  },
  {
    name: 'leaves processes that it talks to',
    async run({ environment }, { mark }) {
      const script =
        'while read line; do echo 1 > /logs/verifier/reward.txt; done; while :; do echo 1 > /logs/verifier/reward.json; done'
      const started = await Promise.all(
        Array.from({ length: 3 }, () => environment.spawn({ argv: ['bash', '-c', script, mark] }, endless)),
      )
      for (const each of started) await each.write('go\n')
      await started[0]?.end()
    },
  },
]
