import { beforeAll, describe, expect, it } from 'vitest'
import { yamlValue } from '../../../config/index.ts'
import { type KnobSpec, type PluginSchemas, ResearchBlock, SearchMark } from '../../../contracts/index.ts'
import { isMapping, pluginCard } from '../../../kernel/index.ts'
import { unifiedDiff } from '../../diff/unified-diff.ts'
import { allBuiltins } from '../../plugins.ts'
import { deriveSpace, diffEdits, documentEdits, readKnobs, turnKnobs } from './index.ts'
import { paramNames, paramSchema, paramSpec } from './param-spec.ts'

const schemas = new Map<string, Readonly<Record<string, unknown>>>()
const schemaOf: PluginSchemas = (type, kind) => schemas.get(`${type} ${kind}`)
beforeAll(async () => {
  for (const plugin of await allBuiltins()) {
    schemas.set(`${plugin.type} ${plugin.kind}`, pluginCard(plugin, { origin: 'built-in', hash: '' }).schema)
  }
})

const text = `name: x
data:
  path: train.jsonl
  transforms:
    - { kind: split, params: { part: train } }
    - { kind: cap, params: { key: tool, most: 50 } }
    - { kind: jsonl_to_chat, params: { user_template: "{query}", assistant_template: "{tool}" } }
model: { name: evsys/tiny }
algorithm: { kind: sft, params: { learning_rate: 2e-5, lr_schedule: cosine } }
`
const files = { 'x.yaml': text }

function space(given: object = {}) {
  const root = Object(yamlValue(text, 'x.yaml'))
  return deriveSpace({ root, document: 'x.yaml', block: ResearchBlock.parse(given), schemaOf })
}

function specOf(name: string, given: object = {}): KnobSpec | undefined {
  return space(given).catalog.knobs[name]?.spec
}

/** A value that a file may write, of a number, a choice or a switch. */
function writtenOf({
  type,
  default: usual,
  enum: values,
  minimum,
  exclusiveMinimum,
}: Readonly<Record<string, unknown>>) {
  if (Array.isArray(values)) return typeof values[0] === 'string' ? values[0] : undefined
  if (type === 'boolean') return true
  if (type !== 'number' && type !== 'integer') return undefined
  if (typeof usual === 'number' && usual > 0) return usual
  const least = Number(minimum ?? exclusiveMinimum ?? 0)
  return type === 'integer' ? Math.max(1, Math.ceil(least) + 1) : least + 0.5
}

