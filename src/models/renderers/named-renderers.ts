// Renderers that are named after families of models.
import * as z from 'zod'
import type { Renderer, Tokenizer } from '../../contracts/index.ts'
import { defineRenderer, EvsysError, type NoParams } from '../../kernel/index.ts'
import { answerMessage } from '../chat/parse-answer.ts'
import { isModelTokenizer, type ModelTokenizer } from '../tokenizer/open-tokenizer.ts'
import { type ChatFormat, type FormatMessage, refused } from './chat-format.ts'
import { deepseekV3 } from './deepseek-v3.ts'
import { gptOss } from './gpt-oss.ts'
import { kimi } from './kimi.ts'
import { nemotron3 } from './nemotron3.ts'
import { openFormat } from './open-format.ts'
import { qwen3, qwen35 } from './qwen.ts'

const DatedParams = z.strictObject({
  current_date: z.iso
    .date()
    .default('2025-08-05')
    .describe('The day that the system message names; fixed, so that a conversation has the same tokens every day.'),
})

// `User: ...`, `Assistant: ...`: the form of base models, without special tokens. What ends an answer is text, so content can
// spell it; the other formats have special tokens for that.
const delimiter = '\n\nUser:'

const roleColon: ChatFormat = {
  tokens: [],
  ends: [],
  stopTexts: [delimiter],
  extendsHistory: true,
  begin: (bos) => bos ?? '',
  turn(message, { isLast }) {
    const { role, text } = plainMessage('role_colon', message)
    const header = `${role.charAt(0).toUpperCase()}${role.slice(1)}:`
    // The last answer also learns how it ends: with the beginning of the next question.
    const end = role === 'assistant' && isLast ? ['User:'] : []
    return { header: [header], body: [' ', { content: text }, '\n\n', ...end] }
  },
  prompt: () => 'Assistant:',
  parse({ text }, ended) {
    const at = text.indexOf(delimiter)
    const answer = at === -1 ? text : text.slice(0, at)
    const content = answer.replace(/^ /, '').replace(/\n\n$/, '')
    // Either the delimiter ended it, or the end of all text did.
    const isOnlyOne = text.indexOf(delimiter, at + 1) === -1
    return { message: answerMessage(content, '', []), complete: at === -1 ? ended : isOnlyOne && !ended }
  },
}

// Llama 3: a header for each role. Without the date that Meta's own template puts into the system message, and without tools,
// whose calls look like any other JSON.
const llama3: ChatFormat = {
  tokens: ['<|begin_of_text|>', '<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>'],
  ends: ['<|eot_id|>'],
  extendsHistory: true,
  begin: () => '<|begin_of_text|>',
  turn(message) {
    const { role, text } = plainMessage('llama3', message)
    return { header: [headerOf(role)], body: [{ content: text }, '<|eot_id|>'] }
  },
  prompt: () => headerOf('assistant'),
  parse: ({ text }, ended) => ({ message: answerMessage(text, '', []), complete: ended }),
}

function headerOf(role: string): string {
  return `<|start_header_id|>${role}<|end_header_id|>\n\n`
}

function plainMessage(format: string, message: FormatMessage): FormatMessage {
  if (message.role === 'tool' || message.calls.length > 0)
    throw refused(format, 'it has no form for tools', 'choose another renderer.')
  if (message.reasoning !== undefined)
    throw refused(format, 'it has no form for reasoning', 'drop it with the transform drop_reasoning.')
  return message
}

/** A renderer for a format without params. */
function named<const K extends string>(kind: K, summary: string, format: ChatFormat): Renderer<K, NoParams> {
  const open: Renderer<K, NoParams>['open'] = async ({ tokenizer }) =>
    openFormat(kind, format, modelTokenizer(kind, tokenizer))
  return defineRenderer({ kind, summary, open })
}

/** gpt-oss with its built-in system message, which names the day. */
function dated<const K extends string>(kind: K, summary: string, effort: 'low' | 'medium' | 'high') {
  return defineRenderer({
    kind,
    summary,
    params: DatedParams,
    async open({ tokenizer, params }) {
      return openFormat(kind, gptOss(effort, params.current_date), modelTokenizer(kind, tokenizer))
    },
  })
}

function modelTokenizer(kind: string, tokenizer: Tokenizer): ModelTokenizer {
  if (isModelTokenizer(tokenizer)) return tokenizer
  throw new EvsysError('PLUGIN_FAILED', `${kind}: the model has no tokenizer.json`, {
    fix: 'use a model with tokenizer.json, or leave the renderer to the model.',
  })
}

