// Whether a schema can be relied on: every keyword is known, every reference leads somewhere, every pattern compiles.
import { checks, isMapping, list, resolveReference } from './schema-faults.ts'

const holdsSchemas = new Set(['properties', 'patternProperties', '$defs', 'definitions'])
const holdsOne = new Set(['items', 'contains', 'additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else'])
const holdsList = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])

/** The first thing that is wrong with a schema, in words. */
export function schemaProblem(schema: unknown, root: unknown = schema, depth = 0): string | undefined {
  if (typeof schema === 'boolean') return undefined
  if (!isMapping(schema)) return 'a schema must be a mapping'
  if (depth > 50) return 'it is nested too deeply'
  for (const [keyword, rule] of Object.entries(schema)) {
    const problem = keywordProblem(keyword, rule) ?? childProblem(keyword, rule, root, depth)
    if (problem !== undefined) return problem
  }
  return undefined
}

function keywordProblem(keyword: string, rule: unknown): string | undefined {
  if (!Object.hasOwn(checks, keyword)) return `the keyword "${keyword}" is not supported`
  if (keyword === 'pattern') return patternProblem(rule)
  if (keyword === 'patternProperties' && isMapping(rule)) {
    return Object.keys(rule)
      .map(patternProblem)
      .find((each) => each !== undefined)
  }
  if (keyword === 'required' && !Array.isArray(rule)) return '"required" must be a list'
  return keyword === 'enum' && list(rule).length === 0 ? '"enum" must be a list of values' : undefined
}

function patternProblem(pattern: unknown): string | undefined {
  try {
    new RegExp(String(pattern), 'u')
    return undefined
  } catch {
    return `the pattern ${JSON.stringify(pattern)} does not compile`
  }
}

function childProblem(keyword: string, rule: unknown, root: unknown, depth: number): string | undefined {
  if (keyword === '$ref') {
    try {
      resolveReference(root, rule)
      return undefined
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
  const children = holdsSchemas.has(keyword)
    ? Object.values(isMapping(rule) ? rule : {})
    : holdsList.has(keyword) || (keyword === 'items' && Array.isArray(rule))
      ? list(rule)
      : holdsOne.has(keyword)
        ? [rule]
        : []
  return children.map((child) => schemaProblem(child, root, depth + 1)).find((each) => each !== undefined)
}
