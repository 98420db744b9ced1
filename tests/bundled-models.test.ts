import { describe, expect, it } from 'vitest'
import { bundledShapes } from '../models/recipe/bundled-files.ts'
import { loadBaseModel } from '../src/engine/files/base-model.ts'
import { openChatTemplate, openTokenizer, readChatTemplate, resolveModelFolder } from '../src/models/index.ts'

const signal = new AbortController().signal

describe('bundled models', () => {
  it.each([
    ['evsys/nano', 125_248],
    ['evsys/tiny', 5_401_856],
  ] as const)('%s is a whole model: weights, config, tokenizer and template fit (MOD-30)', async (name, parameters) => {
    const { folder: at } = await resolveModelFolder(name)
    const { shape, tensors } = await loadBaseModel(at, { maxParameters: parameters, signal })
    expect([...tensors.values()].reduce((sum, { length }) => sum + length, 0)).toBe(parameters)
    const tokenizer = await openTokenizer(at)
    expect(tokenizer.vocabSize).toBe(bundledShapes[name].vocabSize)
    expect(shape).toMatchObject({ vocabSize: tokenizer.vocabSize })
    const renderer = await openChatTemplate({ tokenizer, template: (await readChatTemplate(at)) ?? '' })
    expect(renderer.stop).toEqual([tokenizer.eos])
    expect(tensors.get('model.embed_tokens.weight')?.length).toBe(tokenizer.vocabSize * bundledShapes[name].hiddenSize)
  })
})
