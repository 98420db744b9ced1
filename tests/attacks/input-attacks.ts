// Experiment files, data files, model folders and benchmarks that are hostile. `write(path, text)` puts a file into the project; what the
// body returns is laid over the experiment (`text`: in place of its file). `refused`: the command says what is wrong and starts nothing that lasts.
import type { InputRow } from './rows.ts'

type Entry = Omit<InputRow, 'name' | 'target'>

function rowsOf(target: InputRow['target'], entries: Readonly<Record<string, Entry>>): InputRow[] {
  return Object.entries(entries).map(([name, entry]) => ({ name: `${target}: ${name}`, target, ...entry }))
}

const refused = (make: string, command: InputRow['command'] = 'validate'): Entry => ({ make, command, exit: 'refused' })
const bounded = (make: string, command: InputRow['command'] = 'run'): Entry => ({ make, command, exit: 'any' })
/** Read by what its name says that it is. */
const train = (path: string) => {
  const kind = /\.(json|csv|parquet)$/.exec(path)?.[1] ?? 'jsonl'
  return `return { data: { source_kind: '${kind}', path: '${path}', transforms: chat } }`
}

const experimentFiles = rowsOf('experiment file', {
  '200,000 unknown keys': refused(
    `return { text: yaml + Array.from({ length: 200000 }, (_, i) => 'key' + i + ': 1').join('\\n') }`,
  ),
  'aliases that grow without end': refused(
    `return { text: 'a: &a [1,1,1,1,1,1,1,1,1,1]\\n' + 'bcdefghij'.split('').map((c, i) => c + ': &' + c + ' [' + Array(10).fill('*' + 'abcdefghij'[i]).join(',') + ']').join('\\n') + '\\n' + yaml }`,
  ),
  'lists nested 100,000 deep': refused(`return { text: 'x: ' + '['.repeat(100000) }`),
  'mappings nested 20,000 deep': refused(
    `return { text: Array.from({ length: 20000 }, (_, i) => ' '.repeat(i % 500) + 'k:').join('\\n') }`,
  ),
  'one line of 50 MB': refused(`return { text: 'name: ' + 'x'.repeat(5e7) }`),
  'NUL bytes': refused(`return { text: '\\0'.repeat(10000) }`),
  'bytes that are no text': refused(
    `write('experiment.yaml', node.Buffer.from(Array.from({ length: 5000 }, (_, i) => i % 256))); return { text: undefined }`,
  ),
  'a tag that asks for code': refused(
    `return { text: '!!js/function "x": !<tag:yaml.org,2002:js/undefined> ""\\n' + yaml }`,
  ),
  'keys named after prototypes': refused(
    `return { text: yaml + '\\n__proto__: { bribed: true }\\nconstructor: { prototype: { bribed: true } }' }`,
  ),
  'a file that extends itself': refused(`return { extends: './experiment.yaml' }`),
  'a chain of 3,000 files': refused(
    `for (let i = 0; i < 3000; i++) write('e' + i + '.yaml', 'extends: ./e' + (i + 1) + '.yaml\\n'); write('e3000.yaml', 'tags: []'); return { extends: './e0.yaml' }`,
  ),
  'extends a device': refused(`return { extends: '/dev/zero' }`),
  'extends a pipe': refused(`node.fifo('pipe.yaml'); return { extends: './pipe.yaml' }`),
  'output into /proc': refused(`return { output_dir: '/proc/x' }`, 'run'),
  'output into a file': refused(`write('file', 'x'); return { output_dir: 'file/inner' }`, 'run'),
  'a name that is a path': refused(`return { name: '../../../escape' }`),
  'a name with escapes of the terminal': refused(`return { name: '\\u001b[2Jx' }`),
  'a name of 100,000 letters': refused(`return { name: 'n'.repeat(100000) }`),
  'a billion arms': refused(
    `return { matrix: { axes: Object.fromEntries(Array.from({ length: 9 }, (_, i) => ['tags.' + i, Array.from({ length: 10 }, (_, j) => j)])) } }`,
  ),
  'a seed out of range': refused(`return { seed: 2 ** 60 }`),
  'steps that are no number': refused(`return { algorithm: { kind: 'sft', params: { max_steps: '.inf' } } }`),
  'a plugin that is a device': refused(`return { plugins: ['/dev/zero'] }`),
  'a plugin that is a folder of links to itself': refused(
    `node.mkdir('loop'); node.symlink('.', 'loop/again'); return { plugins: ['./loop'] }`,
  ),
  'a regular expression in a path': bounded(
    `return { data: { path: 'data/' + '*'.repeat(5000), transforms: chat } }`,
    'validate',
  ),
})

