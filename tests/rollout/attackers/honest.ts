// An agent that does what its task asks for, beside others that do not. Every third gets the answer from its policy, through the proxy
// that all share.
import type { ProxyServer, ServedSession } from '../../../src/rollout/index.ts'
import type { AttackRun } from './attack.ts'

/** A shell that works for a while, so that it meets its siblings, and notices when its files are touched. */
const work = `set -e; for i in $(seq 300); do echo $i >> /app/work; done
[ "$(wc -l < /app/work)" = 300 ]; [ "$(ls -A /app)" = work ]; [ ! -e /tests ]; [ -z "$(ls -A /logs/verifier /logs/artifacts | grep -v : )" ]
echo "$2" > /logs/agent/note.txt; echo "$1" > /app/answer`

export interface HonestWork {
  readonly n: number
  /** What it leaves in its record. */
  readonly note: string
  readonly proxy: ProxyServer
  onProxyTrial(trial: ServedSession): void
}

export async function actHonestly(run: AttackRun, { n, note, proxy, onProxyTrial }: HonestWork): Promise<void> {
  const { environment, policy, sampling, signal } = run
  let answer = '42'
  if (n % 3 === 0) {
    using trial = proxy.open({ policy, sampling, model: 'm', maxTurns: 1, seed: () => 1 })
    onProxyTrial(trial)
    answer = await askPolicy(trial, signal)
  }
  const { exitCode, stderr } = await environment.exec({ argv: ['bash', '-c', work, 'bash', answer, note] }, signal)
  if (exitCode !== 0) throw new Error(`the work ended with ${exitCode}: ${stderr}`)
}

async function askPolicy({ openaiUrl, key }: ServedSession, signal: AbortSignal): Promise<string> {
  const response = await fetch(`${openaiUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'What is six times seven?' }] }),
    signal,
  })
  const told: unknown = await response.json()
  const [, answer = ''] = /"content":"(\d+)"/.exec(JSON.stringify(told)) ?? []
  return answer
}
