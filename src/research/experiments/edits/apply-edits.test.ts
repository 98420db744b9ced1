import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scaled } from '../../../../tests/scale.ts'
import { yamlValue } from '../../../config/index.ts'
import type { CandidateFiles, ExperimentEdit, PluginCard } from '../../../contracts/index.ts'
import { unifiedDiff } from '../../diff/unified-diff.ts'
import { allBuiltins } from '../../plugins.ts'
import {
  applyEdits,
  describeEdits,
  documentEdits,
  inScope,
  protectedHashes,
  strangePlugins,
  wrongPattern,
} from './index.ts'
import { modelless } from './protected.ts'

const DOCUMENT = 'x.yaml'
const plain = `# A router.
name: router
metadata:
  objective: { metric: val.pass@1 }
  benchmark:
    - { name: val, path: data/val, split: val, metrics: [pass@1] }
budget: { steps: 900 }
n_repeats: 3
seed: 7
data:
  dataset_name: router@1
  transforms:
    - { kind: split, params: { part: train } } # never the rest
    - { kind: dedupe, params: { key: query } }
    # the conversation
    - { kind: jsonl_to_chat, params: { user_template: "{query}", assistant_template: "{tool}" } }
model: { name: evsys/tiny }
algorithm:
  kind: rl
  params:
    learning_rate: 0.002 # peak
    held_out_verifier: { kind: exact_match }
agent: chat
`
const staged = `name: staged
data: { path: a.jsonl, transforms: [{ kind: jsonl_to_chat, params: { user_template: "{q}" } }] }
model: { name: evsys/tiny }
stages:
  - algorithm: { kind: sft, params: { max_steps: 20 } }
  - algorithm: { kind: rl, params: { max_steps: 45 } }
    data:
      path: b.jsonl
      transforms:
        - { kind: to_harbor_task, params: { instruction_template: "{q}", verifier: exact_match, expected: "{a}" } }
`
const files: CandidateFiles = { [DOCUMENT]: plain, 'plugins/own.ts': 'export default []\n' }
const options = { scope: ['plugins/*', 'loss.ts'] }

function edited(edits: ExperimentEdit[], of: CandidateFiles = files): CandidateFiles {
  const result = applyEdits(of, DOCUMENT, edits, options)
  if ('problems' in result) throw new Error(JSON.stringify(result.problems))
  return result.files
}

/** Lines that an edit takes out and puts in. */
function lines(edits: ExperimentEdit[], of: CandidateFiles = files): string[] {
  const patch = unifiedDiff(of, edited(edits, of))
  return patch.split('\n').filter((line) => /^[-+](?![-+])/.test(line))
}

