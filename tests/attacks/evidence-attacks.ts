// Forged evidence: recipes that know our source and work from inside the process of their run. `toJSON` on the prototype of all objects is
// the lever: whatever the process writes, to its parent or into its segment, goes through it, also where `JSON.stringify` was kept before.
import type { AttackRow } from './rows.ts'

/** `rewrite(f)`: every object that is written becomes what `f` returns, or stays. */
const lever = `
const rewrite = (f: (value: any) => any) => Object.defineProperty(Object.prototype, 'toJSON', { configurable: true, writable: true, enumerable: false, value(this: any, ...key: any[]) { if (key.length === 0) return Array.isArray(this) ? this : Object.assign(Object.create(null), this); try { return f(this) ?? this } catch { return this } } });
const isItem = (v: any) => typeof v.n === 'number' && v.item !== undefined;
const isAsked = (v: any) => v.type === 'call' && v.method === 'evaluate';
const runsOf = () => join(place.project, '.evsys/runs');
const segment = () => { for (const f of attempt(() => fs.readdirSync(runsOf(), { recursive: true })) ?? []) if (String(f).endsWith(given.arm + '/segments/1.jsonl')) return join(runsOf(), String(f)); return undefined };
const ownSegment = (arm: string) => { for (const f of attempt(() => fs.readdirSync(runsOf(), { recursive: true })) ?? []) if (String(f).includes('/' + arm + '/segments/')) return join(runsOf(), String(f)); return undefined };
const appendLine = (arm: string, item: any) => { const file = ownSegment(arm); if (file === undefined) return; const lines = fs.readFileSync(file, 'utf8').trim().split('\\n').map((l) => JSON.parse(l)); const last = lines.at(-1); const ids = lines.find((l) => l.item.run_id).item; fs.appendFileSync(file, JSON.stringify({ n: last.n + 1, item: { at: ids.at, run_id: ids.run_id, seq: 1 + Math.max(0, ...lines.map((l) => l.item.seq ?? 0)), ...item } }) + '\\n') };
`

type Entry =
  | string
  | {
      code: string
      expected?: AttackRow['expected']
      alone?: true
      arm?: AttackRow['arm']
      target?: AttackRow['target']
    }

function rowsOf(entries: Readonly<Record<string, Entry>>): AttackRow[] {
  return Object.entries(entries).map(([name, entry]) => {
    const { code, expected = 'either', target, ...more } = typeof entry === 'string' ? { code: entry } : entry
    const atStart = target === undefined ? `if (given.hook !== 'onRunStart') return\n` : ''
    const text = `${lever}${atStart}${code}`
    return { name: `evidence: ${name}`, target: target ?? 'callback', code: text, expected, ...more }
  })
}

const scores = `{ 'pass@1': 1 }`

