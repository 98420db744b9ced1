// One question to a client, with a cassette and its usage counted.
import type { PluginServices } from '../src/kernel/index.ts'
import { meterUsage, openInferenceClient } from '../src/models/index.ts'

export async function askOnce(services: PluginServices, base_url: string, folder: string, signal: AbortSignal) {
  const spec = { kind: 'anthropic', params: { model: 'claude-sonnet-4-6', base_url } }
  const opened = await openInferenceClient(spec, services, { cassette: { folder, mode: 'auto' } })
  const { client, total } = meterUsage(opened)

  const messages = [{ role: 'user' as const, content: 'Which tool sends a mail?' }]
  const answer = await client.generate({ messages, maxTokens: 256, temperature: 0, seed: 1 }, signal)
  await client[Symbol.asyncDispose]?.()
  return { answer, total: total() }
}