describe('an edit', () => {
  it.each<[string, ExperimentEdit, string[]]>([
    [
      'optimizer: sets learning_rate of the algorithm from 0.002 to 0.01',
      { edit: 'set_param', of: 'algorithm', param: 'learning_rate', value: 0.01 },
      ['-    learning_rate: 0.002 # peak', '+    learning_rate: 0.01 # peak'],
    ],
    [
      'optimizer: sets learning_rate of the algorithm back to its default, from 0.002',
      { edit: 'set_param', of: 'algorithm', param: 'learning_rate', value: null },
      ['-    learning_rate: 0.002 # peak'],
    ],
    [
      'data: removes dedupe',
      { edit: 'remove_transform', at: 1, kind: 'dedupe' },
      ['-    - { kind: dedupe, params: { key: query } }'],
    ],
    [
      'data: moves dedupe to the end',
      { edit: 'move_transform', from: 1, to: 2, kind: 'dedupe' },
      ['-    - { kind: dedupe, params: { key: query } }', '+    - { kind: dedupe, params: { key: query } }'],
    ],
    [
      'data: sets mode to "near" of dedupe',
      { edit: 'set_transform', at: 1, kind: 'dedupe', params: { mode: 'near' } },
      [
        '-    - { kind: dedupe, params: { key: query } }',
        '+    - { kind: dedupe, params: { key: query, mode: near } }',
      ],
    ],
    [
      'data: keeps only some rows: field "tool", nonempty true',
      { edit: 'filter_rows', params: { field: 'tool', nonempty: true } },
      ['+    - { kind: filter, params: { field: tool, nonempty: true } }'],
    ],
    [
      'data: keeps at most 40 rows of each tool',
      { edit: 'cap_rows', key: 'tool', most: 40 },
      ['+    - { kind: cap, params: { key: tool, most: 40 } }'],
    ],
    [
      'data: mixes rows by tool: a 1, b 3',
      { edit: 'mix_rows', key: 'tool', weights: { a: 1, b: 3 } },
      ['+    - { kind: mix, params: { key: tool, weights: { a: 1, b: 3 } } }'],
    ],
    [
      'data: trains in the order of the length of query, ascending',
      { edit: 'order_rows', by: 'query', measure: 'length', order: 'ascending' },
      ['+    - { kind: sort, params: { by: query, measure: length, order: ascending } }', '+    row_order: given'],
    ],
    [
      'prompt: writes the user message as "Query: {query}"',
      { edit: 'set_template', role: 'user', text: 'Query: {query}' },
      [
        '-    - { kind: jsonl_to_chat, params: { user_template: "{query}", assistant_template: "{tool}" } }',
        '+    - { kind: jsonl_to_chat, params: { user_template: "Query: {query}", assistant_template: "{tool}" } }',
      ],
    ],
    [
      'prompt: sets the system prompt "Be brief." of the data',
      { edit: 'set_system_prompt', of: 'data', text: 'Be brief.' },
      [
        '-    - { kind: jsonl_to_chat, params: { user_template: "{query}", assistant_template: "{tool}" } }',
        '+    - { kind: jsonl_to_chat, params: { user_template: "{query}", assistant_template: "{tool}", system_prompt: Be brief. } }',
      ],
    ],
    [
      'prompt: shows 1 solved examples before each conversation',
      { edit: 'set_examples', examples: [{ user: 'a', assistant: 'b' }] },
      ['+    - { kind: few_shot, params: { examples: [{ user: a, assistant: b }] } }'],
    ],
    [
      'data: trains on router@2 instead of router@1',
      { edit: 'set_dataset', dataset: 'router@2' },
      ['-  dataset_name: router@1', '+  dataset_name: router@2'],
    ],
    [
      'template: renders chats with qwen3',
      { edit: 'set_renderer', renderer: 'qwen3' },
      ['-model: { name: evsys/tiny }', '+model: { name: evsys/tiny, renderer_name: qwen3 }'],
    ],
    [
      'harness: answers with tool_loop instead of chat: max_turns 3',
      { edit: 'set_agent', kind: 'tool_loop', params: { max_turns: 3 } },
      ['-agent: chat', '+agent: { kind: tool_loop, params: { max_turns: 3 } }'],
    ],
    [
      'reward: shapes the reward: length_penalty to 0.1',
      { edit: 'shape_reward', params: { length_penalty: 0.1 } },
      ['+    length_penalty: 0.1'],
    ],
    [
      'teacher: learns from another teacher: base_model "b"',
      { edit: 'set_teacher', teacher: { base_model: 'b' } },
      ['+    teacher: { base_model: b }'],
    ],
    [
      'algorithm: trains with rejection_sft instead of rl',
      { edit: 'set_algorithm', kind: 'rejection_sft', params: {} },
      ['-  kind: rl', '+  kind: rejection_sft'],
    ],
    [
      'code: writes plugins/new.ts, a transform',
      { edit: 'write_plugin', role: 'transform', path: 'plugins/new.ts', text: 'export default []\n' },
      ['+export default []', '+plugins: [./plugins/new.ts]'],
    ],
  ])('%s (CFG-604)', (text, edit, changed) => {
    expect(lines([edit])).toEqual(changed)
    const [described] = describeEdits(files, DOCUMENT, [edit])
    expect(`${described?.area}: ${described?.text}`).toBe(text)
    expect(
      documentEdits.forbiddenChanges({ before: files, after: edited([edit]), document: DOCUMENT, offLimits: [] }),
    ).toEqual(
      edit.edit === 'write_plugin'
        ? [{ class: 'tamper', reason: 'plugins/new.ts is not in the scope of a candidate' }]
        : [],
    )
  })

  it('changes stages: one more, one less, another order, and what stands in one (CFG-604)', () => {
    const of = { [DOCUMENT]: staged }
    const kinds = (edits: ExperimentEdit[]) =>
      (yamlValue(edited(edits, of)[DOCUMENT] ?? '', 'x') as { stages: { algorithm: { kind: string } }[] }).stages.map(
        ({ algorithm }) => algorithm.kind,
      )
    expect(kinds([{ edit: 'add_stage', at: 1, value: { algorithm: { kind: 'dpo', params: {} } } }])).toEqual([
      'sft',
      'dpo',
      'rl',
    ])
    expect(kinds([{ edit: 'remove_stage', at: 0 }])).toEqual(['rl'])
    expect(kinds([{ edit: 'move_stage', from: 0, to: 1 }])).toEqual(['rl', 'sft'])
    expect(lines([{ edit: 'set_param', of: 'algorithm', param: 'learning_rate', value: 0.1, stage: 1 }], of)).toEqual([
      '-  - algorithm: { kind: rl, params: { max_steps: 45 } }',
      '+  - algorithm: { kind: rl, params: { max_steps: 45, learning_rate: 0.1 } }',
    ])
  })

  it.each<[ExperimentEdit, string, string]>([
    [{ edit: 'remove_transform', at: 0, kind: 'split' }, 'EDIT_PROTECTED', 'sources, splits'],
    [{ edit: 'set_transform', at: 0, kind: 'split', params: { part: 'val' } }, 'EDIT_PROTECTED', 'splits'],
    [{ edit: 'add_transform', at: 0, kind: 'shuffle', params: {} }, 'EDIT_PROTECTED', 'splits'],
    [{ edit: 'add_transform', at: 1, kind: 'split', params: { part: 'val' } }, 'EDIT_INVALID', 'split'],
    [{ edit: 'set_dataset', dataset: 'other@1' }, 'EDIT_PROTECTED', 'sources'],
    [{ edit: 'set_param', of: 'algorithm', param: 'held_out_verifier', value: null }, 'EDIT_PROTECTED', 'verifiers'],
    [{ edit: 'set_algorithm', kind: 'sft', params: { held_out_verifier: null } }, 'EDIT_PROTECTED', 'verifiers'],
    [
      {
        edit: 'add_transform',
        at: 1,
        kind: 'to_harbor_task',
        params: { instruction_template: '{query}', verifier: 'contains', expected: 'a' },
      },
      'EDIT_PROTECTED',
      'verifiers',
    ],
    [{ edit: 'set_agent', kind: 'predictions', params: { path: 'a.csv' } }, 'EDIT_PROTECTED', 'without the model'],
    [{ edit: 'write_plugin', role: 'agent', path: '../x.ts', text: '' }, 'EDIT_PROTECTED', 'may not be written'],
    [{ edit: 'write_plugin', role: 'agent', path: DOCUMENT, text: '' }, 'EDIT_PROTECTED', 'may not be written'],
    [{ edit: 'remove_transform', at: 1, kind: 'filter' }, 'EDIT_INVALID', 'transform 1 is "dedupe"'],
    [{ edit: 'remove_transform', at: 9, kind: 'filter' }, 'EDIT_INVALID', 'there is no transform 9'],
    [{ edit: 'set_param', of: 'algorithm', param: 'x', value: 1, stage: 2 }, 'EDIT_INVALID', 'no stages'],
    [{ edit: 'shape_reward', params: { learning_rate: 1 } }, 'EDIT_INVALID', 'no param of a reward'],
    [{ edit: 'remove_stage', at: 0 }, 'EDIT_INVALID', 'no stages'],
  ])('is refused where it may not or cannot change something: %j (CFG-605)', (edit, code, message) => {
    const harmless: ExperimentEdit = { edit: 'set_renderer', renderer: 'qwen3' }
    expect(applyEdits(files, DOCUMENT, [harmless, edit], options)).toMatchObject({
      problems: [{ code, edit: 1, message: expect.stringContaining(message) }],
    })
  })

  it('changes nothing that is off limits (CFG-605)', () => {
    const edits: ExperimentEdit[] = [{ edit: 'set_param', of: 'algorithm', param: 'learning_rate', value: 1 }]
    for (const offLimits of [['algorithm'], ['algorithm.params.learning_rate']]) {
      const refused = applyEdits(files, DOCUMENT, edits, { offLimits })
      expect(refused).toMatchObject({ problems: [{ code: 'EDIT_PROTECTED' }] })
    }
    expect(applyEdits(files, DOCUMENT, edits, { offLimits: ['data', 'algorithm.kind'] })).toHaveProperty('files')
  })
})

