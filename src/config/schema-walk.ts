// Reads a zod schema as a description of mappings: which keys stand where, and what they are for. Errors name known keys and
// quote descriptions, and `null` is taken for "absent" wherever a key may be absent.
import * as z from 'zod'
import { isNull, type LocatedEntry, type LocatedNode, type Path, seqNode } from './located.ts'

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  let inner = schema
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault || inner instanceof z.ZodNullable) {
    inner = inner.unwrap()
  }
  return inner
}

/** All schemas that a value at `path` may have to fit; several below a union, none below free values. */
function schemasAt(schema: z.core.$ZodType, path: Path): z.core.$ZodType[] {
  const [step, ...rest] = path
  if (step === undefined) return [schema]
  const inner = unwrapped(schema)
  if (inner instanceof z.ZodUnion) return inner.options.flatMap((option) => schemasAt(option, path))
  const child = childSchema(inner, step)
  return child === undefined ? [] : schemasAt(child, rest)
}

/** The keys that a mapping at `path` may have; empty where any key may stand. */
export function keysAt(schema: z.core.$ZodType, path: Path): string[] {
  return schemasAt(schema, path).flatMap(keysOf)
}

function keysOf(schema: z.core.$ZodType): string[] {
  const inner = unwrapped(schema)
  if (inner instanceof z.ZodUnion) return inner.options.flatMap(keysOf)
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : []
}

/** What the value at `path` is for, in the words of its schema. */
export function descriptionAt(schema: z.core.$ZodType, path: Path): string | undefined {
  for (const each of schemasAt(schema, path)) {
    for (let inner = each; ; inner = inner.unwrap()) {
      if (inner instanceof z.ZodType && inner.description !== undefined) return inner.description
      if (!(inner instanceof z.ZodOptional || inner instanceof z.ZodDefault || inner instanceof z.ZodNullable)) break
    }
  }
  return undefined
}

/** The mappings that have `key`, as paths without list positions: where a misplaced key may belong. */
export function homesOf(schema: z.core.$ZodType, key: string): string[] {
  const homes: string[] = []
  const visit = (each: z.core.$ZodType, path: string, depth: number): void => {
    const inner = unwrapped(each)
    if (depth > 6) return
    if (inner instanceof z.ZodUnion) for (const option of inner.options) visit(option, path, depth + 1)
    if (inner instanceof z.ZodArray) visit(inner.element, path, depth + 1)
    if (!(inner instanceof z.ZodObject)) return
    if (path !== '' && Object.hasOwn(inner.shape, key)) homes.push(path)
    for (const [name, child] of Object.entries(inner.shape)) {
      visit(child, path === '' ? name : `${path}.${name}`, depth + 1)
    }
  }
  visit(schema, '', 0)
  return [...new Set(homes)]
}

/** `node` without keys that hold `null` where the schema lets the key be absent. Free values are left as they are. */
export function withoutNulls<N extends LocatedNode>(node: N, schema: z.core.$ZodType): N
export function withoutNulls(node: LocatedNode, schema: z.core.$ZodType): LocatedNode {
  const inner = unwrapped(schema)
  if (inner instanceof z.ZodUnion) {
    return inner.options.reduce<LocatedNode>((kept, option) => withoutNulls(kept, option), node)
  }
  if (node.type === 'seq' && inner instanceof z.ZodArray) {
    const items = node.items.map((item) => withoutNulls(item, inner.element))
    return items.every((item, i) => item === node.items[i]) ? node : seqNode(items, node.origin)
  }
  if (node.type !== 'map' || !(inner instanceof z.ZodObject)) return node
  const entries = new Map<string, LocatedEntry>()
  let isSame = true
  for (const entry of node.entries.values()) {
    const field = childSchema(inner, entry.key)
    if (field !== undefined && isNull(entry.value) && mayBeAbsent(field)) {
      isSame = false
      continue
    }
    const value = field === undefined ? entry.value : withoutNulls(entry.value, field)
    if (value !== entry.value) isSame = false
    entries.set(entry.key, value === entry.value ? entry : { ...entry, value })
  }
  return isSame ? node : { ...node, entries }
}

function mayBeAbsent(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
}

function childSchema(schema: z.core.$ZodType, step: string | number): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodObject) return Object.hasOwn(schema.shape, step) ? schema.shape[step] : undefined
  if (schema instanceof z.ZodArray) return schema.element
  return schema instanceof z.ZodRecord ? schema.valueType : undefined
}
