import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { needs } from '../../../tests/needs.ts'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import type { GenerateRequest } from '../../contracts/index.ts'
import { probeSandboxes } from '../../sandbox/index.ts'
import { local } from '../environments/local.ts'
import { loadTaskFolder, taskRow } from '../task/index.ts'
import { cli } from './cli-agent.ts'

const folder = temporaryFolders()
const works = await probeSandboxes()
const sandbox = needs('a sandbox that shows node', () => {
  if (!['/usr/bin/node', '/usr/local/bin/node'].some((file) => existsSync(file))) return 'node is not under /usr'
  const isThere = works.some(({ level, reason }) => level !== 'container' && reason === undefined)
  return isThere || works.map(({ reason }) => reason).join()
})

// Asks the policy, then knocks at the door of the machine outside, which it must not reach.
const program = `
const net = require('node:net')
;(async () => {
  const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: process.argv[1] }], stream: true }),
  })
  const text = await response.text()
  const words = text.split('\\n').filter((line) => line.startsWith('data: {')).map((line) => JSON.parse(line.slice(6)).choices[0].delta.content ?? '')
  const outside = await new Promise((resolve) => {
    const socket = net.connect({ host: '192.0.2.1', port: 9 })
    socket.on('error', (error) => resolve(error.code))
    socket.on('connect', () => resolve('connected'))
  })
  require('node:fs').writeFileSync('answer.txt', words.join(''))
  console.log(words.join('') + ' ' + outside)
})()
`

sandbox.describe('a program in a sandbox without network', () => {
  it('reaches the policy of its trial and nothing else (EXT-1, HAR-19)', async () => {
    const path = folder()
    const files = {
      'task.toml': '[environment]\nnetwork_mode = "no-network"\n',
      'instruction.md': 'greet',
      'environment/.gitkeep': '',
    }
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(path, name)), { recursive: true })
      writeFileSync(join(path, name), text)
    }
    const task = await taskRow(await loadTaskFolder(path, { withoutVerification: true }))
    await using environment = await local.open({ ...pluginContext(local), task, folder: { path }, stateDir: folder() })
    const asked: GenerateRequest[] = []
    const { output } = await cli.run({
      ...pluginContext(cli, { command: ['node', '-e', program, '{instruction}'] }),
      task,
      environment,
      sampling: { maxTokens: 64, temperature: 1 },
      maxTurns: 5,
      policy: {
        async generate(request) {
          asked.push(request)
          return { text: 'good day', stopReason: 'stop', usage: { promptTokens: 1, completionTokens: 1, latencyS: 0 } }
        },
      },
    })
    expect(output).toMatch(/^good day E(NETUNREACH|HOSTUNREACH|PERM|ACCES|NETDOWN)\n$/)
    expect(asked[0]?.messages[0]?.content).toBe(task.instruction)
    const written = Buffer.from(await environment.read(join(environment.workdir, 'answer.txt'))).toString()
    expect(written).toBe('good day')
  })
})
