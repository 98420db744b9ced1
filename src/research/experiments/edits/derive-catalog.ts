// The space of an experiment: what its `space` and `transforms` name, and what the schemas of its plugins say may be searched, less
// what is off limits. It says of everything that it leaves out why.
import type {
  EditArea,
  EditCatalog,
  EditKnob,
  KnobSpec,
  KnobValue,
  PluginType,
  ResearchBlock,
} from '../../../contracts/index.ts'
import { isMapping } from '../../../kernel/index.ts'
import { namedPlace, namesOf, pathOfName } from './named-place.ts'
import { type SpaceInput, schemaAt, usualTransforms, wrongValue } from './named-schema.ts'
import { isKnobValue, paramNames, paramSchema, paramSpec, within } from './param-spec.ts'
import {
  type At,
  dataBlocks,
  getAt,
  kindOf,
  type Mapping,
  type Path,
  paramsOf,
  partName,
  partPath,
  recipes,
  stagesOf,
  transformsAt,
} from './places.ts'
import { upToSplit } from './protected.ts'

export interface DerivedSpace {
  readonly catalog: EditCatalog
  readonly problems: readonly SpaceProblem[]
  /** By name of the knob. */
  readonly origins: Readonly<Record<string, KnobOrigin>>
  /** What does not change, and why. */
  readonly excluded: readonly { readonly name: string; readonly why: string }[]
}

/** Where a knob comes from: the mark of a plugin's author, its schema, what the document says, or its `space` and `transforms`. */
export interface KnobOrigin {
  readonly from: 'mark' | 'schema' | 'document' | 'file'
  readonly area: EditArea | undefined
}

export interface SpaceProblem {
  /** Below `research`. */
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly fix?: string | undefined
}

export function deriveSpace(input: SpaceInput): DerivedSpace {
  const builder = new SpaceBuilder(input)
  builder.limits()
  builder.stages()
  for (const { at, path } of recipes(input.root)) builder.recipe(at, path)
  const agent = partPath(input.root, 'agent')
  if (getAt(input.root, agent) !== undefined) builder.plugin('agent', 'agent', agent)
  for (const { at, path } of dataBlocks(input.root)) if (!builder.mayGo(at)) builder.data(at, path)
  builder.named()
  return builder.space()
}

/** More transforms than this have too many orders to try. */
const mostOrdered = 4

class SpaceBuilder {
  readonly #input: SpaceInput
  readonly #knobs = new Map<string, EditKnob>()
  readonly #origins = new Map<string, KnobOrigin>()
  readonly #excluded = new Map<string, string>()
  readonly #problems: SpaceProblem[] = []
  /** The knob of a stage that may be left out, by its place. */
  readonly #going = new Map<number, string>()

  constructor(input: SpaceInput) {
    this.#input = input
  }

