import { describe, expect, it } from 'vitest'
import { fillTemplate } from '../../src/algorithms/distill/sdft.ts'
import { isSameVocabulary, tokenTeacher } from '../../src/algorithms/distill/token-teacher.ts'
import { openModelText } from '../../src/backends/index.ts'
import { byteTokenizer } from '../../src/backends/models/mock-models.ts'
import { type OtherModels, TeacherSpec, type Tokenizer } from '../../src/contracts/index.ts'

const others = (tokenizer: Tokenizer): OtherModels => ({
  weights: (uri) => ({ kind: 'sampler', uri }),
  tokenizerOf: async () => tokenizer,
  client: () => Promise.reject(new Error('not asked for')),
})
const context = (tokenizer = byteTokenizer) => ({
  others: others(tokenizer),
  reference: { baseModel: 'start' },
  tokenizer: byteTokenizer,
})
const spec = (teacher: unknown) => TeacherSpec.parse(teacher)

describe('a teacher', () => {
  it('is weights of a checkpoint, a base model, or the start of the run with a prompt (RL-308)', async () => {
    const open = (teacher: unknown) => tokenTeacher(context(), spec(teacher), '')
    expect(await open({ checkpoint: 'tinker://r/sampler_weights/a' })).toEqual({
      weights: { kind: 'sampler', uri: 'tinker://r/sampler_weights/a' },
    })
    expect(await open({ base_model: 'big' })).toEqual({ weights: { baseModel: 'big' } })
    expect(await open({ prompt: 'Be brief.' })).toEqual({ weights: { baseModel: 'start' }, prompt: 'Be brief.' })
  })

  it.each([
    ['none', {}],
    ['two', { checkpoint: 'a', prompt: 'b' }],
    ['a client beside weights', { base_model: 'a', client: 'claude-sonnet-4-6' }],
  ])('is exactly one: not %s (RL-308)', (_what, teacher) => {
    expect(TeacherSpec.safeParse(teacher).error?.issues[0]?.message).toMatch(
      /^a teacher is one of checkpoint, base_model/,
    )
  })

  it('that answers in text, or writes with other tokens, is refused with the way out (RL-308)', async () => {
    const other: Tokenizer = {
      ...byteTokenizer,
      decode: (tokens) => byteTokenizer.decode(tokens.map((each) => each ^ 1)),
    }
    const refused = { code: 'PLUGIN_PARAMS', fix: 'use text' }
    await expect(tokenTeacher(context(), spec({ client: 'claude-sonnet-4-6' }), 'use text')).rejects.toMatchObject(
      refused,
    )
    await expect(tokenTeacher(context(other), spec({ base_model: 'big' }), 'use text')).rejects.toMatchObject({
      ...refused,
      message: 'the teacher big has another vocabulary than the student',
    })
    const beside = spec({ checkpoint: 'a', base_model: 'big' })
    await expect(tokenTeacher(context(other), beside, 'use text')).rejects.toMatchObject(refused)
  })

  it('shares a vocabulary with its copy, and none with a model of another tokenizer (RL-308)', async () => {
    const [tiny, again, nano] = await Promise.all(
      ['evsys/tiny', 'evsys/tiny', 'evsys/nano'].map(async (name) => (await openModelText(undefined, name)).tokenizer),
    )
    if (tiny === undefined || again === undefined || nano === undefined) throw new Error('three were opened')
    expect(isSameVocabulary(tiny, again)).toBe(true)
    expect(isSameVocabulary(tiny, nano)).toBe(false)
  })
})

describe('a template', () => {
  it('takes fields of the row, and names the one that is missing (RL-305)', () => {
    expect(fillTemplate('{a} is {b}, {{c}}', { a: 'x', b: 2 })).toBe('x is 2, {c}')
    expect(() => fillTemplate('{q}', { question: 'x' })).toThrow(expect.objectContaining({ code: 'DATA_INVALID' }))
  })
})