describe('what is searched', () => {
  it('follows from the marks of plugins, wide enough for what the file says (CFG-609)', () => {
    const { catalog, origins, problems } = space()
    expect(problems).toEqual([])
    expect(catalog.knobs['algorithm.params.learning_rate']).toMatchObject({
      spec: { kind: 'range', low: 1e-5, high: 1e-2, log: true, integer: false },
      value: 1e-4,
    })
    expect(catalog.knobs['algorithm.params.lr_warmup_steps']).toMatchObject({
      spec: { kind: 'choice', values: [0, 5, 10, 20, 50], ordered: true },
      when: { 'algorithm.params.lr_schedule': ['linear_warmup', 'linear_decay', 'cosine_with_warmup'] },
    })
    expect(specOf('data.transforms.cap.params.most')).toEqual({
      kind: 'range',
      low: 13,
      high: 200,
      log: true,
      integer: true,
    })
    expect(specOf('data.transforms.jsonl_to_chat.params.assistant_template')).toMatchObject({
      values: ['{tool}', 'Tool: {tool}', '<answer>{tool}</answer>'],
    })
    expect(catalog.knobs['data.transforms.dedupe.params.key']).toMatchObject({
      spec: { values: ['(default)', 'query', 'tool'] },
      when: { 'data.transforms.dedupe': [true] },
    })
    expect(catalog.knobs['data.transforms.order']?.spec).toMatchObject({ values: ['cap > dedupe', 'dedupe > cap'] })
    expect(origins['algorithm.params.learning_rate']).toEqual({ from: 'mark', area: 'optimizer' })
  })

  it('says of everything else why it is not (CFG-609)', () => {
    const excluded = Object.fromEntries(
      space({ off_limits: ['data.transforms'] }).excluded.map(({ name, why }) => [name, why]),
    )
    expect(excluded).toMatchObject({
      'algorithm.kind': expect.stringContaining('another plugin'),
      'algorithm.params.max_steps': expect.stringContaining('what a training costs'),
      'algorithm.params.save_every': 'it changes nothing that is learnt',
      'algorithm.params.batch_tokens': 'not marked for search, and not written',
      'data.transforms.split': 'part of the split',
      'data.transforms.cap': 'off limits: data.transforms',
    })
    const knobs = Object.keys(space({ off_limits: ['algorithm', 'data'] }).catalog.knobs)
    expect(knobs).toEqual([])
  })

  it('is what `space` and `transforms` of the file say in its place (CFG-610)', () => {
    const given = {
      derive: false,
      space: {
        'algorithm.params.learning_rate': { kind: 'range', low: 1e-3, high: 1e-1, log: true },
        'algorithm.params.max_steps': [100, 200],
        'algorithm.kind': ['sft', 'rl'],
        'data.transforms.2': [
          { kind: 'jsonl_to_chat', params: { user_template: 'Q: {query}', assistant_template: '{tool}' } },
        ],
        'model.renderer_name': ['qwen3', null],
        'data.transforms.dedupe': [true],
      },
      transforms: [{ kind: 'dedupe', params: { key: 'query' } }],
    }
    const { catalog, problems } = space(given)
    expect(problems).toEqual([])
    const knobs = readKnobs(files, catalog)
    expect(knobs).toMatchObject({
      'algorithm.params.learning_rate': 2e-5,
      'algorithm.kind': 'sft',
      'data.transforms.dedupe': false,
      'model.renderer_name': '(default)',
    })
    expect(catalog.knobs['algorithm.params.learning_rate']?.spec).toMatchObject({ low: 2e-5, high: 1e-1 })
    const label =
      catalog.knobs['data.transforms.2']?.spec.kind === 'choice'
        ? catalog.knobs['data.transforms.2'].spec.values[0]
        : ''
    const turned = turnKnobs(
      files,
      { 'data.transforms.dedupe': true, 'data.transforms.2': label ?? '', 'model.renderer_name': 'qwen3' },
      catalog,
    )
    if ('problems' in turned) throw new Error(turned.problems.join())
    expect(diffEdits(files, turned.files, 'x.yaml')).toMatchObject({ rest: false })
    expect(turned.files['x.yaml']).toContain('Q: {query}')
    expect(turned.files['x.yaml']).toContain('{ kind: dedupe, params: { key: query } }')
  })

  it('keeps a param for the recipes that take it, and takes it out for others (CFG-610)', () => {
    const { catalog, problems } = space({ space: { 'algorithm.kind': ['sft', 'dpo'] } })
    expect(problems).toEqual([])
    expect(catalog.knobs['algorithm.params.beta']?.when).toEqual({ 'algorithm.kind': ['dpo'] })
    expect(catalog.knobs['algorithm.params.supervise']?.when).toEqual({ 'algorithm.kind': ['sft'] })
    const turned = turnKnobs(files, { 'algorithm.kind': 'dpo', 'algorithm.params.beta': 0.5 }, catalog)
    if ('problems' in turned) throw new Error(turned.problems.join())
    expect(turned.files['x.yaml']).toContain(
      'algorithm: { kind: dpo, params: { learning_rate: 2e-5, lr_schedule: cosine, beta: 0.5 } }',
    )
    const back = turnKnobs(turned.files, { 'algorithm.kind': 'sft' }, catalog)
    expect('files' in back && back.files['x.yaml']).toContain(
      '{ kind: sft, params: { learning_rate: 2e-5, lr_schedule: cosine } }',
    )
  })

  it.each<[object, (string | number)[], string]>([
    [
      { space: { 'algorithm.params.learning_rat': [1] } },
      ['space', 'algorithm.params.learning_rat'],
      'takes no learning_rat',
    ],
    [{ space: { 'algorithm.params.learning_rate': [-1] } }, ['space', 'algorithm.params.learning_rate'], 'outside'],
    [
      { space: { 'algorithm.params.lr_schedule': ['cosin'] } },
      ['space', 'algorithm.params.lr_schedule'],
      'did you mean "cosine"',
    ],
    [
      { space: { 'algorithm.params.batch_size': { kind: 'range', low: 1, high: 8 } } },
      ['space', 'algorithm.params.batch_size'],
      'whole',
    ],
    [
      { space: { 'algorithm.params.weight_decay': { kind: 'range', low: 0, high: 1, log: true } } },
      ['space', 'algorithm.params.weight_decay'],
      'above 0',
    ],
    [{ space: { 'algorithm.kind': ['sfd'] } }, ['space', 'algorithm.kind'], 'no algorithm is called "sfd"'],
    [{ space: { 'metadata.benchmark': ['x'] } }, ['space', 'metadata.benchmark'], 'no part of a recipe'],
    [{ space: { 'data.path': ['x'] } }, ['space', 'data.path'], '`transforms`'],
    [
      { space: { 'data.transforms.split.params.part': ['val'] } },
      ['space', 'data.transforms.split.params.part'],
      'part of the split',
    ],
    [{ space: { 'data.transforms.filter': [true] } }, ['space', 'data.transforms.filter'], 'no transform filter'],
    [{ space: { 'model.name': ['evsys/small'] } }, ['space', 'model.name'], 'the renderer alone'],
    [{ space: { agent: ['chat'], 'agent.kind': ['oracle'] } }, ['space', 'agent.kind'], 'without the model'],
    [{ space: { 'stages.1.algorithm.kind': ['sft'] } }, ['space', 'stages.1.algorithm.kind'], 'no stages'],
    [{ transforms: [{ kind: 'dedup' }] }, ['transforms', 0, 'kind'], 'no transform is called "dedup"'],
    [{ transforms: [{ kind: 'split', params: { part: 'val' } }] }, ['transforms', 0], 'a split decides'],
    [{ off_limits: ['budget'] }, ['off_limits', 0], 'no part of a recipe'],
  ])('refuses what the schema does not have, at its place: %j (CFG-610)', (given, path, message) => {
    const { problems } = space(given)
    expect(problems).toContainEqual(expect.objectContaining({ path, message: expect.stringContaining(message) }))
  })

  it('puts a stage that the file declares in and out, with what its recipe may be only where it is there (CFG-617)', () => {
    const chain = `name: x
data: { path: a.jsonl, transforms: [{ kind: jsonl_to_chat, params: { user_template: "{q}", assistant_template: "{a}" } }] }
model: { name: evsys/tiny }
stages:
  - algorithm: { kind: sft, params: { max_steps: 20 } } # first
research:
  stages:
    - algorithm: { kind: rl, params: { max_steps: 5 } }
      data: { path: b.jsonl, transforms: [{ kind: to_harbor_task, params: { instruction_template: "{q}", verifier: exact_match, expected: "{a}" } }] }
`
    const derive = (of: string) => {
      const root = Object(yamlValue(of, 'x.yaml'))
      return deriveSpace({ root, document: 'x.yaml', block: ResearchBlock.parse(root.research), schemaOf })
    }
    const { catalog, problems } = derive(chain)
    expect(problems).toEqual([])
    expect(catalog.knobs['stages.rl']).toMatchObject({ value: false, action: { kind: 'item', path: 'stages' } })
    const turned = turnKnobs({ 'x.yaml': chain }, { 'stages.rl': true }, catalog)
    if ('problems' in turned) throw new Error(turned.problems.join())
    const patch = unifiedDiff({ 'x.yaml': chain }, turned.files)
    expect(patch.split('\n').filter((line) => /^-(?!-)/.test(line))).toEqual([])
    expect(patch).toContain('+  - algorithm: { kind: rl, params: { max_steps: 5 } }')
    expect(readKnobs(turned.files, catalog)).toMatchObject({ 'stages.rl': true })
    const asked = { document: 'x.yaml', offLimits: [] }
    expect(documentEdits.forbiddenChanges({ before: { 'x.yaml': chain }, after: turned.files, ...asked })).toEqual([])
    const other = { 'x.yaml': turned.files['x.yaml']?.replace(/path: b\.jsonl/, 'path: val.jsonl') ?? '' }
    expect(documentEdits.forbiddenChanges({ before: { 'x.yaml': chain }, after: other, ...asked })).toMatchObject([
      { class: 'tamper' },
    ])
    // Where the file has it, it may go, and its params with it.
    const whole = derive(turned.files['x.yaml'] ?? '')
    expect(whole.catalog.knobs['stages.rl']).toMatchObject({ value: true })
    expect(whole.catalog.knobs['stages.1.algorithm.params.learning_rate']?.when).toEqual({ 'stages.rl': [true] })
    const back = turnKnobs(turned.files, { 'stages.rl': false }, whole.catalog)
    expect('files' in back && back.files['x.yaml']).toBe(chain)
  })

  it.each<[object, (string | number)[], string]>([
    [{ stages: [{ algorithm: { kind: 'rl' } }] }, ['stages', 0], 'no stages that another could follow'],
  ])('refuses stages that cannot be: %j (CFG-617)', (given, path, message) => {
    const { problems } = space(given)
    expect(problems).toContainEqual(expect.objectContaining({ path, message: expect.stringContaining(message) }))
  })

  it('says of every param of every recipe, transform and harness how it is searched, or why not (CFG-616)', () => {
    const documents = [...schemas].flatMap(([name, schema]) => {
      const [type = '', kind = ''] = name.split(' ')
      const spec = { kind }
      const data = { path: 'a.jsonl', transforms: type === 'transform' ? [spec] : [] }
      const root = {
        name: 'x',
        data,
        algorithm: type === 'algorithm' ? spec : { kind: 'sft' },
        agent: type === 'agent' ? spec : 'chat',
      }
      const prefix = { algorithm: 'algorithm', agent: 'agent', transform: `data.transforms.${kind}` }[type]
      return prefix === undefined || kind === 'split' ? [] : [{ name, schema, root, prefix }]
    })
    expect(documents.length).toBeGreaterThan(25)
    const silent = documents.flatMap(({ name, schema, root, prefix }) => {
      const found = deriveSpace({ root, document: 'x.yaml', block: ResearchBlock.parse({ transforms: [] }), schemaOf })
      const said = new Map([
        ...found.excluded.map(({ name: own, why }) => [own, why] as const),
        ...Object.keys(found.catalog.knobs).map((own) => [own, 'a knob'] as const),
      ])
      return paramNames(schema).flatMap((param) => {
        const full = `${prefix}.params.${param}`
        const own = [...said].filter(([each]) => each === full || each.startsWith(`${full}.`))
        return own.length > 0 && own.every(([, why]) => why !== '') ? [] : [`${name}: ${param}`]
      })
    })
    expect(silent).toEqual([])
  })

  it('derives a knob of every number, choice and switch that a file writes and no mark takes out (CFG-616)', () => {
    const underived = [...schemas].flatMap(([name, schema]) => {
      if (!/^(?:algorithm|agent|transform) /.test(name)) return []
      return paramNames(schema).flatMap((param) => {
        const own = paramSchema(schema, [param]) ?? {}
        const written = writtenOf(own)
        if (written === undefined) return []
        const found = paramSpec(own, written)
        if ('why' in found)
          return isMapping(own.search) && 'off' in own.search ? [] : [`${name}: ${param}: ${found.why}`]
        const { spec } = found
        const holds =
          spec.kind === 'choice'
            ? spec.values.includes(written)
            : spec.low <= Number(written) && Number(written) <= spec.high
        return holds ? [] : [`${name}: ${param}: ${JSON.stringify(written)} is not in ${JSON.stringify(spec)}`]
      })
    })
    expect(underived).toEqual([])
  })

  it('has marks that can be read, with the default of the param inside (CFG-609)', () => {
    let marks = 0
    const visit = (schema: unknown, at: string): void => {
      if (!isMapping(schema)) return
      if (schema.search !== undefined) {
        marks++
        expect([at, SearchMark.safeParse(schema.search).error]).toEqual([at, undefined])
        const mark = SearchMark.parse(schema.search)
        if (!('off' in mark) && typeof schema.default === 'number') {
          if (mark.values !== undefined)
            expect([at, mark.values]).toEqual([at, expect.arrayContaining([schema.default])])
          else if (mark.from !== undefined && mark.to !== undefined) {
            expect([at, mark.from <= schema.default && schema.default <= mark.to]).toEqual([at, true])
          }
        }
      }
      for (const [key, inner] of Object.entries(isMapping(schema.properties) ? schema.properties : {}))
        visit(inner, `${at}.${key}`)
    }
    for (const [name, schema] of schemas) visit(schema, name)
    expect(marks).toBeGreaterThan(100)
  })
})
