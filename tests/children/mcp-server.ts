// An MCP server on its standard streams. MODE says what it does wrong.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { type McpMessage, mcpAnswers } from '../mcp-answers.ts'

const mode = process.env.MODE ?? ''
const answer = mcpAnswers(mode)
const say = (message: Record<string, unknown>) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

if (mode === 'dies') {
  process.stderr.write('no licence')
  process.exit(3)
}
if (mode === 'garbage') process.stdout.write('hello there\n')
const asked = new Map<unknown, McpMessage>()

createInterface({ input: process.stdin }).on('line', (line) => {
  const message: McpMessage = JSON.parse(line)
  if (mode === 'asks') asked.set(message.id, message)
  if (mode === 'asks' && message.method === 'initialize') {
    say({ id: 'p', method: 'ping' })
    say({ id: 's', method: 'sampling/createMessage', params: {} })
    say({ method: 'notifications/message', params: {} })
  }
  if (mode === 'asks' && message.params?.name === 'env') {
    say({
      id: message.id,
      result: { content: [{ type: 'text', text: JSON.stringify([asked.get('p'), asked.get('s')]) }] },
    })
    return
  }
  if (mode === 'dies-later' && message.method === 'tools/call') process.exit(5)
  if (mode === 'starts-child' && message.params?.name === 'env') {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    say({ id: message.id, result: { content: [{ type: 'text', text: String(child.pid) }] } })
    return
  }
  const said = answer(message)
  if (said !== undefined) say(said)
})