describe('what judges a run', () => {
  it('is the same after any edits: benchmarks, metrics, verifiers, splits, seeds, budget (CFG-606)', () => {
    let applied = 0
    fc.assert(
      fc.property(fc.constantFrom(plain, staged), fc.array(anyEdit, { minLength: 4, maxLength: 12 }), (text, edits) => {
        const before = { [DOCUMENT]: text }
        let now: CandidateFiles = before
        let staying = true
        for (const edit of edits) {
          const result = applyEdits(now, DOCUMENT, [edit], options)
          if ('problems' in result) {
            expect(result.problems[0]?.code).toMatch(/^EDIT_/)
            continue
          }
          applied++
          now = result.files
          if (edit.edit.endsWith('_stage')) staying = false
        }
        const [old, hashes] = [before, now].map((each) => protectedHashes(Object(yamlValue(each[DOCUMENT] ?? '', 'x'))))
        // A stage may go with its data; none may come that reads other rows or is judged by another.
        const { splits, verifiers, ...others } = Object(old)
        expect(hashes).toMatchObject(staying ? { ...others, splits, verifiers } : others)
        expect(documentEdits.forbiddenChanges({ before, after: now, document: DOCUMENT, offLimits: [] })).toEqual([])
      }),
      { numRuns: scaled(60) },
    )
    expect(applied).toBeGreaterThan(60)
  })

  it('cannot be changed by rewriting the document either (CFG-606)', () => {
    const changes: [string, string, string][] = [
      ['path: data/val', 'path: data/easy', 'benchmarks'],
      ['metric: val.pass@1', 'metric: val.pass@3', 'objective'],
      ['steps: 900', 'steps: 9000', 'budget'],
      ['n_repeats: 3', 'n_repeats: 1', 'seeds'],
      ['seed: 7', 'seed: 8', 'seeds'],
      ['part: train', 'part: val', 'splits'],
      ['router@1', 'easy@1', 'sources'],
      ['name: evsys/tiny', 'name: evsys/small', 'model'],
      ['exact_match', 'contains', 'verifiers'],
      ['agent: chat', 'agent: oracle', 'without the model'],
      ['# A router.', 'leaks: warn', 'leaks'],
      ['# A router.', 'backend: { kind: mock }', 'backend'],
    ]
    for (const [from, to, words] of changes) {
      const changed = { ...files, [DOCUMENT]: plain.replace(from, to) }
      const found = documentEdits.forbiddenChanges({ before: files, after: changed, document: DOCUMENT, offLimits: [] })
      expect([to, found.map(({ reason }) => reason).join()]).toEqual([to, expect.stringContaining(words)])
    }
    const broken = { ...files, [DOCUMENT]: 'a: [' }
    expect(
      documentEdits.forbiddenChanges({ before: files, after: broken, document: DOCUMENT, offLimits: [] }),
    ).toMatchObject([{ class: 'syntax' }])
    const touched = { ...files, 'plugins/own.ts': 'x' }
    expect(
      documentEdits.forbiddenChanges({ before: files, after: touched, document: DOCUMENT, offLimits: [] }),
    ).toMatchObject([{ class: 'tamper' }])
  })

  it('knows every built-in agent that answers without the model (CFG-606)', async () => {
    const agents = (await allBuiltins()).filter((plugin) => plugin.type === 'agent' && plugin.needs?.model === false)
    for (const { kind } of agents) expect([kind, modelless.has(kind)]).toEqual([kind, true])
  })

  it('is no plugin that a candidate brings (CFG-607)', () => {
    const card = (type: PluginCard['type'], kind: string, origin: string, hash = origin): PluginCard => ({
      ...{ type, kind, origin, hash, summary: '', schema: {}, needs: {}, facts: {} },
    })
    const before = [
      card('metric', 'pass@1', 'built-in'),
      card('transform', 'dedupe', 'built-in'),
      card('transform', 'own', 'plugins/own.ts'),
    ]
    const brings = (...cards: PluginCard[]) => strangePlugins(before, [...before, ...cards])
    expect(brings(card('transform', 'new', 'plugins/new.ts'), card('algorithm', 'x', 'plugins/x.ts'))).toEqual([])
    expect(strangePlugins(before, [card('transform', 'own', 'plugins/own.ts', 'changed')])).toEqual([])
    expect(brings(card('metric', 'mine', 'plugins/m.ts'))).toEqual([
      'plugins/m.ts brings the metric "mine", which no candidate may',
    ])
    expect(strangePlugins(before, [card('metric', 'pass@1', 'plugins/m.ts')])).toHaveLength(1)
    expect(strangePlugins(before, [card('transform', 'dedupe', 'plugins/d.ts')])).toEqual([
      'plugins/d.ts takes the place of the transform "dedupe" of built-in',
    ])
  })
})

