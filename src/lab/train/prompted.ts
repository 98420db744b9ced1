import type { Benchmark } from '../../contracts/index.ts'

/** The benchmark with another system prompt; an empty one is none. */
export function prompted<B extends Pick<Benchmark, 'chat_template'>>(benchmark: B, systemPrompt: string): B {
  const { system_prompt: _, ...template } = benchmark.chat_template
  return {
    ...benchmark,
    chat_template: systemPrompt === '' ? template : { ...template, system_prompt: systemPrompt },
  }
}
