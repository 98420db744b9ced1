// A plugin as data: what crosses a process, and what `list`, `schema` and the reference show.
import * as z from 'zod'
import type { AnyPlugin, PluginCard } from '../../contracts/index.ts'

/** Describes a plugin. `origin` is `built-in`, a file or a package; `hash` covers its code. */
export function pluginCard(plugin: AnyPlugin, { origin, hash }: { origin: string; hash: string }): PluginCard {
  let schema: Record<string, unknown> | undefined
  return {
    type: plugin.type,
    kind: plugin.kind,
    summary: plugin.summary.trim(),
    // Made when somebody looks: a run has dozens of plugins, and checks params by the plugins themselves.
    get schema() {
      schema ??= paramsSchema(plugin.params)
      return schema
    },
    needs: { ...plugin.needs },
    origin,
    hash,
    facts: factsOf(plugin),
  }
}

function factsOf(plugin: AnyPlugin): Record<string, string> {
  if (plugin.type === 'algorithm') {
    return 'takesRows' in plugin && plugin.takesRows === false ? {} : { rowFormat: plugin.rowFormat }
  }
  return plugin.type === 'metric' ? { direction: plugin.direction } : {}
}

/** JSON Schema of what people write for `params`. What JSON Schema cannot say (a refinement, a date) allows anything. */
function paramsSchema(params: z.ZodType): Record<string, unknown> {
  try {
    const { $schema, ...schema } = z.toJSONSchema(params, {
      io: 'input',
      unrepresentable: 'any',
      override: ({ jsonSchema }) => {
        // z.int() adds the bounds of safe integers, which no reader asked for.
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      },
    })
    return JSON.parse(JSON.stringify(schema))
  } catch {
    return {} // a schema of a foreign zod, or with a default that is no JSON: the plugin works, editors know less
  }
}
