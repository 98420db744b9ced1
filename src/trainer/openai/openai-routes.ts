// The OpenAI-compatible routes: any base model and any sampler checkpoint under its name, as text.
import { randomUUID } from 'node:crypto'
import { type Context, Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import * as z from 'zod'
import { ChatMessage } from '../../contracts/index.ts'
import { HttpError, toHttpError, unprocessable } from '../http/http-error.ts'
import { checkCount, findTarget, type Target } from '../operations/samplers.ts'
import type { Api, Env } from '../routes/api.ts'
import type { Access } from '../state/access.ts'
import { pathOf } from '../state/checkpoint-files.ts'
import type { ModelText } from '../state/served-model.ts'
import type { TrainerState } from '../state/trainer-state.ts'
import { at } from '../wire/wire-data.ts'
import { type Completion, chatLogprobs, type DrawOptions, drawCompletions, textLogprobs } from './draw-completions.ts'

export function openAiRoutes({ state, json }: Api): Hono<Env> {
  const routes = new Hono<Env>()
  routes.onError(openAiError)

  routes.get('/models', async (c) => c.json({ object: 'list', data: await listModels(c.env) }))
  routes.get('/models/:id{.+}', async (c) => {
    const id = c.req.param('id').replace(/^tinker:\/+/, 'tinker://') // paths lose a slash on their way
    const found = (await listModels(c.env)).find((model) => model.id === id)
    if (found === undefined) throw new HttpError(404, `no model is called ${id}`)
    return c.json(found)
  })

  routes.post('/completions', async (c) => {
    const { value } = await json(c, CompletionRequest)
    const { target, text } = await open(c.env, value.model)
    const prompts = readPrompts(value.prompt, text)
    checkCount(['prompt'], prompts.length * (value.n ?? 1), state.limits.samples)
    const completions: Completion[] = []
    for (const prompt of prompts) {
      const options = drawOptions(value, prompt, target.base.stop, value.max_tokens ?? 16, value.logprobs ?? 0)
      completions.push(...(await drawCompletions(c.env, target, text.tokenizer, options, c.req.raw.signal)))
    }
    const choices = completions.map((completion, index) => ({
      index,
      text: completion.text,
      finish_reason: completion.finishReason,
      logprobs: value.logprobs == null ? null : textLogprobs(completion),
    }))
    const frame = frameOf(state, value, 'cmpl', 'text_completion')
    const usage = usageOf(prompts, completions)
    if (value.stream !== true) return c.json({ ...frame, choices, usage })
    return stream(c, value.stream_options?.include_usage === true ? usage : undefined, frame, [
      ...choices.flatMap((choice, number) =>
        pieces(completions[number]).map((text) => ({ ...choice, text, finish_reason: null, logprobs: null })),
      ),
      ...choices.map((choice) => ({ ...choice, text: '' })),
    ])
  })

  routes.post('/chat/completions', async (c) => {
    const { value } = await json(c, ChatRequest)
    const { target, text } = await open(c.env, value.model)
    const { renderer } = text
    if (renderer === undefined) throw new HttpError(400, `${target.base.name} has no chat format: use /v1/completions`)
    const prompt = at(['messages'], () => renderer.prompt(value.messages))
    const ends = renderer.stop.flatMap((stop) => (typeof stop === 'number' ? [stop] : []))
    const most = value.max_completion_tokens ?? value.max_tokens ?? undefined
    const options = drawOptions(value, prompt, [...ends, ...target.base.stop], most, value.top_logprobs ?? 0)
    const texts = renderer.stop.flatMap((stop) => (typeof stop === 'string' ? [stop] : []))
    const stopTexts = [...options.stopTexts, ...texts]
    const wanted = { ...options, stopTexts }
    const completions = await drawCompletions(c.env, target, text.tokenizer, wanted, c.req.raw.signal)
    const choices = completions.map((completion, index) => ({
      index,
      message: { role: 'assistant', ...answerOf(completion, renderer) },
      finish_reason: completion.finishReason,
      logprobs: value.logprobs === true ? chatLogprobs(completion) : null,
    }))
    const frame = frameOf(state, value, 'chatcmpl', 'chat.completion')
    const usage = usageOf([prompt], completions)
    if (value.stream !== true) return c.json({ ...frame, choices, usage })
    const last = value.stream_options?.include_usage === true ? usage : undefined
    return stream(c, last, { ...frame, object: 'chat.completion.chunk' }, [
      ...choices.map(({ index }) => ({ index, delta: { role: 'assistant', content: '' }, finish_reason: null })),
      ...choices.flatMap(({ index }, number) =>
        pieces(completions[number]).map((content) => ({ index, delta: { content }, finish_reason: null })),
      ),
      ...choices.map(({ index, finish_reason, logprobs }) => ({ index, delta: {}, finish_reason, logprobs })),
    ])
  })
  return routes
}

async function open(access: Access, model: string): Promise<{ target: Target; text: ModelText }> {
  const isPath = model.startsWith('tinker://')
  const target = await findTarget(access, isPath ? { model_path: model } : { base_model: model })
  return { target, text: await target.base.text() }
}

type Sampling = Pick<CompletionRequest, 'temperature' | 'top_p' | 'n' | 'stop' | 'seed'>

function drawOptions(
  { temperature, top_p, n, stop, seed }: Sampling,
  prompt: Int32Array,
  stopTokens: readonly number[],
  maxTokens: number | undefined,
  topLogprobs: number,
): DrawOptions {
  const stopTexts = stop == null ? [] : typeof stop === 'string' ? [stop] : stop
  if (stopTexts.includes('')) throw unprocessable(['stop'], 'a stop text is not empty')
  const drawing = { temperature: temperature ?? 1, topP: top_p ?? undefined, n: n ?? 1, seed: seed ?? undefined }
  return { prompt, maxTokens, ...drawing, stopTokens, stopTexts, topLogprobs }
}

function readPrompts(prompt: CompletionRequest['prompt'], { tokenizer }: ModelText): Int32Array[] {
  const list = typeof prompt === 'string' ? [prompt] : prompt
  if (list.every((each) => typeof each === 'number')) return [Int32Array.from(list)]
  return list.map((each) =>
    typeof each === 'string' ? tokenizer.encode(each) : Int32Array.from(typeof each === 'number' ? [each] : each),
  )
}

function answerOf({ answer, text }: Completion, renderer: NonNullable<ModelText['renderer']>) {
  const { content, reasoning_content, tool_calls } = renderer.parse(answer).message
  const isParsed = tool_calls !== undefined || (typeof content === 'string' && reasoning_content !== undefined)
  return { content: isParsed ? content : text, reasoning_content, tool_calls }
}

// Pieces that each end at a whole character; together they are the text.
function pieces(completion: Completion | undefined): string[] {
  if (completion === undefined) return []
  const { text, tokens } = completion
  const list: string[] = []
  let sent = 0
  for (const token of tokens) {
    const next = Math.min(text.length, sent + token.text.length)
    if (!text.startsWith(token.text, sent)) break
    if (next > sent) list.push(text.slice(sent, next))
    sent = next
  }
  return sent < text.length ? [...list, text.slice(sent)] : list
}

function stream(c: Context, usage: object | undefined, frame: object, choices: readonly object[]): Response {
  return streamSSE(c, async (sse) => {
    for (const choice of choices) {
      if (sse.aborted) return
      await sse.writeSSE({ data: JSON.stringify({ ...frame, choices: [choice] }) })
    }
    if (usage !== undefined) await sse.writeSSE({ data: JSON.stringify({ ...frame, choices: [], usage }) })
    await sse.writeSSE({ data: '[DONE]' })
  })
}

function usageOf(prompts: readonly Int32Array[], completions: readonly Completion[]) {
  const prompt_tokens = prompts.reduce((sum, { length }) => sum + length, 0)
  const completion_tokens = completions.reduce((sum, { tokenCount }) => sum + tokenCount, 0)
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
}

async function listModels(access: Access) {
  const { state } = access
  const bases = (await state.catalog.list()).map(({ name }) => ({ id: name, created: 0 }))
  const saved = access
    .checkpoints()
    .filter(({ folder }) => folder === 'sampler_weights')
    .map((entry) => ({ id: pathOf(entry), created: Math.floor(entry.created_ms / 1000) }))
  const created = (path: string) => saved.find((entry) => entry.id === path)?.created ?? 0
  const aliases = [...state.aliases].map(([id, path]) => ({ id, created: created(path) }))
  return [...aliases, ...bases, ...saved].map((model) => ({ ...model, object: 'model', owned_by: 'evsys' }))
}

function frameOf({ clock }: TrainerState, { model }: { model: string }, prefix: string, object: string) {
  return { id: `${prefix}-${randomUUID()}`, created: Math.floor(clock.now() / 1000), model, object }
}

function openAiError(error: Error): Response {
  const { status, message } = toHttpError(error)
  const headers: Record<string, string> = status === 429 ? { 'retry-after': '1' } : {}
  const type =
    status >= 500
      ? 'server_error'
      : status === 429
        ? 'rate_limit_error'
        : status === 401
          ? 'authentication_error'
          : 'invalid_request_error'
  return Response.json({ error: { message, type, param: null, code: null } }, { status, headers })
}

// Requests of the OpenAI-compatible routes. Fields that are not known are ignored, as other servers do.
const shared = {
  model: z.string(),
  temperature: z.number().min(0).max(100).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  n: z.int().min(1).max(128).nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  seed: z.number().refine(Number.isInteger, 'expected a whole number').nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
}

const CompletionRequest = z.object({
  ...shared,
  prompt: z.union([z.string(), z.array(z.int()).min(1), z.array(z.string()).min(1), z.array(z.array(z.int())).min(1)]),
  max_tokens: z.int().min(1).nullish(),
  logprobs: z.int().min(0).max(20).nullish(),
  echo: z.literal(false, 'echo is not offered').nullish(),
})
type CompletionRequest = z.infer<typeof CompletionRequest>

const ChatRequest = z.object({
  ...shared,
  messages: z.array(z.preprocess(withoutExtras, ChatMessage)).min(1),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
})

const messageKeys = ['role', 'content', 'name', 'tool_calls', 'tool_call_id', 'reasoning_content']

// Clients send back what servers sent them: refusals, annotations, nulls.
function withoutExtras(message: unknown): unknown {
  if (typeof message !== 'object' || message === null) return message
  const isKept = ([key, value]: [string, unknown]) => messageKeys.includes(key) && (value !== null || key === 'content')
  return Object.fromEntries(Object.entries(message).filter(isKept))
}
