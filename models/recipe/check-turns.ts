// Whether answers end: 200 held-out prompts, answered greedily through a trainer of this machine.
//   npx jiti models/recipe/check-turns.ts [WORK] [MODEL]
// Ends with 1 where fewer than 95 % of the answers close with the end-of-turn token within 128 tokens.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChatMessage } from '../../src/contracts/index.ts'
import { openChatTemplate, openTokenizer, readChatTemplate, resolveModelFolder } from '../../src/models/index.ts'
import { openLocalClient } from './tasks/local-client.ts'

const [work = '.tmp/model', model = 'evsys/tiny'] = process.argv.slice(2)
const numPrompts = 200
const goal = 0.95
const { folder } = await resolveModelFolder(model)
const tokenizer = await openTokenizer(folder)
const chat = await openChatTemplate({ tokenizer, template: (await readChatTemplate(folder)) ?? '' })
const dialogues = readFileSync(join(work, 'dialogues/heldout.jsonl'), 'utf8')
  .split('\n', numPrompts)
  .map((line): ChatMessage[] => JSON.parse(line).messages)
await using local = await openLocalClient([model])
const sampler = await local.client.sampler({ baseModel: model })
const answers = await Promise.all(dialogues.map(answer))
const ended = answers.filter(({ hasEnded }) => hasEnded).length
const exact = answers.filter(({ isExact }) => isExact).length
console.log(JSON.stringify({ model, prompts: answers.length, ended, exact }))
process.exitCode = ended >= goal * answers.length ? 0 : 1

async function answer(messages: readonly ChatMessage[]): Promise<{ hasEnded: boolean; isExact: boolean }> {
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  const [sample] = await sampler.sample({
    prompt: chat.prompt(messages.slice(0, last)),
    ...{ numSamples: 1, maxTokens: 128, temperature: 0, seed: 0 },
    stop: chat.stop.filter((token) => typeof token === 'number'),
  })
  if (sample === undefined) return { hasEnded: false, isExact: false }
  const { message, complete } = chat.parse(sample.tokens)
  return {
    hasEnded: complete && sample.stopReason === 'stop',
    isExact: JSON.stringify(parts(message)) === JSON.stringify(parts(messages[last])),
  }
}

// Arguments of a call are an object in the dialogues and text in an answer.
function parts(message: ChatMessage | undefined): unknown {
  const calls = message?.tool_calls?.map(({ function: { name, arguments: given } }) => [
    name,
    typeof given === 'string' ? JSON.parse(given) : given,
  ])
  return [message?.content ?? '', calls ?? []]
}