  space(): DerivedSpace {
    for (const [name, knob] of this.#knobs) {
      const limit = this.#input.block.off_limits.find(
        (each) => isWithin(name, each) || isWithin(knob.action.path, each),
      )
      if (limit !== undefined) this.#leaveOut(name, `off limits: ${limit}`)
    }
    // What depends on a knob that does not change either has an effect always, or never.
    for (const [name, knob] of this.#knobs) {
      const others = Object.entries(knob.when ?? {}).filter(([other]) => this.#knobs.has(other))
      const when = others.length === 0 ? undefined : Object.fromEntries(others)
      this.#knobs.set(name, { ...knob, when })
    }
    const names = [...this.#knobs.keys()].sort()
    return {
      catalog: {
        document: this.#input.document,
        knobs: Object.fromEntries(names.map((name) => [name, this.#knobs.get(name) as EditKnob])), // one by each name
      },
      problems: this.#problems,
      origins: Object.fromEntries(names.map((name) => [name, this.#origins.get(name) as KnobOrigin])),
      excluded: [...this.#excluded].map(([name, why]) => ({ name, why })),
    }
  }

  #leaveOut(name: string, why: string): void {
    this.#knobs.delete(name)
    this.#excluded.set(name, why)
  }

  #add(name: string, knob: EditKnob, origin: KnobOrigin): void {
    this.#excluded.delete(name)
    this.#knobs.set(name, knob)
    this.#origins.set(name, origin)
  }

  /** Places that `off_limits` names have to be places. */
  limits(): void {
    for (const [i, name] of this.#input.block.off_limits.entries()) {
      const place = namedPlace(name)
      if (typeof place === 'string' && name !== 'stages') {
        const fix = 'name a part of the recipe; what judges it never changes.'
        this.#problems.push({ path: ['off_limits', i], message: `${name}: ${place}`, fix })
      }
    }
  }

  /** Stages that may come and go: at the end, each known by the kind of its recipe. */
  stages(): void {
    const { root, block, schemaOf } = this.#input
    const stages = stagesOf(root)
    const own = stages?.path[0] === 'stages' ? namesOf(stages.items) : undefined
    for (const [i, entry] of block.stages.entries()) {
      const { kind } = entry.algorithm
      const complain = (message: string, fix: string) => this.#problems.push({ path: ['stages', i], message, fix })
      const known = own?.indexOf(kind) ?? -1
      if (own === undefined) {
        complain('the file has no stages that another could follow', 'write its recipe as the only entry of `stages`.')
      } else if (schemaOf('algorithm', kind) === undefined) {
        complain(`no algorithm is called "${kind}"`, '`evsys list algorithms` shows them.')
      } else if (known >= 0 && (known < own.length - 1 || own.length === 1)) {
        complain(`the stage ${kind} is not the last of several`, 'only the last stage may be left out.')
      } else {
        const isThere = known >= 0
        // As it is written, without what a schema adds: its rows have to be those of the file.
        const written = isThere ? stages?.items[known] : getAt(root, ['research', 'stages', i])
        const bare = JSON.parse(JSON.stringify(written ?? entry))
        const action = { kind: 'item' as const, path: 'stages', entry: bare }
        const spec: KnobSpec = { kind: 'choice', values: [false, true], ordered: false }
        this.#add(`stages.${kind}`, { spec, action, value: isThere }, { from: 'file', area: 'stages' })
        if (isThere) this.#going.set(known, `stages.${kind}`)
      }
    }
  }

  /** Whether a stage of the file may be left out. */
  mayGo({ stage }: At): boolean {
    return stage !== undefined && this.#going.has(stage)
  }

  recipe(at: At, path: Path): void {
    const knob = at.stage === undefined ? undefined : this.#going.get(at.stage)
    this.plugin('algorithm', partName('algorithm', at), path, knob === undefined ? undefined : { [knob]: [true] })
  }

  plugin(type: PluginType, name: string, path: Path, when?: Readonly<Record<string, KnobValue[]>>): void {
    const entry = getAt(this.#input.root, path)
    const kind = kindOf(entry)
    if (kind === undefined) return
    const written = paramsOf(entry)
    const named = this.#input.block.space[`${name}.kind`]
    const others = Array.isArray(named) ? named.filter((each) => typeof each === 'string' && each !== kind) : []
    if (others.length === 0) {
      this.#excluded.set(`${name}.kind`, 'another plugin is another experiment: name some in `space`')
      this.#params({ type, kind, name: `${name}.params`, written, when })
      return
    }
    // A param has an effect with the kinds that take it, and is taken out with the others.
    const kinds = [kind, ...others].map(String)
    const takers = (param: string) =>
      kinds.filter((each) => paramSchema(this.#input.schemaOf(type, each), [param]) !== undefined)
    for (const each of kinds.toReversed()) {
      this.#params({
        ...{ type, kind: each, name: `${name}.params`, written: each === kind ? written : {} },
        whenOf: (param) => {
          const wanted = takers(param)
          return wanted.length === kinds.length ? undefined : { [`${name}.kind`]: wanted }
        },
      })
    }
    for (const param of Object.keys(written)) {
      const wanted = takers(param)
      const isKnob = [...this.#knobs.keys()].some((each) => isWithin(each, `${name}.params.${param}`))
      const lacking = kinds.find((each) => !wanted.includes(each))
      if (lacking === undefined || isKnob) continue
      const message = `${lacking} takes no \`${param}\`, which the file gives to ${kind}`
      this.#problems.push({ path: ['space', `${name}.kind`], message, fix: `leave ${lacking} out, or \`${param}\`.` })
    }
  }

  #params(of: {
    readonly type: PluginType
    readonly kind: string
    readonly name: string
    readonly written: Mapping
    readonly fields?: readonly string[]
    readonly when?: Readonly<Record<string, KnobValue[]>> | undefined
    readonly whenOf?: ((param: string) => Readonly<Record<string, KnobValue[]>> | undefined) | undefined
  }): void {
    const { type, kind, name, written, fields, when, whenOf } = of
    const schema = this.#input.schemaOf(type, kind)
    if (schema === undefined) this.#excluded.set(name, `no ${type} "${kind}" is known`)
    if (schema === undefined || !this.#input.block.derive) return
    for (const param of paramNames(schema)) {
      const own = paramSchema(schema, [param]) ?? {}
      const isGroup = isMapping(own.properties) && own.search === undefined
      const names = isGroup ? paramNames(own).map((inner) => [param, inner]) : [[param]]
      for (const steps of names) {
        const found = paramSpec(paramSchema(schema, steps) ?? {}, getAt(written, steps), fields)
        const full = `${name}.${steps.join('.')}`
        if ('why' in found) {
          this.#excluded.set(full, found.why)
          continue
        }
        const { spec, value: usual, from, area, values } = found
        const unmet = Object.entries(found.when).find(([other, wanted]) => {
          const sibling = paramSchema(schema, other.split('.'))
          const isKnob =
            sibling !== undefined && !('why' in paramSpec(sibling, getAt(written, other.split('.')), fields))
          const today = getAt(written, other.split('.')) ?? sibling?.default
          return !isKnob && !wanted.some((each) => each === today)
        })
        if (unmet !== undefined) {
          this.#excluded.set(full, `it has an effect with ${unmet[0]}: ${unmet[1].join(', ')} alone`)
          continue
        }
        const conditions = Object.entries(found.when).map(([other, wanted]): [string, KnobValue[]] => [
          `${name}.${other}`,
          [...wanted],
        ])
        const all: Record<string, KnobValue[]> = { ...when, ...whenOf?.(param), ...Object.fromEntries(conditions) }
        // What is put in brings its own.
        const own = getAt(written, steps)
        const value = when !== undefined && isKnobValue(own) ? own : usual
        const action = { kind: 'set' as const, path: full, values: values === undefined ? undefined : { ...values } }
        this.#add(full, { spec, action, value, when: Object.keys(all).length === 0 ? undefined : all }, { from, area })
      }
    }
  }

  /** Transforms of a data block, those that may be put in and left out, and their order. */
  data(at: At, path: Path): void {
    const { root, block, schemaOf } = this.#input
    const name = `${partName('data', at)}.transforms`
    const list = transformsAt(root, path)
    const fixed = upToSplit(list).length
    const names = namesOf(list)
    const fields = fieldsOf(list)
    for (const each of names.slice(0, fixed)) this.#excluded.set(`${name}.${each}`, 'part of the split')
    if (getAt(root, [...path, 'dataset_name']) !== undefined) {
      this.#excluded.set(`${partName('data', at)}.dataset_name`, 'other versions are named in `space`')
    }
    const isFirst = at.stage === undefined && at.mix === undefined
    const given = isFirst ? block.transforms : []
    const usual = block.derive && isFirst ? usualTransforms.map((kind) => ({ kind, params: {} })) : []
    const optional = new Map<string, { entry: unknown; from: KnobOrigin['from']; isThere: boolean }>()
    for (const [i, entry] of list.entries()) {
      const own = names[i] ?? ''
      const isGiven = given.some(({ kind }) => kind === own)
      if (i < fixed || own.includes('#')) continue
      if (isGiven || (block.derive && isOptional(schemaOf('transform', own)))) {
        optional.set(own, { entry, from: isGiven ? 'file' : 'mark', isThere: true })
      } else this.#excluded.set(`${name}.${own}`, 'what comes after needs it: name it in `transforms` to leave it out')
    }
    for (const [i, entry] of [...given, ...usual].entries()) {
      const { kind, params } = entry
      if (kind === 'split') {
        const message = 'a split decides which rows are trained on: it cannot be put in'
        this.#problems.push({ path: ['transforms', i], message, fix: 'leave it out.' })
      } else if (schemaOf('transform', kind) === undefined) {
        if (i < given.length)
          this.#problems.push({ path: ['transforms', i, 'kind'], message: `no transform is called "${kind}"` })
      } else if (!names.includes(kind) && !optional.has(kind)) {
        const bare = Object.keys(params).length === 0 ? { kind } : { kind, params }
        optional.set(kind, { entry: bare, from: i < given.length ? 'file' : 'mark', isThere: false })
      }
    }
    for (const [i, own] of names.entries()) {
      if (i >= fixed && !optional.has(own)) this.#transform(name, own, list[i], fields)
    }
    for (const [kind, { entry, from, isThere }] of optional) {
      const before = isThere ? names[names.indexOf(kind) + 1] : names[fixed]
      const action = { kind: 'item' as const, path: name, entry, before }
      const spec: KnobSpec = { kind: 'choice', values: [false, true], ordered: false }
      this.#add(`${name}.${kind}`, { spec, action, value: isThere }, { from, area: 'data' })
      this.#transform(name, kind, entry, fields, { [`${name}.${kind}`]: [true] })
    }
    this.#order(name, names, [...optional.keys()])
  }

  #transform(
    name: string,
    own: string,
    entry: unknown,
    fields: readonly string[],
    when?: Readonly<Record<string, KnobValue[]>>,
  ): void {
    const kind = own.replace(/#\d+$/, '')
    this.#params({ type: 'transform', kind, name: `${name}.${own}.params`, written: paramsOf(entry), fields, when })
  }

  #order(name: string, names: readonly string[], optional: readonly string[]): void {
    if (optional.length < 2 || !this.#input.block.derive) return
    const today = [
      ...names.filter((each) => optional.includes(each)),
      ...optional.filter((each) => !names.includes(each)),
    ]
    const first = today.slice(0, mostOrdered)
    const orders = Object.fromEntries(permutations(first).map((order) => [order.join(' > '), order]))
    const action = { kind: 'order' as const, path: name, orders }
    const spec: KnobSpec = { kind: 'choice', values: Object.keys(orders), ordered: false }
    this.#add(`${name}.order`, { spec, action, value: first.join(' > ') }, { from: 'mark', area: 'data' })
  }

  /** What `space` of the file names, in place of what was derived. */
  named(): void {
    for (const [name, entry] of Object.entries(this.#input.block.space)) {
      const complain = (message: string, fix?: string) => this.#problems.push({ path: ['space', name], message, fix })
      const place = namedPlace(name)
      if (typeof place === 'string') {
        complain(`${name}: ${place}`, 'what judges a run never changes; `evsys research space FILE` prints what may.')
        continue
      }
      const found = schemaAt(this.#input, name, place)
      if ('problem' in found) {
        complain(`${name}: ${found.problem}`, found.fix)
        continue
      }
      const wrong = wrongValue(entry, found.schema)
      const isEntry = place.part === 'data' && place.below.length === 2 && typeof place.below[1] === 'string'
      if (wrong !== undefined) complain(`${name}: ${wrong}`)
      else if (isEntry) this.#narrowEntry(name, entry, complain)
      else this.#put(name, entry, found.schema)
    }
  }

  // Whether a transform is there.
  #narrowEntry(name: string, entry: ResearchBlock['space'][string], complain: (message: string, fix?: string) => void) {
    const known = this.#knobs.get(name)
    const wanted = Array.isArray(entry) ? entry : entry.kind === 'choice' ? entry.values : []
    const values = wanted.filter((each) => typeof each === 'boolean')
    if (known?.action.kind !== 'item') {
      complain(`${name}: it is no transform that may come and go`, 'name it in `transforms`.')
    } else if (values.length === wanted.length && values.length > 0) {
      const all = known.value === undefined || values.includes(known.value === true) ? values : [...values, known.value]
      this.#add(
        name,
        { ...known, spec: { kind: 'choice', values: all, ordered: false } },
        { from: 'file', area: 'data' },
      )
    } else complain(`${name}: it is true or false`)
  }

  #put(name: string, entry: ResearchBlock['space'][string], schema: Mapping | undefined): void {
    const known = this.#knobs.get(name)
    const path = pathOfName(this.#input.root, name)
    const written = path === undefined ? undefined : getAt(this.#input.root, path)
    const usual = known?.value ?? schema?.default
    const area = this.#origins.get(name)?.area
    const when = known?.when
    if (!Array.isArray(entry)) {
      const first = entry.kind === 'range' ? entry.low : (entry.values[0] ?? '')
      const value = isKnobValue(usual) ? usual : isKnobValue(written) ? written : first
      const spec = within(entry, isKnobValue(written) ? written : value)
      this.#add(name, { spec, action: { kind: 'set', path: name }, value, when }, { from: 'file', area })
      return
    }
    // What stands there today is a choice as well, and so is nothing.
    const today = written ?? usual ?? null
    const all = entry.some((each) => sameValue(each, today)) ? entry : [...entry, today]
    const labels = all.map(labelOf)
    const isNumeric = all.every((each) => typeof each === 'number')
    const sorted = isNumeric ? [...labels].sort((a, b) => Number(a) - Number(b)) : labels
    const spec: KnobSpec = { kind: 'choice', values: sorted, ordered: isNumeric }
    const values = all.every(isKnobValue)
      ? undefined
      : Object.fromEntries(all.map((each, i) => [String(labels[i]), each]))
    const value = isKnobValue(usual) ? usual : labelOf(today)
    this.#add(name, { spec, action: { kind: 'set', path: name, values }, value, when }, { from: 'file', area })
  }
}

function isOptional(schema: Mapping | undefined): boolean {
  return isMapping(schema?.search) && schema.search.optional === true
}

/** Fields of the rows, as the templates of the transforms name them. */
function fieldsOf(list: readonly unknown[]): string[] {
  const texts = list.flatMap((entry) => Object.values(paramsOf(entry))).filter((each) => typeof each === 'string')
  return [...new Set(texts.flatMap((text) => [...text.matchAll(/\{([\w.-]+)\}/g)].map(([, field = '']) => field)))]
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((item, i) => permutations(items.toSpliced(i, 1)).map((rest) => [item, ...rest]))
}

function isWithin(name: string, limit: string): boolean {
  return name === limit || name.startsWith(`${limit}.`)
}

function sameValue(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** What a choice is called: itself, or what it is of a mapping. */
function labelOf(value: unknown): KnobValue {
  return isKnobValue(value) ? value : value === null ? '(default)' : JSON.stringify(value)
}
