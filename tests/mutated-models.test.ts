import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { EvsysError, keyedRandom } from '../src/kernel/index.ts'
import { openChatTemplate, openTokenizer, readChatTemplate } from '../src/models/index.ts'
import { writeModelFolder } from './model-folder.ts'
import { damagedJson } from './model-mutations.ts'
import { inFullLane } from './scale.ts'
import { temporaryFolders } from './temporary-folder.ts'

const folder = temporaryFolders()
const text = "Hello <|im_end|> 漢字 😀 <unk> it's 42\n\n x"
const cases = inFullLane ? 1500 : 300

/** Opens all of a folder and uses it; the code of the error, or `used`. */
async function use(at: string): Promise<string> {
  try {
    const tokenizer = await openTokenizer(at)
    const tokens = tokenizer.encode(text)
    expect(tokens.every((token) => token >= 0 && token < tokenizer.vocabSize)).toBe(true)
    expect([...tokens].some((token) => tokenizer.special.get('<|im_end|>') === token)).toBe(false)
    expect(typeof tokenizer.decode(tokenizer.encode(text, { special: true }))).toBe('string')
    const template = await readChatTemplate(at)
    if (template === undefined) return 'used'
    const renderer = await openChatTemplate({ tokenizer, template })
    renderer.conversation([
      { role: 'user', content: text },
      { role: 'assistant', content: text },
    ])
    return 'used'
  } catch (cause) {
    if (!EvsysError.is(cause)) throw cause
    expect(cause.message).not.toBe('')
    expect(cause.fix).toBeDefined()
    return cause.code
  }
}

describe('damaged models', () => {
  it.each(['evsys/nano', 'gpt2', 'llama2', 'metaspace-first', 'llama3'])(
    '%s: are typed errors, or work (MOD-8)',
    async (name) => {
      const at = writeModelFolder(folder(), name)
      const file = join(at, 'tokenizer.json')
      const valid = readFileSync(file, 'utf8')
      expect(await use(at)).toBe('used')
      const random = keyedRandom(1, 'damaged tokenizer', name)
      const codes = new Set<string>()
      for (let index = 0; index < cases / 5; index++) {
        writeFileSync(file, damagedJson(valid, random))
        codes.add(await use(at))
      }
      expect(codes).toEqual(new Set(['used', 'MODEL_INVALID']))
    },
  )

  it('the same for what describes the tokens, with the template (MOD-8)', async () => {
    const at = writeModelFolder(folder(), 'evsys/nano')
    const file = join(at, 'tokenizer_config.json')
    const valid = readFileSync(file, 'utf8')
    const random = keyedRandom(1, 'damaged config')
    const template = JSON.parse(valid).chat_template
    const codes = new Set<string>()
    for (let index = 0; index < cases / 3; index++) {
      writeFileSync(file, damagedJson(valid, random))
      codes.add(await use(at))
      const cut = random.int(template.length)
      const rest = random.int(template.length)
      const chat_template = template.slice(0, cut) + template.slice(rest)
      writeFileSync(file, JSON.stringify({ ...JSON.parse(valid), chat_template }))
      codes.add(await use(at))
    }
    expect([...codes].filter((code) => !['used', 'MODEL_INVALID', 'DATA_INVALID'].includes(code))).toEqual([])
    expect(codes.size).toBeGreaterThan(1)
  })
})
