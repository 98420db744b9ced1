// A tool as an agent offers it, wherever it comes from: a file of the project, an MCP server.
import * as z from 'zod'
import type { ToolSpec } from '../../contracts/index.ts'
import { checkValue, EvsysError, messageOf } from '../../kernel/index.ts'
import { loadProjectExport } from './load-project-export.ts'
import { type Tool, type ToolContext, ToolShape } from './tool.ts'

export interface OfferedTool {
  readonly spec: ToolSpec
  /** What the model is told. Rejects with words for the model where the call fails. */
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
