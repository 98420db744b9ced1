// A tool that a model may call: a name, words for the model, a schema of its arguments, a function.
import * as z from 'zod'
import type { HarborTask, OpenEnvironment, Random, SeedPath } from '../../contracts/index.ts'

/** What a tool has at hand besides its arguments. */
export interface ToolContext {
  readonly task: Pick<HarborTask, 'task_id' | 'instruction' | 'metadata'>
  readonly signal: AbortSignal
  /** Randomness of this attempt. */
  random(...path: SeedPath): Random
  /** What the tools of one attempt keep for each other; empty at its beginning. */
  readonly state: Map<string, unknown>
  /** Absent: the task is answered in words. */
  readonly environment?: OpenEnvironment
}

/** A tool. Text is handed to the model as it is, anything else as JSON; what is thrown is told to the model. */
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
export const ToolShape = z.looseObject({
  name: z.string().regex(/^[\w.-]{1,128}$/, 'a name of letters, digits and _ . -'),
  description: z.string(),
  params: z.custom<z.ZodType>((value) => isFunction(Reflect.get(Object(value), 'safeParse')), 'a schema of zod'),
  run: z.custom<Tool['run']>(isFunction, 'a function'),
})