describe('edits together', () => {
  it('commute where they touch different places (CFG-608)', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(apart, { minLength: 2 }), (edits) => {
        const value = (of: CandidateFiles) => yamlValue(of[DOCUMENT] ?? '', 'x')
        const inOrder = edited(apart.filter((edit) => edits.includes(edit)))
        expect(value(edited(edits))).toEqual(value(inOrder))
        expect(documentEdits.canonicalDocument(edited(edits)[DOCUMENT] ?? '')).toEqual(
          documentEdits.canonicalDocument(inOrder[DOCUMENT] ?? ''),
        )
      }),
      { numRuns: scaled(40) },
    )
  })

  it('mean the same document however it is written (CFG-608)', () => {
    const short = documentEdits.canonicalDocument(plain)
    const moved = plain.replace(
      /^(data|model|algorithm|agent):[\s\S]*/m,
      (text) => `run:\n${text.replace(/^/gm, '  ')}`,
    )
    const spelled = moved
      .replace('agent: chat', 'agent: { kind: chat, params: {} }')
      .replace('# A router.', 'description: x')
    expect(documentEdits.canonicalDocument(spelled)).toEqual(short)
    expect(documentEdits.canonicalDocument(plain.replace('0.002', '0.003'))).not.toEqual(short)
  })
})