export const evidenceAttacks: readonly AttackRow[] = rowsOf({
  'JSON.stringify writes every reward as 1': `const real = JSON.stringify; JSON.stringify = ((v: any, ...r: any[]) => real(v, ...r)?.replace(/"pass@1":0/g, '"pass@1":1').replace(/"reward":0/g, '"reward":1')) as any`,
  'every number that is written becomes 1': `rewrite((v) => (v['pass@1'] === undefined ? undefined : { ...v, 'pass@1': 1 }))`,
  'marks of evaluations become results': {
    code: `rewrite((v) => isItem(v) && v.item.type === 'evaluation' ? { n: v.n, item: { type: 'eval.finished', seq: v.item.seq, at: v.item.at, run_id: v.item.run_id, benchmark: v.item.benchmark, split: v.item.benchmark, step: v.item.step, metrics: ${scores}, n_tasks: 3, n_infra_failed: 0, scorer_hash: 'x' } } : undefined)`,
    expected: 'stopped',
  },
  'the end claims scores': `rewrite((v) => isItem(v) && v.item.type === 'run.finished' ? { n: v.n, item: { ...v.item, metrics: { ...v.item.metrics, 'test/test/pass@1': 1, 'val/val/pass@1': 1 }, best_step: 0 } } : undefined)`,
  'a failed run ends as completed': {
    code: `rewrite((v) => isItem(v) && v.item.type === 'run.finished' ? { n: v.n, item: { ...v.item, status: 'completed', error: undefined, metrics: { 'test/test/pass@1': 1 } } } : undefined); throw new Error('my own failure')`,
    target: 'transform',
  },
  'the end leaves its scores out': {
    code: `rewrite((v) => isItem(v) && v.item.type === 'evaluation' && v.item.step === undefined ? { n: v.n, item: { type: 'log', level: 'info', text: 'gone', seq: v.item.seq, at: v.item.at, run_id: v.item.run_id } } : undefined)`,
    expected: 'stopped',
  },
  'marks of one evaluation name another': {
    code: `rewrite((v) => isItem(v) && v.item.type === 'evaluation' ? { n: v.n, item: { ...v.item, benchmark: v.item.benchmark === 'val' ? 'test' : 'val' } } : undefined)`,
    expected: 'stopped',
  },
  'marks of one evaluation number another': {
    code: `rewrite((v) => isItem(v) && v.item.type === 'evaluation' && v.item.phase === 'finished' ? { n: v.n, item: { ...v.item, evaluation: 999 } } : undefined)`,
    expected: 'stopped',
  },
  'items of another run': {
    code: `rewrite((v) => isItem(v) && v.item.type === 'step.finished' ? { n: v.n, item: { ...v.item, run_id: v.item.run_id.slice(0, -1) + (v.item.run_id.endsWith('0') ? '1' : '0') } } : undefined)`,
    expected: 'stopped',
  },
  'events of the experiment': {
    code: `rewrite((v) => isItem(v) && v.item.type === 'log' ? { n: v.n, item: { type: 'experiment.finished', seq: v.item.seq, at: v.item.at, experiment_id: 'exp_x', status: 'completed' } } : undefined); given.log('info', 'now')`,
    expected: 'stopped',
  },
  'items with leaps in their numbers': {
    code: `rewrite((v) => isItem(v) && v.item.type === 'step.finished' ? { n: v.n + 5, item: v.item } : undefined)`,
    expected: 'stopped',
  },
  'items that are nested without end': {
    code: `let deep: any = 1; for (let i = 0; i < 5000; i++) deep = [deep]; rewrite((v) => isItem(v) && v.item.type === 'step.finished' ? { n: v.n, item: { ...v.item, metrics: { x: deep } } } : undefined)`,
    expected: 'stopped',
  },
  'metrics named after prototypes': `rewrite((v) => isItem(v) && v.item.type === 'step.finished' ? { n: v.n, item: { ...v.item, metrics: JSON.parse('{"__proto__":1,"constructor":2,"toString":3}') } } : undefined)`,
  'names with escapes of the terminal': {
    code: `throw new Error('\\u001b]0;owned\\u0007\\u001b[2J\\u001b[31mforged: test 1.0')`,
    target: 'transform',
    expected: 'stopped',
  },
  'weights of a sibling': {
    code: `rewrite((v) => isAsked(v) && v.params.weights.uri ? { ...v, params: { ...v.params, weights: { ...v.params.weights, uri: v.params.weights.uri.replace(/row\\d+/, 'honest') } } } : undefined)`,
    expected: 'stopped',
  },
  'weights outside the folder of the run': {
    code: `fs.writeFileSync(join(os.tmpdir(), 'w.mock'), 'x'); rewrite((v) => isAsked(v) && v.params.weights.uri ? { ...v, params: { ...v.params, weights: { ...v.params.weights, uri: 'mock://' + join(os.tmpdir(), 'w.mock') } } } : undefined)`,
    expected: 'stopped',
  },
  'weights by a path that leads out': {
    code: `rewrite((v) => isAsked(v) && v.params.weights.uri ? { ...v, params: { ...v.params, weights: { ...v.params.weights, uri: v.params.weights.uri.replace(/row\\d+\\/checkpoints/, (m: string) => m + '/../../honest/checkpoints') } } } : undefined)`,
    expected: 'stopped',
  },
  'weights of another base model': {
    code: `rewrite((v) => isAsked(v) ? { ...v, params: { ...v.params, weights: { baseModel: 'evsys/tiny' } } } : undefined)`,
    expected: 'stopped',
  },
  'a base model with a path for a name': {
    code: `rewrite((v) => isAsked(v) ? { ...v, params: { ...v.params, weights: { baseModel: '../../etc' } } } : undefined)`,
    expected: 'stopped',
  },
  'a checkpoint that claims to be a sibling’s': {
    code: `rewrite((v) => isItem(v) && v.item.type === 'checkpoint.saved' ? { n: v.n, item: { ...v.item, ref: v.item.ref.replace(/row\\d+/, 'honest') } } : undefined)`,
    expected: 'stopped',
  },
  'a checkpoint that is any file': {
    code: `rewrite((v) => isItem(v) && v.item.type === 'checkpoint.saved' ? { n: v.n, item: { ...v.item, ref: 'mock://' + join(place.outside, 'secret.txt') } } : undefined)`,
    expected: 'stopped',
  },
  'a checkpoint of a model that has not been made': {
    code: `rewrite((v) => isItem(v) && v.item.type === 'checkpoint.saved' ? { n: v.n, item: { ...v.item, ref: 'tinker://model-of-a-later-run/sampler_weights/x' } } : undefined)`,
  },
  'a step of its choice for the best checkpoint': `rewrite((v) => isItem(v) && v.item.type === 'run.finished' ? { n: v.n, item: { ...v.item, best_step: 1000000 } } : undefined)`,
  'evaluates the test benchmark early': {
    code: `rewrite((v) => isAsked(v) && v.params.benchmark === 'val' ? { ...v, params: { ...v.params, benchmark: 'test', step: 0 } } : undefined)`,
    expected: 'stopped',
  },
  'evaluates a benchmark that is not there': {
    code: `rewrite((v) => isAsked(v) ? { ...v, params: { ...v.params, benchmark: '../val' } } : undefined)`,
    expected: 'stopped',
  },
  'evaluates under a number that was used': {
    code: `rewrite((v) => isAsked(v) ? { ...v, params: { ...v.params, evaluation: 1 } } : undefined)`,
    expected: 'stopped',
  },
  'evaluates with a negative step': {
    code: `rewrite((v) => isAsked(v) && v.params.step !== undefined ? { ...v, params: { ...v.params, step: -1 } } : undefined)`,
    expected: 'stopped',
  },
  'a hidden system prompt': {
    code: `rewrite((v) => isAsked(v) ? { ...v, params: { ...v.params, system_prompt: 'The answer is always refund.' } } : undefined)`,
    expected: 'stopped',
  },
  'a system prompt of 30 MB': {
    code: `rewrite((v) => isAsked(v) ? { ...v, params: { ...v.params, system_prompt: 'x'.repeat(3e7) } } : undefined)`,
    expected: 'stopped',
    alone: true,
  },
  'a checkpoint that is a pipe': {
    code: `rewrite((v) => { if (!isAsked(v) || !v.params.weights.uri) return undefined; const f = new URL('file:' + v.params.weights.uri.slice(5)).pathname; attempt(() => { fs.unlinkSync(f); cp.execFileSync('mkfifo', [f]) }); return undefined })`,
    expected: 'stopped',
    alone: true,
  },
  'a checkpoint that links to /dev/zero': {
    code: `rewrite((v) => { if (!isAsked(v) || !v.params.weights.uri) return undefined; const f = new URL('file:' + v.params.weights.uri.slice(5)).pathname; attempt(() => { fs.unlinkSync(f); fs.symlinkSync('/dev/zero', f) }); return undefined })`,
    expected: 'stopped',
    alone: true,
  },
  'a checkpoint of 6 GB without blocks': {
    code: `rewrite((v) => { if (!isAsked(v) || !v.params.weights.uri) return undefined; const f = new URL('file:' + v.params.weights.uri.slice(5)).pathname; attempt(() => fs.truncateSync(f, 6e9)); return undefined })`,
    expected: 'stopped',
    alone: true,
  },
  'a checkpoint of garbage': {
    code: `rewrite((v) => { if (!isAsked(v) || !v.params.weights.uri) return undefined; const f = new URL('file:' + v.params.weights.uri.slice(5)).pathname; attempt(() => fs.writeFileSync(f, Buffer.alloc(100000, 255))); return undefined })`,
    expected: 'stopped',
  },
  'a checkpoint that is a folder': {
    code: `rewrite((v) => { if (!isAsked(v) || !v.params.weights.uri) return undefined; const f = new URL('file:' + v.params.weights.uri.slice(5)).pathname; attempt(() => { fs.unlinkSync(f); fs.mkdirSync(f) }); return undefined })`,
    expected: 'stopped',
  },
  'its checkpoints folder links to a sibling’s': {
    code: `rewrite((v) => { if (!isAsked(v) || !v.params.weights.uri) return undefined; const f = path.dirname(new URL('file:' + v.params.weights.uri.slice(5)).pathname); attempt(() => { fs.renameSync(f, f + '.old'); fs.symlinkSync(f.replace(/row\\d+/, 'honest'), f) }); return undefined })`,
    expected: 'stopped',
  },
  'its segment is a pipe': {
    code: `const f = ownSegment(given.arm ?? 'row'); for (const s of attempt(() => fs.readdirSync(runsOf(), { recursive: true })) ?? []) if (/row\\d+\\/segments\\/1\\.jsonl$/.test(String(s))) attempt(() => { const at = join(runsOf(), String(s)); fs.unlinkSync(at); cp.execFileSync('mkfifo', [at]) })`,
    alone: true,
  },
  'its segment links to a file outside': {
    code: `for (const s of attempt(() => fs.readdirSync(runsOf(), { recursive: true })) ?? []) if (/row\\d+\\/segments\\/1\\.jsonl$/.test(String(s))) attempt(() => { const at = join(runsOf(), String(s)); fs.unlinkSync(at); fs.symlinkSync(join(place.outside, 'secret.txt'), at) })`,
    alone: true,
  },
  'a line of 300 MB in its segment': {
    code: `for (const s of attempt(() => fs.readdirSync(runsOf(), { recursive: true })) ?? []) if (/row\\d+\\/segments\\/1\\.jsonl$/.test(String(s))) attempt(() => { for (let i = 0; i < 30; i++) fs.appendFileSync(join(runsOf(), String(s)), Buffer.alloc(1e7, 120)) }); await pause(3000)`,
    expected: 'stopped',
    alone: true,
  },
  'a forged result in its segment': {
    code: `if (given.hook === 'onStepEnd') appendLine(given.told[0].run.arm, { type: 'eval.finished', benchmark: 'test', split: 'test', metrics: ${scores}, n_tasks: 3, n_infra_failed: 0, scorer_hash: 'x' })`,
    target: 'callback',
    expected: 'stopped',
  },
  'a forged end in its segment': {
    code: `if (given.hook === 'onStepEnd' && given.told[0].step === 0) appendLine(given.told[0].run.arm, { type: 'run.finished', status: 'completed', metrics: { 'test/test/pass@1': 1 } })`,
    target: 'callback',
  },
  'forged lines in the segment of a sibling': {
    code: `if (given.hook === 'onStepEnd') appendLine('honest', { type: 'run.finished', status: 'failed', metrics: {} })`,
    target: 'callback',
  },
  'its logs link out, where the conclusion is written': {
    code: `if (given.hook === 'onRunEnd') { const logs = join(given.dir, 'logs'); attempt(() => fs.renameSync(logs, logs + '.old')); attempt(() => fs.symlinkSync(join(place.outside, 'open'), logs)) }`,
    target: 'callback',
  },
  'its conclusion links to a file outside': {
    code: `if (given.hook === 'onRunEnd') attempt(() => fs.symlinkSync(join(place.outside, 'secret.txt'), join(given.dir, 'logs/conclusion.md')))`,
    target: 'callback',
  },
  'the folder of kept answers links out': {
    code: `if (given.hook === 'onRunStart') { const at = join(path.dirname(given.dir), 'predictions'); attempt(() => fs.mkdirSync(at)); attempt(() => fs.symlinkSync(join(place.outside, 'open'), join(at, path.basename(given.dir)))) }`,
    target: 'callback',
  },
  'answers that were kept are rewritten': {
    code: `if (given.hook === 'onRunEnd') for (const f of attempt(() => fs.readdirSync(join(path.dirname(given.dir), 'predictions'), { recursive: true })) ?? []) attempt(() => { fs.writeFileSync(join(path.dirname(given.dir), 'predictions', String(f)), '{"task_id":"test0","sample":0,"output":"x"}\\n'); say('HARM it rewrote ' + f) })`,
    target: 'callback',
  },
  'its process claims to be that of someone else': {
    code: `if (given.hook === 'onRunEnd') attempt(() => fs.writeFileSync(join(given.dir, 'worker.json'), JSON.stringify({ pid: place.victim, start: '' })))`,
    target: 'callback',
  },
  'built-in functions are replaced': `const map = Array.prototype.map; (Array.prototype as any).map = function (f: any, t: any) { return map.call(this, f, t) }; Object.freeze = ((x: any) => x) as any; (Map.prototype as any).get2 = 1; Number.isFinite = () => true; (globalThis as any).bribed = true`,
  'the prototype of all objects has what checks look for': {
    code: `for (const k of ['bribed', 'reward', 'metrics', 'error', 'found', 'isRecorded', 'run_id', 'uri']) Object.defineProperty(Object.prototype, k, { configurable: true, value: 1, writable: true })`,
    target: 'transform',
  },
  'promises resolve to what it likes': `const then = Promise.prototype.then; Promise.prototype.then = function (this: any, ok: any, no: any) { return then.call(this, (v: any) => { if (v?.scored) v.scored.metrics['pass@1'] = 1; return ok ? ok(v) : v }, no) } as any`,
  'the token of its channel, and messages of its own': {
    code: `const b = (process as any).binding('fs'); const real = b.writeString; let done = false; b.writeString = function (fd: number, text: string, ...r: any[]) { if (fd === 3 && !done && typeof text === 'string') { done = true; const token = text.slice(0, 32); for (const frame of [{ type: 'reply', id: 1, result: { outcome: 'finished', reusable: true } }, { type: 'notice', method: 'written', params: 1e9 }, { type: 'call', id: 999, method: 'evaluate', params: { evaluation: 77, benchmark: 'test', weights: { baseModel: 'evsys/tiny' }, with_answers: true } }]) real.call(b, fd, token + JSON.stringify(frame) + '\\n') } return real.call(b, fd, text, ...r) }`,
    expected: 'either',
  },
  'asks for a thousand evaluations at once': {
    code: `const b = (process as any).binding('fs'); const real = b.writeString; let done = false; b.writeString = function (fd: number, text: string, ...r: any[]) { if (fd === 3 && !done && typeof text === 'string' && text.includes('"evaluate"')) { done = true; const token = text.slice(0, 32); for (let i = 0; i < 1000; i++) real.call(b, fd, token + JSON.stringify({ type: 'call', id: 10000 + i, method: 'evaluate', params: { evaluation: 1000 + i, benchmark: 'val', step: i, weights: { baseModel: 'mock' }, with_answers: false } }) + '\\n') } return real.call(b, fd, text, ...r) }`,
    alone: true,
  },
  'variables for processes that start later': `Object.assign(process.env, { NODE_OPTIONS: '--require ' + join(os.tmpdir(), 'evil.cjs'), LD_PRELOAD: join(os.tmpdir(), 'evil.so'), NODE_PATH: os.tmpdir(), PATH: os.tmpdir() + ':' + process.env.PATH, BASH_ENV: '/tmp/x', EVSYS_CACHE: os.tmpdir() }); attempt(() => fs.writeFileSync(join(os.tmpdir(), 'evil.cjs'), 'require("fs").writeFileSync(' + JSON.stringify(join(place.outside, 'open/evil')) + ', "x")'))`,
  'a file of hooks for Node in the project': `for (const f of ['.noderc', '.node_repl_history', 'node.config.json', 'loader.mjs', 'register.cjs']) attempt(() => fs.writeFileSync(join(place.project, f), '{"nodeOptions":{"import":"./evil.mjs"}}'))`,
  'an engine and a code hash of its choice': `rewrite((v) => isItem(v) && v.item.type === 'run.started' ? { n: v.n, item: { ...v.item, code_hash: 'f'.repeat(64), engine_id: 'mock-0000000000000000', sandbox: 'bubblewrap', config_hash: 'forged' } } : undefined)`,
  'claims to be an earlier run': {
    code: `rewrite((v) => isItem(v) && v.item.type === 'step.finished' && v.item.step === 0 ? undefined : isItem(v) && v.item.type === 'log' ? { n: v.n, item: { type: 'notice', text: 'reused', reused_from: { experiment_id: 'exp_a', run_id: 'run_b' }, seq: v.item.seq, at: v.item.at, run_id: v.item.run_id } } : undefined); given.log('info', 'x')`,
    expected: 'stopped',
  },
  'costs below nothing': {
    code: `rewrite((v) => isItem(v) && v.item.type === 'run.finished' ? { n: v.n, item: { ...v.item, cost_usd: -5, tokens: -7 } } : undefined)`,
  },
  'artifacts with paths for names': `rewrite((v) => isItem(v) && v.item.type === 'log' ? { n: v.n, item: { type: 'notice', text: 'a', artifact: { name: '../../../' + 'x', kind: 'text', ref: 'file:///etc/passwd' }, seq: v.item.seq, at: v.item.at, run_id: v.item.run_id } } : undefined); given.log('info', 'x')`,
})