/** Under the names of the training protocol's cookbook. */
export const namedRenderers = [
  named('role_colon', 'Plain text for base models: `User: ...`, `Assistant: ...`.', roleColon),
  named('llama3', 'Llama 3, without date and without tools.', llama3),
  named('qwen3', 'Qwen3 with reasoning.', qwen3()),
  named('qwen3_disable_thinking', 'Qwen3 with reasoning turned off.', qwen3({ isOff: true })),
  named('qwen3_instruct', 'Qwen3 Instruct 2507, which does not reason.', qwen3({ thinks: false })),
  named('qwen3_vl', 'Qwen3-VL with reasoning, for text.', qwen3()),
  named('qwen3_vl_instruct', 'Qwen3-VL Instruct, for text.', qwen3({ thinks: false })),
  named('qwen3_5', 'Qwen3.5 with reasoning, for text.', qwen35()),
  named('qwen3_5_disable_thinking', 'Qwen3.5 with reasoning turned off, for text.', qwen35({ isOff: true })),
  named('qwen3_8_xhigh_reasoning', 'Qwen3.8, set to reason much.', qwen35({ isQwen38: true, effort: 'xhigh' })),
  named('qwen3_8_medium_reasoning', 'Qwen3.8, without a set effort.', qwen35({ isQwen38: true })),
  named('qwen3_8_low_reasoning', 'Qwen3.8, set to reason little.', qwen35({ isQwen38: true, effort: 'low' })),
  named('qwen3_8_disable_thinking', 'Qwen3.8 with reasoning turned off.', qwen35({ isQwen38: true, isOff: true })),
  named('deepseekv3', 'DeepSeek V3.1 without reasoning.', deepseekV3()),
  named('deepseekv3_disable_thinking', 'DeepSeek V3.1 without reasoning, by its long name.', deepseekV3()),
  named('deepseekv3_thinking', 'DeepSeek V3.1 with reasoning.', deepseekV3({ thinks: true })),
  named('kimi_k2', 'Kimi K2 Thinking.', kimi()),
  named('kimi_k25', 'Kimi K2.5 with reasoning, for text.', kimi({ opens: 'reasoning' })),
  named('kimi_k25_disable_thinking', 'Kimi K2.5 with reasoning turned off.', kimi({ opens: 'empty' })),
  named('kimi_k26', 'Kimi K2.6 with reasoning, for text.', kimi({ opens: 'reasoning' })),
  named('kimi_k26_disable_thinking', 'Kimi K2.6 with reasoning turned off.', kimi({ opens: 'empty' })),
  named(
    'kimi_k26_preserve_thinking',
    'Kimi K2.6 that keeps the reasoning of earlier answers.',
    kimi({ opens: 'reasoning', keeps: true }),
  ),
  named('nemotron3', 'Nemotron 3 with reasoning.', nemotron3()),
  named('nemotron3_low_thinking', 'Nemotron 3 Super, set to reason little.', nemotron3({ effort: 'low' })),
  named('nemotron3_disable_thinking', 'Nemotron 3 with reasoning turned off.', nemotron3({ isOff: true })),
  named(
    'nemotron3_preserve_thinking',
    'Nemotron 3 that keeps the reasoning of earlier answers.',
    nemotron3({ keeps: true }),
  ),
  named('nemotron3_ultra', 'Nemotron 3 Ultra with reasoning.', nemotron3({ isUltra: true })),
  named(
    'nemotron3_ultra_disable_thinking',
    'Nemotron 3 Ultra with reasoning turned off.',
    nemotron3({ isUltra: true, isOff: true }),
  ),
  named(
    'nemotron3_ultra_medium_thinking',
    'Nemotron 3 Ultra, set to reason efficiently.',
    nemotron3({ isUltra: true, effort: 'efficient' }),
  ),
  named(
    'nemotron3_ultra_preserve_thinking',
    'Nemotron 3 Ultra that keeps the reasoning of earlier answers.',
    nemotron3({ isUltra: true, keeps: true }),
  ),
  named('gpt_oss_no_sysprompt', 'OpenAI’s gpt-oss without its built-in system message.', gptOss()),
  dated('gpt_oss_low_reasoning', 'OpenAI’s gpt-oss, set to reason little.', 'low'),
  dated('gpt_oss_medium_reasoning', 'OpenAI’s gpt-oss, set to reason.', 'medium'),
  dated('gpt_oss_high_reasoning', 'OpenAI’s gpt-oss, set to reason much.', 'high'),
] as const
