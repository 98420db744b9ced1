import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { PluginCard } from '../contracts/index.ts'
import { createRegistry, pluginCard } from '../kernel/index.ts'
import { namedRenderers } from '../models/renderers/named-renderers.ts'
import { builtins } from './index.ts'

const plugins = await builtins()
// The list of the training protocol's cookbook; models/renderers compares each with its template.
const namedKinds = namedRenderers.map(({ kind }) => kind)
const src = fileURLToPath(new URL('..', import.meta.url))

/** Every field of a JSON Schema, with the path to it. */
function fieldsOf(
  schema: z.core.JSONSchema.BaseSchema,
  path: string,
): { path: string; description: string | undefined }[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, field]) => {
    if (typeof field === 'boolean') return []
    const here = `${path}.${key}`
    const item = Array.isArray(field.items) || typeof field.items === 'boolean' ? undefined : field.items
    return [{ path: here, description: field.description }, ...(item === undefined ? [] : fieldsOf(item, `${here}[]`))]
  })
}

describe('built-in plugins', () => {
  it('are these (PLG-16)', () => {
    const byType = new Map<string, string[]>()
    for (const { type, kind } of plugins) byType.set(type, [...(byType.get(type) ?? []), kind].sort())
    expect(Object.fromEntries([...byType].sort())).toEqual({
      agent: ['chat', 'cli', 'nop', 'oracle', 'predictions', 'python', 'shell_loop', 'terminal', 'tool_loop'],
      algorithm: [
        'combo',
        'distill',
        'dpo',
        'opd',
        'prompt_search',
        'rejection_sft',
        'rl',
        'score_only',
        'sdft',
        'sft',
      ],
      backend: ['local', 'mock', 'tinker'],
      callback: [
        'csv_metrics',
        'debug_logger',
        'early_stopping',
        'local_logger',
        'print_progress',
        'tensorboard_logger',
      ],
      data_source: [
        'csv',
        'dataset',
        'folder',
        'harbor',
        'hf_dataset',
        'in_memory',
        'json',
        'jsonl',
        'none',
        'parquet',
      ],
      data_store: ['in_memory', 'local'],
      environment: ['docker', 'inline', 'local'],
      inference_client: ['anthropic', 'gemini', 'local', 'mock', 'openai', 'openai_compatible', 'tinker'],
      metric: [
        'accuracy',
        'avg',
        'confusion',
        'cost_per_task',
        'latency_p{q}',
        'macro_f1',
        'majority@{k}',
        'mean_reward',
        'pass@{k}',
        'pass^{k}',
        'pass_rate',
        'per_class',
        'time_per_task',
        'tokens_per_task',
      ],
      renderer: [...namedKinds, 'chat_template', 'plain_chat'].sort(),
      transform: [
        'cap',
        'dedupe',
        'drop_reasoning',
        'few_shot',
        'filter',
        'identity',
        'jsonl_to_chat',
        'keep_reasoning',
        'map_template',
        'mix',
        'sample',
        'shuffle',
        'sort',
        'split',
        'system_prompt',
        'to_harbor_task',
        'to_prompt_example',
      ],
      verifier: [
        'code',
        'contains',
        'exact_match',
        'format_only',
        'json_schema',
        'llm_judge',
        'math',
        'numeric',
        'regex_match',
        'tool_calls_match',
      ],
    })
  })

  it.each(plugins.map((plugin) => [`${plugin.type} ${plugin.kind}`, plugin] as const))(
    '%s is described for people and machines (PLG-16)',
    (name, plugin) => {
      expect(plugin.summary).toMatch(/^[A-Z<].{10,140}\.$/)
      const schema = z.toJSONSchema(plugin.params, { io: 'input' })
      expect(schema.additionalProperties, `${name} takes params that it does not know`).toBe(false)
      for (const { path, description } of fieldsOf(schema, name)) {
        expect(description, `${path} has no description`).toMatch(/\.$/)
      }
    },
  )

  it('fit into one registry and have cards (PLG-16)', () => {
    const registry = createRegistry()
    for (const plugin of plugins) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
    expect(registry.notices).toEqual([])
    expect(registry.get('metric', 'pass@3')).toMatchObject({ params: { k: 3 }, plugin: { kind: 'pass@{k}' } })
    for (const plugin of plugins) {
      expect(PluginCard.safeParse(pluginCard(plugin, { origin: 'built-in', hash: 'x' })).error).toBeUndefined()
    }
  })

  it('are declared without loading an engine, YAML or anything else that is heavy (PLG-16)', () => {
    const seen = new Set<string>()
    const packages = new Set<string>()
    const visit = (file: string) => {
      if (seen.has(file)) return
      seen.add(file)
      for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(
        /^(?:import|export)\b(?! type\b)[^;]*? from '([^']+)'$/gm,
      )) {
        if (specifier.startsWith('.')) visit(join(dirname(file), specifier))
        else packages.add(specifier)
      }
    }
    for (const room of ['algorithms', 'backends', 'data', 'evaluate']) visit(join(src, room, 'index.ts'))
    const rooms = new Set([...seen].map((file) => relative(src, file).split('/')[0]))
    expect([...rooms].sort()).toEqual(['algorithms', 'backends', 'contracts', 'data', 'evaluate', 'kernel', 'stats'])
    expect([...packages].filter((name) => !name.startsWith('node:')).sort()).toEqual(['zod'])
  })
})
