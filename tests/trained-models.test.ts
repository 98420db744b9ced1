import { describe, expect, it } from 'vitest'
import { loadBaseModel } from '../src/engine/files/base-model.ts'
import { project, ReferenceModel } from '../src/engine/reference/reference-model.ts'
import { forward } from '../src/engine/reference/transformer.ts'
import { openChatTemplate, openTokenizer, readChatTemplate, resolveModelFolder } from '../src/models/index.ts'

const { signal } = new AbortController()
const text =
  'The file that you have opened is not a text file. If you want to read it, use another program, or change its name.'

async function open(name: string) {
  const { folder } = await resolveModelFolder(name)
  const model = new ReferenceModel(
    { baseModel: name, lora: undefined },
    await loadBaseModel(folder, { maxParameters: 1e7, signal }),
  )
  const tokenizer = await openTokenizer(folder)
  const chat = await openChatTemplate({ tokenizer, template: (await readChatTemplate(folder)) ?? '' })
  const logits = async (tokens: Int32Array) => {
    const { normed } = await forward(model, tokens, { breathe: async () => {} })
    return project(model, 'lm_head', normed, tokens.length)
  }
  return { tokenizer, chat, logits }
}

function nats(row: Float64Array, token: number): number {
  const most = row.reduce((a, b) => Math.max(a, b))
  return most + Math.log(row.reduce((sum, x) => sum + Math.exp(x - most), 0)) - (row[token] ?? 0)
}

describe('trained models', () => {
  it.each([
    ['evsys/nano', 2.4],
    ['evsys/tiny', 1.4],
  ] as const)('%s has read English: few bits per byte of a new text (MOD-32)', async (name, limit) => {
    const { tokenizer, logits } = await open(name)
    const tokens = Int32Array.from([tokenizer.bos ?? 0, ...tokenizer.encode(text)])
    const rows = await logits(tokens)
    const size = rows.length / tokens.length
    let sum = 0
    for (let at = 1; at < tokens.length; at++) sum += nats(rows.subarray((at - 1) * size, at * size), tokens[at] ?? 0)
    expect(sum / Math.LN2 / text.length).toBeLessThan(limit)
  })

  it('evsys/tiny answers and ends its turn (MOD-32)', async () => {
    const { tokenizer, chat, logits } = await open('evsys/tiny')
    const prompt = chat.prompt([{ role: 'user', content: 'Repeat after me: The green lamp' }])
    const said: number[] = []
    while (said.length < 12 && said.at(-1) !== tokenizer.eos) {
      const tokens = Int32Array.from([...prompt, ...said])
      const rows = await logits(tokens)
      const last = rows.subarray(rows.length - rows.length / tokens.length)
      said.push(last.indexOf(last.reduce((a, b) => Math.max(a, b))))
    }
    expect(chat.parse(Int32Array.from(said))).toMatchObject({ message: { content: 'The green lamp' }, complete: true })
  })
})