const dataFiles = rowsOf('data file', {
  'a pipe': refused(`node.fifo('data/pipe.jsonl'); ${train('data/pipe.jsonl')}`, 'run'),
  'a link to /dev/zero': refused(`node.symlink('/dev/zero', 'data/zero.jsonl'); ${train('data/zero.jsonl')}`, 'run'),
  'a folder': refused(`node.mkdir('data/folder.jsonl'); ${train('data/folder.jsonl')}`, 'run'),
  'links that lead in a circle': refused(
    `node.symlink('b.jsonl', 'data/a.jsonl'); node.symlink('a.jsonl', 'data/b.jsonl'); ${train('data/a.jsonl')}`,
    'run',
  ),
  '8 GiB without blocks': refused(
    `write('data/sparse.jsonl', ''); node.truncate('data/sparse.jsonl', 2 ** 33); ${train('data/sparse.jsonl')}`,
    'run',
  ),
  'a line of 200 MB': bounded(
    `write('data/long.jsonl', '{"query":"' + 'x'.repeat(2e8) + '","desk":"y"}\\n'); ${train('data/long.jsonl')}`,
  ),
  'a JSON list of 150 MB': bounded(
    `write('data/list.json', '[' + Array.from({ length: 1500000 }, () => '{"query":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","desk":"bbbbbbb"}').join(',') + ']'); ${train('data/list.json')}`,
  ),
  'JSON nested without end': refused(
    `write('data/deep.jsonl', '['.repeat(500000) + '\\n'); ${train('data/deep.jsonl')}`,
    'run',
  ),
  'rows that are no mappings': refused(
    `write('data/odd.jsonl', '1\\nnull\\n"x"\\n[]\\n'); ${train('data/odd.jsonl')}`,
    'run',
  ),
  'rows named after prototypes': bounded(
    `write('data/proto.jsonl', Array(8).fill('{"__proto__":{"bribed":1},"constructor":1,"query":"a","desk":"b"}').map((l, i) => l.replace('"a"', '"a' + i + '"')).join('\\n') + '\\n'); ${train('data/proto.jsonl')}`,
  ),
  'bytes that are no text': refused(
    `write('data/bytes.jsonl', node.Buffer.from(Array.from({ length: 50000 }, (_, i) => (i * 7919) % 256))); ${train('data/bytes.jsonl')}`,
    'run',
  ),
  'a gzip bomb': bounded(
    `write('data/bomb.jsonl.gz', node.gzip(node.Buffer.alloc(3e8, 97))); ${train('data/bomb.jsonl.gz')}`,
  ),
  'a torn gzip file': refused(
    `write('data/torn.jsonl.gz', node.gzip(node.Buffer.from('{"query":"a","desk":"b"}\\n'.repeat(1000))).subarray(0, 30)); ${train('data/torn.jsonl.gz')}`,
    'run',
  ),
  'Parquet that is none': refused(
    `write('data/no.parquet', 'PAR1' + '\\xff'.repeat(1000) + 'PAR1'); ${train('data/no.parquet')}`,
    'run',
  ),
  'a CSV of a million columns': bounded(
    `write('data/wide.csv', Array.from({ length: 300000 }, (_, i) => 'c' + i).join(',') + '\\n' + '1,'.repeat(299999) + '1\\n'); ${train('data/wide.csv')}`,
  ),
  'a CSV with a quote that never ends': refused(
    `write('data/quote.csv', 'query,desk\\n"' + 'x\\n'.repeat(2000000)); ${train('data/quote.csv')}`,
    'run',
  ),
  'a template that refers to itself': bounded(
    `return { data: { path: 'data/train.jsonl', transforms: [{ kind: 'jsonl_to_chat', params: { user_template: '{query}'.repeat(20000), assistant_template: '{desk}' } }] } }`,
  ),
  'a file of the system': refused(`return { data: { path: '/etc/shadow', transforms: chat } }`, 'run'),
  'no rows at all': refused(`write('data/none.jsonl', ''); ${train('data/none.jsonl')}`, 'run'),
})

const template = (text: string) =>
  `node.model('model', { 'chat_template.jinja': ${JSON.stringify(text)}, 'tokenizer_config.json': { chat_template: ${JSON.stringify(text)} } }); return { model: { name: './model' }, backend: { kind: 'local', params: { engine: 'reference' } } }`
const model = (change: string) =>
  `node.model('model', {}); ${change}; return { model: { name: './model' }, backend: { kind: 'local', params: { engine: 'reference' } } }`

