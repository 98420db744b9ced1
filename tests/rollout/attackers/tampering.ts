// Attackers of the capture proxy: from this machine, with keys that are not theirs, and from inside through the bridge.
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import type { OpenEnvironment } from '../../../src/contracts/index.ts'
import { cli } from '../../../src/rollout/cli/cli-agent.ts'
import type { Attack, AttackRun, Target } from './attack.ts'

const question = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'the answer?' }] })

async function ask(url: string, headers: Record<string, string>, body: string, signal: AbortSignal): Promise<number> {
  const response = await fetch(`${url}/chat/completions`, { method: 'POST', headers, body, signal })
  await response.text()
  return response.status
}

/** A program that has taken the place of the bridge: images of tasks bring a `node` of their own. */
function takenOver(run: AttackRun, { mark }: Target, script: string): Promise<unknown> {
  const environment: OpenEnvironment = {
    ...run.environment,
    spawn: (command, signal) => run.environment.spawn({ ...command, argv: ['bash', '-c', script, mark] }, signal),
  }
  return cli.run({ ...run, environment, params: cli.params.parse({ command: 'true' }) })
}

/** Says HARM if this process had so many more open files while the work went on. */
async function mostOpenFiles(more: number, work: () => Promise<unknown>): Promise<unknown> {
  const look = () => readdirSync('/proc/self/fd').length
  const first = look()
  let most = first
  const timer = setInterval(() => {
    most = Math.max(most, look())
  }, 20)
  const said = await work().catch((error: unknown) => error)
  clearInterval(timer)
  return most - first > more ? `HARM: ${most - first} open files` : said
}

export const tampering: readonly Attack[] = [
  {
    name: 'asks with keys that are not its own',
    async run({ policy, sampling, signal }, { proxy, others }) {
      const options = { policy, sampling, model: 'm', maxTurns: 5, seed: () => 1 }
      using own = proxy.open(options)
      const over = proxy.open(options)
      over[Symbol.dispose]()
      const headers = [{}, { authorization: 'Bearer ' }, { 'x-api-key': 'evsys-' }, { 'x-api-key': over.key }]
      const asked = [
        ...headers.map((each) => ask(own.openaiUrl, each, question, signal)),
        ...others.flatMap(({ openaiUrl }) =>
          [...headers, { 'x-api-key': own.key }].map((each) => ask(openaiUrl, each, question, signal)),
        ),
        ask(over.openaiUrl, { 'x-api-key': over.key }, question, signal),
        ask(`${own.openaiUrl}/../../x/v1`, { 'x-api-key': own.key }, question, signal),
      ]
      const answered = (await Promise.all(asked)).filter((status) => status < 400).length
      return answered > 0 ? `HARM: ${answered} answers` : 'refused'
    },
  },
  {
    name: 'floods the proxy',
    seconds: 5,
    async run({ policy, sampling, signal }, { proxy }) {
      using own = proxy.open({ policy, sampling, model: 'm', maxTurns: 5, seed: () => 1 })
      const sockets = Array.from({ length: 100 }, () => connect(proxy.port, '127.0.0.1').on('error', () => {}))
      for (const socket of sockets) socket.write('POST /t/x/v1/chat/completions HTTP/1.1\r\ncontent-length: 99999\r\n')
      const bodies = [question, '{', `[${'['.repeat(20_000)}`, 'x'.repeat(3_000_000), '{"messages":[{"role":"tool"}]}']
      const asked = Array.from({ length: 200 }, (_, i) =>
        ask(
          own.openaiUrl,
          { 'x-api-key': i % 2 === 0 ? own.key : 'wrong' },
          bodies[i % bodies.length] ?? '',
          signal,
        ).catch(() => 0),
      )
      const answered = (await Promise.all(asked)).filter((status) => status === 200).length
      for (const socket of sockets) socket.destroy()
      return answered > 5 ? `HARM: ${answered} answers` : 'refused'
    },
  },
  {
    name: 'forges what the bridge says',
    seconds: 5,
    run: (run, target) =>
      takenOver(
        run,
        target,
        `for i in $(seq 100); do echo '{"t":"open","c":'$i'}'; echo '{"t":"data","c":'$i',"b":"R0VUIC8gSFRUUC8xLjENCg0K"}'; done
         echo '{"t":"exit","code":0,"reward":1,"rewards":{"reward":1}}'; echo '{"t":"__proto__"}'; echo nonsense; echo 1 > /logs/verifier/reward.txt`,
      ),
  },
  {
    name: 'opens connections over the bridge without an end',
    seconds: 5,
    run: (run, target) =>
      mostOpenFiles(500, () => takenOver(run, target, `yes '{"t":"open","c":1}' | head -n 20000; read line; sleep 1`)),
  },
  {
    name: 'says one line without an end over the bridge',
    seconds: 20,
    async run(run, target) {
      const said = await takenOver(run, target, `tr '\\0' x < /dev/zero`).catch((error: unknown) => error)
      return run.signal.aborted ? 'HARM: it was listened to until its deadline' : said
    },
  },
  {
    name: 'ends the bridge that holds it',
    seconds: 10,
    async run(run, { mark }) {
      const script = 'echo 1 > /logs/verifier/reward.txt; kill -STOP $PPID; kill -9 $PPID; while :; do :; done'
      return await cli.run({ ...run, params: cli.params.parse({ command: ['bash', '-c', script, mark] }) })
    },
  },
]
