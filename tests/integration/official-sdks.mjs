// @ts-nocheck: the SDKs are not installed where types are checked
// Asks a server by the official SDKs of Anthropic and OpenAI, and prints what they made of its answers as lines of JSON.
// argv: folder of the SDKs, address, key, then what to ask for.
import { createRequire } from 'node:module'
import { join } from 'node:path'

const [folder, url, apiKey, ...wanted] = process.argv.slice(2)
const require = createRequire(join(folder, 'package.json'))
const { Anthropic } = require('@anthropic-ai/sdk')
const { OpenAI } = require('openai')

const claude = new Anthropic({ apiKey, baseURL: url, maxRetries: 0 })
const patient = new Anthropic({ apiKey, baseURL: url, maxRetries: 2 })
const gpt = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 })
const messages = [{ role: 'user', content: 'ping' }]
const tool = { name: 'look', description: 'looks', parameters: { type: 'object', properties: {} } }
const message = {
  model: 'claude-sonnet-4-6',
  max_tokens: 64,
  messages,
  tools: [{ name: tool.name, description: tool.description, input_schema: tool.parameters }],
}
const chat = { model: 'gpt-4.1', messages, tools: [{ type: 'function', function: tool }] }
const items = { model: 'gpt-4.1', input: 'ping', tools: [{ type: 'function', strict: false, ...tool }] }

const ways = {
  message: () => claude.messages.create(message),
  messageAgain: () => patient.messages.create(message),
  messageStream: () => claude.messages.stream(message).finalMessage(),
  countTokens: () => claude.messages.countTokens({ model: message.model, messages }),
  chat: () => gpt.chat.completions.create(chat),
  chatStream: () =>
    gpt.chat.completions.stream({ ...chat, stream_options: { include_usage: true } }).finalChatCompletion(),
  response: () => gpt.responses.create(items),
  responseStream: () => gpt.responses.stream(items).finalResponse(),
}

for (const name of wanted) {
  try {
    process.stdout.write(`${JSON.stringify({ name, answer: await ways[name]() })}\n`)
  } catch (error) {
    const { status, type, code, message: words, headers } = error
    const kind = error.constructor.name
    const after = headers?.get('retry-after') ?? undefined
    process.stdout.write(`${JSON.stringify({ name, error: { kind, status, type, code, words, after } })}\n`)
  }
}
