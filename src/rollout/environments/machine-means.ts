// What this machine has for environments, tried out once for a process.

import { messageOf } from '../../kernel/index.ts'
import { probeSandboxes } from '../../sandbox/index.ts'
import type { MachineMeans } from './choose-environment.ts'
import { DockerCli, lastWords } from './docker-cli.ts'

/** The sandbox and the docker engine of this machine. */
export function machineMeans(signal: AbortSignal, program = 'docker'): MachineMeans {
  return { sandbox: () => (sandbox ??= trySandbox()), docker: () => tryDocker(program, signal) }
}

let sandbox: Promise<string | undefined> | undefined

async function trySandbox(): Promise<string | undefined> {
  const probes = await probeSandboxes()
  if (probes.some(({ level, reason }) => level !== 'container' && reason === undefined)) return undefined
  return probes.map(({ level, reason }) => `${level}: ${reason ?? 'works, and has other programs'}`).join('; ')
}

async function tryDocker(program: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const answer = await new DockerCli(program).call(['version', '--format', '{{.Server.Version}}'], { signal })
    return answer.code === 0 ? undefined : lastWords(answer)
  } catch (error) {
    signal.throwIfAborted()
    return messageOf(error)
  }
}
