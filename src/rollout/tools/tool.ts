// A tool that a model may call: a name, words for the model, a schema of its arguments, a function.

import { dirname, isAbsolute } from 'node:path'
import * as z from 'zod'
import type { HarborTask, OpenEnvironment, Random, SeedPath, ToolSpec } from '../../contracts/index.ts'
import { checkValue, EvsysError, loadValue, messageOf } from '../../kernel/index.ts'

/** What a tool has at hand besides its arguments. */
export interface ToolContext {
  readonly task: Pick<HarborTask, 'task_id' | 'instruction' | 'metadata'>
  readonly signal: AbortSignal
  /** Randomness of this attempt. */
  random(...path: SeedPath): Random
  /** What the tools of one attempt keep for each other; empty at its beginning. */
  readonly state: Map<string, unknown>
  /** Absent: the task is answered in words. */
  readonly environment?: OpenEnvironment | undefined
}

/** A tool. Text is handed to the model as it is, anything else as JSON; what is thrown is reported to the model. */
export interface Tool<S extends z.ZodType = z.ZodType> {
  readonly name: string
  readonly description: string
  readonly params: S
  run(args: z.output<S>, context: ToolContext): unknown
}

/** A tool whose arguments are typed by their schema: `defineTool({ name, description, params: z.strictObject({ ... }), run })`. */
export function defineTool<S extends z.ZodType>(tool: Tool<S>): Tool<S> {
  return Object.freeze({ ...tool })
}

// Functions cannot be parsed: that it is one is all that is known of it before it is called.
const isFunction = (value: unknown): boolean => typeof value === 'function'

/** What an export has to be to serve as a tool. */
const ToolShape = z.looseObject({
  name: z.string().regex(/^[\w.-]{1,128}$/, 'a name of letters, digits and _ . -'),
  description: z.string(),
  params: z.custom<z.ZodType>((value) => isFunction(Reflect.get(Object(value), 'safeParse')), 'a schema of zod'),
  run: z.custom<Tool['run']>(isFunction, 'a function'),
})

// A tool as an agent offers it, wherever it comes from: a file of the project, an MCP server.
export interface OfferedTool {
  readonly spec: ToolSpec
  /** What the model gets. Rejects with words for the model where the call fails. */
  call(args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<string>
}

/** The tools that the references name: an export is one tool or a list of them. */
export async function projectTools(references: readonly string[], context: ToolContext): Promise<OfferedTool[]> {
  const exports = await Promise.all(references.map(loadProjectExport))
  return exports.flatMap((value, i) =>
    (Array.isArray(value) ? value : [value]).map((each) => offered(toolOf(each, references[i] ?? ''), context)),
  )
}

function toolOf(value: unknown, reference: string): Tool {
  const checked = checkValue(ToolShape, value)
  if (checked.ok) return checked.value
  const faults = checked.issues.map(({ path, message }) => [...path, message].join(': ')).join('; ')
  throw new EvsysError('PLUGIN_INVALID', `${reference} is no tool: ${faults}`, {
    fix: "export what defineTool of 'evsys/plugin' returns, or a list of such tools.",
  })
}

function offered(tool: Tool, context: ToolContext): OfferedTool {
  const { name, description, params } = tool
  const { $schema: _, ...parameters } = z.toJSONSchema(params, { io: 'input', unrepresentable: 'any' })
  return {
    spec: { name, description, parameters },
    async call(args, signal) {
      const checked = checkValue(params, args)
      if (!checked.ok) {
        const faults = checked.issues.map(({ path, message }) => [...path, message].join(': '))
        throw new Error(`wrong arguments: ${faults.join('; ')}`)
      }
      return textOf(await tool.run(checked.value, { ...context, signal }))
    },
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined) return 'done'
  try {
    return JSON.stringify(value) ?? String(value)
  } catch (error) {
    throw new Error(`its result cannot be written as JSON: ${messageOf(error)}`)
  }
}

// What a file of the project exports, by `path#name`: tools and simulated users. For processes that run code of the project.
const loaded = new Map<string, Promise<unknown>>()

/** Loads it once in this process: attempts by the hundred share the code, and none of them pays for it twice. */
export function loadProjectExport(reference: string): Promise<unknown> {
  const known = loaded.get(reference)
  if (known !== undefined) return known
  const path = reference.split('#')[0] ?? reference
  if (!isAbsolute(path)) {
    // Paths of a config are made absolute when it is read; this one comes from code.
    return Promise.reject(
      new EvsysError('PLUGIN_LOAD', `${reference} is no file: paths are absolute here`, {
        fix: 'write it in the config as ./FILE.ts#NAME, or give an absolute path.',
      }),
    )
  }
  const loading = loadValue(reference, { from: dirname(path) })
  loaded.set(reference, loading)
  loading.catch(() => loaded.delete(reference)) // a file that was wrong may be right the next time
  return loading
}