describe('the scope of a candidate', () => {
  it('holds the files that are named, and none above or beside (CFG-607)', () => {
    const scope = ['plugins/*', './loss.ts', 'a/b/*']
    expect(['plugins/x.ts', './plugins/x.ts', 'loss.ts', 'a/b/c.ts'].map((path) => inScope(scope, path))).not.toContain(
      false,
    )
    const out = [
      'plugins/a/x.ts',
      '../loss.ts',
      'plugins/../experiment.yaml',
      '/loss.ts',
      'a/b',
      '',
      'plugins\\x',
      'plugins/\0',
    ]
    expect(out.map((path) => inScope(scope, path))).not.toContain(true)
    expect(inScope([], 'x.ts')).toBe(false)
  })

  it('takes parts of names and folders at any depth, and nothing hidden (CFG-607)', () => {
    const scope = ['plugins/*.ts', 'lib/**/loss-*.ts', 'all/**']
    const rows: [string, boolean][] = [
      ['plugins/focal.ts', true],
      ['plugins/focal.js', false],
      ['plugins/.focal.ts', false],
      ['plugins/a/focal.ts', false],
      ['lib/loss-a.ts', true],
      ['lib/x/y/loss-a.ts', true],
      ['lib/x/.git/loss-a.ts', false],
      ['lib/x/los-a.ts', false],
      ['all/a/b/c.ts', true],
      ['all', false],
    ]
    expect(rows.map(([path]) => [path, inScope(scope, path)])).toEqual(rows)
    expect(
      ['../x.ts', '/x.ts', '*', '**/x.ts', 'notes.md'].map((each) => wrongPattern(each) !== undefined),
    ).not.toContain(false)
    expect(['plugins/*.ts', './a/b.mjs', 'lib/**'].map((each) => wrongPattern(each))).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
})

/** Edits of as many places. */
const apart: ExperimentEdit[] = [
  { edit: 'set_param', of: 'algorithm', param: 'learning_rate', value: 0.1 },
  { edit: 'set_param', of: 'algorithm', param: 'lora_rank', value: 4 },
  { edit: 'shape_reward', params: { length_penalty: 0.1 } },
  { edit: 'set_template', role: 'user', text: 'Q: {query}' },
  { edit: 'set_dataset', dataset: 'router@2' },
  { edit: 'set_renderer', renderer: 'qwen3' },
  { edit: 'set_agent', kind: 'tool_loop', params: {} },
  { edit: 'set_examples', examples: [{ user: 'a', assistant: 'b' }] },
]

const stage = fc.option(fc.nat(2), { nil: undefined })
const place = fc.nat(3)
const kind = fc.constantFrom('split', 'dedupe', 'jsonl_to_chat', 'to_harbor_task', 'filter', 'sft', 'rl')
const params = fc.dictionary(
  fc.constantFrom('part', 'key', 'verifier', 'expected', 'seed', 'learning_rate', 'held_out_verifier', 'hf_split'),
  fc.constantFrom(null, 'val', 'x', 1, { kind: 'contains' }),
  { noNullPrototype: true },
)
const anyEdit = fc.oneof(
  fc.record({
    edit: fc.constant('set_param' as const),
    of: fc.constantFrom('algorithm' as const, 'agent' as const),
    param: fc.constantFrom(
      'learning_rate',
      'held_out_verifier',
      'seed',
      '"../seed"',
      'guards.kl_blowup',
      '__proto__.x',
    ),
    value: fc.constantFrom(null, 1, 'x', { kind: 'contains' }),
    stage,
  }),
  fc.record({ edit: fc.constant('set_algorithm' as const), kind, params, stage }),
  fc.record({ edit: fc.constant('set_agent' as const), kind: fc.constantFrom(null, 'chat', 'oracle', 'nop'), params }),
  fc.record({ edit: fc.constant('add_transform' as const), at: place, kind, params, stage }),
  fc.record({ edit: fc.constant('remove_transform' as const), at: place, kind, stage }),
  fc.record({ edit: fc.constant('move_transform' as const), from: place, to: place, kind, stage }),
  fc.record({ edit: fc.constant('set_transform' as const), at: place, kind, params, stage }),
  fc.record({ edit: fc.constant('filter_rows' as const), params, stage }),
  fc.record({
    edit: fc.constant('set_dataset' as const),
    dataset: fc.constantFrom('router@2', 'router', 'val@1'),
    stage,
  }),
  fc.record({ edit: fc.constant('remove_stage' as const), at: place }),
  fc.record({ edit: fc.constant('move_stage' as const), from: place, to: place }),
  fc.record({
    edit: fc.constant('add_stage' as const),
    at: place,
    value: fc.record({
      algorithm: fc.record({ kind, params }),
      data: fc.constantFrom(undefined, {
        source_kind: 'jsonl',
        hf_split: 'train',
        path: 'data/val/tasks.jsonl',
        transforms: [],
      }),
    }),
  }),
  fc.constantFrom<ExperimentEdit>(...apart),
) as fc.Arbitrary<ExperimentEdit>