const modelFolders = rowsOf('model folder', {
  'a template that loops': bounded(
    template(
      `{% for a in range(100000) %}{% for b in range(100000) %}{% for c in range(100000) %}x{% endfor %}{% endfor %}{% endfor %}`,
    ),
    'dry',
  ),
  'a template that calls itself': bounded(template(`{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}`), 'dry'),
  'a template that imports itself': bounded(
    template(`{% import 'chat_template.jinja' as t %}{% include 'chat_template.jinja' %}`),
    'dry',
  ),
  'a template that doubles a text': bounded(
    template(
      `{% set ns = namespace(x='xxxxxxxxxxxxxxxx') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x }}`,
    ),
    'dry',
  ),
  'a template that reaches for code': bounded(
    template(
      `{{ ''.constructor.constructor('return process')().exit(0) }}{{ messages.__class__.__mro__ }}{{ cycler.__init__.__globals__ }}`,
    ),
    'dry',
  ),
  'a template that is not closed': bounded(template(`{% for m in messages %}{{ m.content }}`), 'dry'),
  'a template of 20 MB': bounded(
    `const text = '{{ 1 }}'.repeat(3000000); node.model('model', { 'chat_template.jinja': text }); return { model: { name: './model' }, backend: { kind: 'local', params: { engine: 'reference' } } }`,
    'dry',
  ),
  'a tokenizer with a regular expression that backtracks': bounded(
    model(
      `node.edit('model/tokenizer.json', (t) => { t.pre_tokenizer = { type: 'Split', pattern: { Regex: '(x+x+)+y' }, behavior: 'Isolated', invert: false } })`,
    ),
    'dry',
  ),
  'a tokenizer that is none': refused(
    model(`write('model/tokenizer.json', '{"model":{"type":"BPE","vocab":null,"merges":5}}')`),
    'dry',
  ),
  'a tokenizer of a million merges': bounded(
    model(
      `node.edit('model/tokenizer.json', (t) => { t.model.merges = Array.from({ length: 1000000 }, (_, i) => ['a' + i, 'b']) })`,
    ),
    'dry',
  ),
  'a tokenizer nested without end': refused(model(`write('model/tokenizer.json', '['.repeat(300000))`), 'dry'),
  'sizes below nothing': refused(
    model(
      `node.edit('model/config.json', (c) => { for (const k of Object.keys(c)) if (typeof c[k] === 'number') c[k] = -1 })`,
    ),
    'dry',
  ),
  'sizes without end': refused(
    model(
      `node.edit('model/config.json', (c) => { for (const k of Object.keys(c)) if (typeof c[k] === 'number') c[k] = 1e12 })`,
    ),
    'dry',
  ),
  'weights with a header that lies': refused(
    model(
      `write('model/model.safetensors', node.Buffer.concat([node.Buffer.from('ffffffffffffff7f', 'hex'), node.Buffer.alloc(100)]))`,
    ),
    'dry',
  ),
  'weights that link to /dev/zero': refused(
    model(`node.remove('model/model.safetensors'); node.symlink('/dev/zero', 'model/model.safetensors')`),
    'dry',
  ),
  'weights that are a pipe': refused(
    model(`node.remove('model/model.safetensors'); node.fifo('model/model.safetensors')`),
    'dry',
  ),
  'an index that leads out of the folder': refused(
    model(
      `node.remove('model/model.safetensors'); write('model/model.safetensors.index.json', JSON.stringify({ weight_map: { 'a': '../../../../etc/passwd' } }))`,
    ),
    'dry',
  ),
  'a folder that is a link to itself': refused(
    `node.symlink('model', 'model'); return { model: { name: './model' }, backend: { kind: 'local', params: { engine: 'reference' } } }`,
    'dry',
  ),
})

const tasks = (text: string) => `write('data/val/tasks.jsonl', ${text}); return {}`
const task = (id: string, verifier: object) => JSON.stringify({ task_id: id, instruction: `riddle ${id}`, verifier })
const exact = { kind: 'in_process', fn_name: 'exact_match', expected: 'x' }

const benchmarks = rowsOf('benchmark', {
  'the same task twice': refused(tasks(JSON.stringify(`${task('a', exact)}\n${task('a', exact)}\n`)), 'run'),
  'no task': refused(tasks(`''`), 'run'),
  'tasks that are a pipe': refused(
    `node.remove('data/val/tasks.jsonl'); node.fifo('data/val/tasks.jsonl'); return {}`,
    'run',
  ),
  'tasks that link to /dev/zero': refused(
    `node.remove('data/val/tasks.jsonl'); node.symlink('/dev/zero', 'data/val/tasks.jsonl'); return {}`,
    'run',
  ),
  'an id with a path': bounded(tasks(JSON.stringify(`${task('../../escape', exact)}\n${task('b', exact)}\n`))),
  'an id named after a prototype': bounded(
    tasks(JSON.stringify(`${task('__proto__', exact)}\n${task('constructor', exact)}\n`)),
  ),
  'an instruction of 30 MB': bounded(
    tasks(`JSON.stringify({ task_id: 'a', instruction: 'x'.repeat(3e7), verifier: ${JSON.stringify(exact)} }) + '\\n'`),
  ),
  'a verifier with a regular expression that backtracks': bounded(
    tasks(
      `JSON.stringify({ task_id: 'a', instruction: 'r', verifier: { kind: 'in_process', fn_name: 'regex_match', expected: '(x+x+)+y', params: { pattern: '(x+x+)+y' } } }) + '\\n'`,
    ),
  ),
  'a verifier that is not there': refused(
    tasks(JSON.stringify(`${task('a', { ...exact, fn_name: 'no_such' })}\n`)),
    'run',
  ),
  'metadata nested without end': refused(
    tasks(`'{"task_id":"a","instruction":"r","metadata":' + '['.repeat(100000)`),
    'run',
  ),
})

export const inputAttacks: readonly InputRow[] = [...experimentFiles, ...dataFiles, ...modelFolders, ...benchmarks]
