// Honest recipes of many kinds: whatever keeps attacks out must hinder none of them. Each says `done` when all of it worked; `need` throws
// where something did not.
import type { HonestRow, Target } from './rows.ts'

const need = `const need = (ok: unknown, what = 'it') => { if (!ok) throw new Error('not so: ' + what) }\n`

/** Rows of one target: a name, the code, and what else there is. */
function rowsOf(
  target: Target,
  entries: Readonly<Record<string, string | (Omit<HonestRow, 'name' | 'target'> & { code: string })>>,
): HonestRow[] {
  return Object.entries(entries).map(([name, entry]) => {
    const { code, ...more } = typeof entry === 'string' ? { code: entry } : entry
    const prepared =
      target === 'metric' || target === 'verifier' || target === 'loss' || target === 'load' ? code : `${need}${code}`
    return { name: `${target}: ${name}`, target, code: prepared, ...more }
  })
}

const passOn = `const made: any[] = []; for await (const row of given.rows) made.push(row);`
const scratch = `const dir = fs.mkdtempSync(join(os.tmpdir(), 'honest-'));`

const transforms = rowsOf('transform', {
  'passes rows on': `${passOn} need(made.length === 12); say('done'); return made`,
  'drops every second row': `${passOn} say('done'); return made.filter((_, i) => i % 2 === 0)`,
  'doubles rows': `${passOn} say('done'); return made.flatMap((row) => [row, { ...row }])`,
  'sorts by length': `${passOn} say('done'); return made.sort((a, b) => String(a.query).length - String(b.query).length)`,
  'shuffles by the keyed random numbers of the run': `${passOn} say('done'); return given.random('mine').shuffle(made)`,
  'upper case': `${passOn} say('done'); return made.map((row) => ({ ...row, query: String(row.query).toUpperCase() }))`,
  'regular expressions over all rows': `${passOn} say('done'); return made.map((row) => ({ ...row, query: row.query.replace(/(\\w+) (\\d+)/, '$2 $1') }))`,
  'hashes rows to drop repeats': {
    imports: `import { createHash } from 'node:crypto'`,
    code: `${passOn} const seen = new Set(); const kept = made.filter((row) => { const h = createHash('sha256').update(JSON.stringify(row)).digest('hex'); if (seen.has(h)) return false; seen.add(h); return true }); need(kept.length === 12); say('done'); return kept`,
  },
  'reads its training file': `const text = fs.readFileSync(join(place.project, 'data/train.jsonl'), 'utf8'); need(text.split('\\n').length === 13); say('done')`,
  'reads its training file by a path relative to the project': `need(fs.readFileSync('data/train.jsonl', 'utf8').includes('question 3')); say('done')`,
  'reads a data file of its own': {
    files: { 'data/synonyms.json': '{"mail":"letter"}' },
    code: `const words = JSON.parse(fs.readFileSync('data/synonyms.json', 'utf8')); ${passOn} say('done'); return made.map((row) => ({ ...row, desk: words[row.desk] ?? row.desk }))`,
  },
  'lists the data folder': `need(fs.readdirSync('data').includes('train.jsonl')); say('done')`,
  'reads asynchronously': {
    imports: `import { readFile } from 'node:fs/promises'`,
    code: `need((await readFile('data/train.jsonl', 'utf8')).length > 10); say('done')`,
  },
  'reads a file as a stream of lines': {
    imports: `import { createInterface } from 'node:readline'`,
    code: `let n = 0; for await (const _ of createInterface({ input: fs.createReadStream('data/train.jsonl') })) n += 1; need(n === 12); say('done')`,
  },
  'imports a module of the project': {
    imports: `import { words } from '../../lib/words.ts'`,
    code: `need(words.length === 2); say('done')`,
  },
  'imports a module dynamically': `const { words } = await import('../../lib/words.ts'); need(words.includes('one')); say('done')`,
  'imports JSON': {
    files: { 'lib/table.json': '{"a":1}' },
    imports: `import table from '../../lib/table.json'`,
    code: `need((table as any).a === 1); say('done')`,
  },
  'imports a chain of modules': {
    files: {
      'lib/chain/a.ts': `export { b as a } from './b.ts'\n`,
      'lib/chain/b.ts': `import { words } from '../words.ts'\nexport const b = words.length\n`,
    },
    imports: `import { a } from '../../lib/chain/a.ts'`,
    code: `need(a === 2); say('done')`,
  },
  'uses an npm package of the project': {
    files: {
      'node_modules/tiny-pack/package.json': '{"name":"tiny-pack","version":"1.0.0","main":"index.js"}',
      'node_modules/tiny-pack/index.js': 'module.exports = (x) => x + 1\n',
    },
    imports: `import plusOne from 'tiny-pack'`,
    code: `need((plusOne as any)(1) === 2); say('done')`,
  },
  'writes a scratch file': `${scratch} fs.writeFileSync(join(dir, 'a'), 'x'.repeat(1000)); need(fs.statSync(join(dir, 'a')).size === 1000); fs.rmSync(dir, { recursive: true }); say('done')`,
  'leaves a scratch file behind': `${scratch} fs.writeFileSync(join(dir, 'a'), 'x'); say('done')`,
  'renames and links scratch files': `${scratch} fs.writeFileSync(join(dir, 'a'), 'x'); fs.renameSync(join(dir, 'a'), join(dir, 'b')); fs.symlinkSync('b', join(dir, 'c')); need(fs.readFileSync(join(dir, 'c'), 'utf8') === 'x'); say('done')`,
  'appends to a scratch file many times': `${scratch} for (let i = 0; i < 500; i++) fs.appendFileSync(join(dir, 'log'), i + '\\n'); say('done')`,
  'writes 20 MB of scratch': `${scratch} fs.writeFileSync(join(dir, 'big'), Buffer.alloc(20e6)); fs.rmSync(dir, { recursive: true }); say('done')`,
  'makes a thousand small files': `${scratch} for (let i = 0; i < 1000; i++) fs.writeFileSync(join(dir, String(i)), 'x'); fs.rmSync(dir, { recursive: true }); say('done')`,
  'uses a thread': {
    imports: `import { Worker } from 'node:worker_threads'`,
    code: `const n = await new Promise((done, fail) => { const w = new Worker('require("node:worker_threads").parentPort.postMessage(6 * 7)', { eval: true }); w.on('message', done).on('error', fail) }); need(n === 42); say('done')`,
  },
  'uses four threads over shared memory': {
    imports: `import { Worker } from 'node:worker_threads'`,
    code: `const shared = new Int32Array(new SharedArrayBuffer(4)); await Promise.all([1, 2, 3, 4].map(() => new Promise((done, fail) => { const w = new Worker('const { workerData } = require("node:worker_threads"); Atomics.add(workerData, 0, 5)', { eval: true, workerData: shared }); w.on('exit', done).on('error', fail) }))); need(shared[0] === 20); say('done')`,
  },
  'runs WebAssembly': `const bytes = new Uint8Array([0,97,115,109,1,0,0,0,1,7,1,96,2,127,127,1,127,3,2,1,0,7,7,1,3,97,100,100,0,0,10,9,1,7,0,32,0,32,1,106,11]); const { instance } = await WebAssembly.instantiate(bytes); need((instance.exports.add as any)(2, 3) === 5); say('done')`,
  'spawns a helper process': `need(cp.execFileSync('/bin/echo', ['hello'], { encoding: 'utf8' }) === 'hello\\n'); say('done')`,
  'spawns a shell pipeline': `need(cp.execSync('printf "b\\\\na\\\\n" | sort | head -1', { encoding: 'utf8' }).trim() === 'a'); say('done')`,
  'spawns node': `need(cp.execFileSync(process.execPath, ['-e', 'console.log(1 + 1)'], { encoding: 'utf8' }).trim() === '2'); say('done')`,
  'spawns ten helpers at once': `await Promise.all(Array.from({ length: 10 }, (_, i) => new Promise((done, fail) => cp.execFile('/bin/echo', [String(i)], (error, out) => error ? fail(error) : done(out))))); say('done')`,
  'speaks with a helper over pipes': `const helper = cp.spawn('/bin/cat'); const heard = await new Promise<string>((done) => { helper.stdout.on('data', (b) => done(String(b))); helper.stdin.write('ping') }); helper.kill(); need(heard === 'ping'); say('done')`,
  'runs a helper script of the project': {
    files: { 'lib/helper.mjs': `console.log(process.argv[2].length)\n` },
    code: `need(cp.execFileSync(process.execPath, ['lib/helper.mjs', 'four'], { encoding: 'utf8' }).trim() === '4'); say('done')`,
  },
  'forks a module and exchanges messages': {
    files: { 'lib/forked.mjs': `process.on('message', (m) => { process.send(m * 2); process.disconnect() })\n` },
    code: `const child = cp.fork('lib/forked.mjs'); const n = await new Promise((done) => { child.on('message', done); child.send(4) }); need(n === 8); say('done')`,
  },
  'holds 200 MB for a while': `const held = Array.from({ length: 20 }, () => Buffer.alloc(10e6, 1)); await pause(20); need(held.length === 20); say('done')`,
  'holds a million objects': `const held = Array.from({ length: 1e6 }, (_, i) => ({ i })); need(held.length === 1e6); say('done')`,
  'computes for a second': `let x = 0; const until = performance.now() + 1000; while (performance.now() < until) x += Math.sqrt(x + 1); say('done')`,
  'waits for half a second': `await pause(500); say('done')`,
  'sets timers and clears them': `const t = setInterval(() => {}, 5); await pause(30); clearInterval(t); say('done')`,
  'logs a hundred lines': `for (let i = 0; i < 100; i++) given.log('info', 'line ' + i); say('done')`,
  prints: `console.log('hello'); console.error('there'); say('done')`,
  'compresses and expands': {
    imports: `import { gzipSync, gunzipSync } from 'node:zlib'`,
    code: `need(gunzipSync(gzipSync(Buffer.from('abc'.repeat(1000)))).length === 3000); say('done')`,
  },
  'reads a gzip file': {
    imports: `import { gzipSync, gunzipSync } from 'node:zlib'`,
    code: `${scratch} fs.writeFileSync(join(dir, 'a.gz'), gzipSync('hello')); need(String(gunzipSync(fs.readFileSync(join(dir, 'a.gz')))) === 'hello'); say('done')`,
  },
  'uses the crypto of Node': {
    imports: `import * as crypto from 'node:crypto'`,
    code: `need(crypto.randomBytes(8).length === 8 && crypto.scryptSync('a', 'b', 16).length === 16); say('done')`,
  },
  'asks for the CPU count and the memory': `need(os.cpus().length > 0 && os.totalmem() > 0 && os.availableParallelism() > 0); say('done')`,
  'asks for the host name, the user and the home': `need(os.hostname().length > 0 && os.homedir().length > 0); attempt(() => os.userInfo()); say('done')`,
  'listens on its own loopback': `const server = net.createServer((c) => c.end('hi')).listen(0, '127.0.0.1'); await new Promise((done) => server.once('listening', done)); const heard = await new Promise<string>((done) => net.connect((server.address() as any).port, '127.0.0.1').on('data', (b) => done(String(b)))); server.close(); need(heard === 'hi'); say('done')`,
  'speaks over a Unix socket of its own': `${scratch} const server = net.createServer((c) => c.end('hi')).listen(join(dir, 's')); await new Promise((done) => server.once('listening', done)); const heard = await new Promise<string>((done) => net.connect(join(dir, 's')).on('data', (b) => done(String(b)))); server.close(); need(heard === 'hi'); say('done')`,
  'serves and fetches HTTP on its own loopback': {
    imports: `import { createServer } from 'node:http'`,
    code: `const server = createServer((_q, a) => a.end('{"n":3}')).listen(0, '127.0.0.1'); await new Promise((done) => server.once('listening', done)); const answer: any = await (await fetch('http://127.0.0.1:' + (server.address() as any).port)).json(); server.closeAllConnections(); server.close(); need(answer.n === 3); say('done')`,
  },
  'writes into /dev/null and reads /dev/urandom': `fs.writeFileSync('/dev/null', 'x'); const f = fs.openSync('/dev/urandom', 'r'); need(fs.readSync(f, Buffer.alloc(16)) === 16); fs.closeSync(f); say('done')`,
  'reads its own /proc entries': `need(fs.readFileSync('/proc/self/status', 'utf8').includes('VmRSS')); say('done')`,
  'keeps state between rows': `const counts: any = {}; ${passOn} for (const row of made) counts[row.desk] = (counts[row.desk] ?? 0) + 1; need(counts.mail === 4); say('done'); return made`,
  'uses classes, generators and iterators': `class Buckets { #m = new Map<string, any[]>(); add(k: string, v: any) { this.#m.set(k, [...(this.#m.get(k) ?? []), v]) } *[Symbol.iterator]() { yield* this.#m.values() } } ${passOn} const b = new Buckets(); for (const row of made) b.add(row.desk, row); say('done'); return [...b].flat()`,
  'freezes and clones rows': `${passOn} say('done'); return made.map((row) => Object.freeze(structuredClone(row)))`,
  'emits unicode and long texts': `${passOn} say('done'); return made.map((row, i) => ({ ...row, query: row.query + ' äöü 中文 🙂'.repeat(i) }))`,
  'reads params': {
    arm: {
      data: {
        path: 'data/train.jsonl',
        transforms: [{ kind: 'jsonl_to_chat', params: { user_template: '{query}', assistant_template: '{desk}' } }],
      },
    },
    code: `say('done')`,
  },
  'changes its working folder and comes back': `const before = process.cwd(); process.chdir(os.tmpdir()); process.chdir(before); say('done')`,
  'stops early where it has enough': `const made: any[] = []; for await (const row of given.rows) { made.push(row); if (made.length === 5) break } say('done'); return made`,
  'tokenises text by segmenter': `const words = [...new Intl.Segmenter('en', { granularity: 'word' }).segment('one two')]; need(words.length === 3); say('done')`,
  'formats dates and numbers': `need(new Intl.NumberFormat('en').format(1234.5) === '1,234.5' && new Date(0).toISOString().startsWith('1970')); say('done')`,
  'uses async iteration with back-pressure': {
    imports: `import { Readable } from 'node:stream'`,
    code: `const made: any[] = []; for await (const row of Readable.from(given.rows)) made.push(row); say('done'); return made`,
  },
  'joins two files of its own': {
    files: { 'data/left.json': '{"0":"a"}', 'data/right.json': '{"0":"b"}' },
    code: `const [l, r] = ['left', 'right'].map((n) => JSON.parse(fs.readFileSync('data/' + n + '.json', 'utf8'))); ${passOn} need(l[0] === 'a' && r[0] === 'b'); say('done'); return made`,
  },
  'writes its statistics where it was asked to, and reads them again': `${scratch} ${passOn} fs.writeFileSync(join(dir, 'stats.json'), JSON.stringify({ n: made.length })); need(JSON.parse(fs.readFileSync(join(dir, 'stats.json'), 'utf8')).n === 12); say('done'); return made`,
  'measures time and memory': `const from = process.hrtime.bigint(); need(process.memoryUsage().rss > 0 && process.hrtime.bigint() >= from && process.uptime() > 0); say('done')`,
  'catches its own errors': `try { JSON.parse('{') } catch (error) { need(error instanceof SyntaxError) } say('done')`,
  'listens to the signal of its run': `need(given.signal instanceof AbortSignal && !given.signal.aborted); say('done')`,
  'uses events and queues': {
    imports: `import { EventEmitter, once } from 'node:events'`,
    code: `const bus = new EventEmitter(); setTimeout(() => bus.emit('ready', 3), 5); need((await once(bus, 'ready'))[0] === 3); say('done')`,
  },
  'pipes a file through a transform stream': {
    imports: `import { pipeline } from 'node:stream/promises'\nimport { createGzip } from 'node:zlib'`,
    code: `${scratch} await pipeline(fs.createReadStream('data/train.jsonl'), createGzip(), fs.createWriteStream(join(dir, 'x.gz'))); need(fs.statSync(join(dir, 'x.gz')).size > 0); say('done')`,
  },
  'runs a child with a time limit': `const error = attempt(() => cp.execFileSync('/bin/sh', ['-c', 'exit 3'], { timeout: 5000 })); need(error === undefined); say('done')`,
}).filter(({ name }) => !name.endsWith('reads params'))

const sources = rowsOf('source', {
  'makes rows from nothing': `say('done')`,
  'reads a CSV of its own': {
    files: { 'data/own.csv': 'query,desk\na,b\nc,d\n' },
    code: `const [, ...lines] = fs.readFileSync('data/own.csv', 'utf8').trim().split('\\n'); say('done'); return lines.map((line) => { const [query, desk] = line.split(','); return { query, desk } })`,
  },
  'reads a folder of texts': {
    files: { 'data/texts/a.txt': 'mail', 'data/texts/b.txt': 'shop' },
    code: `say('done'); return fs.readdirSync('data/texts').map((name) => ({ query: name, desk: fs.readFileSync(join('data/texts', name), 'utf8') }))`,
  },
  'makes 5,000 rows': `say('done'); return Array.from({ length: 5000 }, (_, i) => ({ query: 'q' + i, desk: 'd' + (i % 7) }))`,
  'reads binary records': {
    code: `${scratch} fs.writeFileSync(join(dir, 'r'), Buffer.from(new Float32Array([1, 2, 3]).buffer)); const b = fs.readFileSync(join(dir, 'r')); const f = new Float32Array(b.buffer, b.byteOffset, 3); say('done'); return [...f].map((x) => ({ query: 'x' + x, desk: 'y' }))`,
  },
  'asks a helper program': `say('done'); return cp.execFileSync('/bin/sh', ['-c', 'echo a; echo b'], { encoding: 'utf8' }).trim().split('\\n').map((query) => ({ query, desk: 'x' }))`,
  'resolves its path': { arm: {}, code: `need(typeof given.resolve === 'function'); say('done')` },
})

const algorithms = rowsOf('algorithm', {
  'takes the batch of sft': `say('done')`,
  'halves the batch': `const batch = await evsys.sft.buildBatch(given); say('done'); return { ...batch, data: batch.data.slice(0, 1) }`,
  'adds metrics': `const batch = await evsys.sft.buildBatch(given); say('done'); return { ...batch, metrics: { ...batch.metrics, 'mine/size': batch.data.length } }`,
  'chooses rows by itself': `say('done'); return await evsys.sft.buildBatch({ ...given, batch: (n: number) => given.rows.slice(0, n) })`,
  'keeps something from step to step': `state.steps = (state.steps ?? 0) + 1; if (state.steps === 2) say('done'); if (given.step === 0) say('done')`,
  'makes something once': `const table = await given.once('table', async () => new Map([[1, 2]])); need(table.get(1) === 2); say('done')`,
  'samples from its policy': `const { tokens } = (await given.service.sample({ model: await given.policy(), prompt: given.tokenizer.encode('hi'), numSamples: 1, maxTokens: 3, temperature: 1, seed: 1 }))[0]; need(tokens.length > 0); say('done')`,
  'tokenises and decodes': `need(given.tokenizer.decode(given.tokenizer.encode('abc')) === 'abc'); say('done')`,
  'renders a conversation': `need(given.renderer.prompt([{ role: 'user', content: 'x' }]).length > 0); say('done')`,
  'an empty batch now and then': `if (given.step === 1) return { data: [], loss: { name: 'cross_entropy' } }; say('done')`,
  'reads a file of weights for rows': {
    files: { 'data/weights.json': '[1,0.5]' },
    code: `need(JSON.parse(fs.readFileSync('data/weights.json', 'utf8')).length === 2); say('done')`,
  },
  'writes a scratch file every step': `${scratch} fs.writeFileSync(join(dir, 'step'), String(given.step)); say('done')`,
  'uses a thread every step': {
    imports: `import { Worker } from 'node:worker_threads'`,
    code: `await new Promise((done, fail) => { const w = new Worker('1', { eval: true }); w.on('exit', done).on('error', fail) }); say('done')`,
  },
  'spawns a helper every step': `need(cp.execFileSync('/bin/echo', ['x'], { encoding: 'utf8' }) === 'x\\n'); say('done')`,
  'computes on large arrays': `const a = new Float64Array(2e6).map((_, i) => i); need(a.reduce((x, y) => x + y) > 1); say('done')`,
  'draws keyed random numbers': `need(given.random('mine', given.step).float() >= 0); say('done')`,
  'schedules by step': `say('done'); return await evsys.sft.buildBatch({ ...given, batch: (n: number) => given.batch(given.step === 0 ? n : 1) })`,
  'learns with more epochs': {
    arm: { algorithm: { kind: 'sft', params: { num_epochs: 1, batch_size: 4 } } },
    code: `say('done')`,
  },
}).filter(({ name }) => !name.endsWith('more epochs'))

const nll = `
  const weights = given.data.map((d: any) => d.lossInputs.weights.data)
  let loss = 0
  const gradients = given.logprobs.map((p: any, i: number) => {
    const g = new Float64Array(p.data.length)
    for (let t = 0; t < g.length; t++) { const w = weights[i][t] ?? 0; loss -= w * p.data[t] * SCALE; g[t] = -w * SCALE }
    return { data: g, shape: [g.length] }
  });`

const losses = rowsOf('loss', {
  'negative log-likelihood': `${nll.replaceAll('SCALE', '1')} say('done'); return { loss, gradients, metrics: {} }`,
  'a tenth of it': `${nll.replaceAll('SCALE', '0.1')} say('done'); return { loss, gradients, metrics: {} }`,
  'with metrics': `${nll.replaceAll('SCALE', '1')} say('done'); return { loss, gradients, metrics: { 'mine/loss': loss } }`,
  zero: `say('done'); return { loss: 0, gradients: given.logprobs.map((p: any) => ({ data: new Float64Array(p.data.length), shape: [p.data.length] })) }`,
  clipped: `${nll.replaceAll('SCALE', '1')} for (const g of gradients) g.data = g.data.map((x: number) => Math.max(-0.5, Math.min(0.5, x))); say('done'); return { loss, gradients, metrics: {} }`,
  'by step': `${nll.replaceAll('SCALE', '(given.step + 1)')} say('done'); return { loss, gradients, metrics: {} }`,
  'label smoothing': `${nll.replaceAll('SCALE', '0.9')} say('done'); return { loss, gradients, metrics: {} }`,
  'allocates while it computes': `const held = Array.from({ length: 50 }, () => new Float64Array(1e5)); ${nll.replaceAll('SCALE', '1')} say('done'); return { loss: loss + 0 * held.length, gradients, metrics: {} }`,
})

const step = `const batch = await evsys.sft.buildBatch({ ...given, params: { ...evsys.sft.params.parse({}), batch_size: 2 }, step: 0, batchIndex: 0 });`
const trains = rowsOf('train', {
  'reports steps and trains nothing': `await given.report(0, { 'mine/x': 1 }); await given.report(1, { 'mine/x': 2 }); say('done')`,
  'trains by itself': `${step} for (const i of [0, 1]) { await given.service.forwardBackward(given.modelId, batch.data, { name: 'cross_entropy' }); await given.service.optimStep(given.modelId, { learningRate: 0.01, beta1: 0.9, beta2: 0.95, eps: 1e-8 }); await given.report(i, { 'mine/step': i }) } say('done')`,
  'saves a checkpoint': `${step} await given.service.forwardBackward(given.modelId, batch.data, { name: 'cross_entropy' }); await given.service.optimStep(given.modelId, { learningRate: 0.01, beta1: 0.9, beta2: 0.95, eps: 1e-8 }); await given.report(0, {}); const ref = await given.service.save(given.modelId, 'mine', { kind: 'sampler' }); need(ref.uri.length > 0); await given.report(1, {}); say('done')`,
  'samples from the base': `const drawn = await given.service.sample({ model: given.base, prompt: given.tokenizer.encode('x'), numSamples: 2, maxTokens: 2, temperature: 1, seed: 3 }); need(drawn.length === 2); await given.report(0, {}); say('done')`,
  'leaves an artifact': `await given.report(0, {}); say('done'); return { run_id: given.runId, status: 'completed', metrics: { 'mine/y': 1 }, artifacts: [{ name: 'note', kind: 'text', ref: 'text:hello' }] }`,
  'searches a prompt': `const { score } = await given.prompts.validate(0, 'Answer in one word.'); need(score === 0); given.prompts.use('Answer in one word.'); say('done')`,
  'waits between steps': `await given.report(0, {}); await pause(200); await given.report(1, {}); say('done')`,
})

const callbacks = rowsOf('callback', {
  'hears every hook': `state[given.hook] = true; if (given.hook === 'onRunEnd') { need(state.onRunStart && state.onStepEnd, 'hooks'); say('done') }`,
  'writes a log into the folder of its run': `if (given.hook === 'onStepEnd') fs.appendFileSync(join(given.dir, 'mine.log'), 'step\\n'); if (given.hook === 'onRunEnd') { need(fs.readFileSync(join(given.dir, 'mine.log'), 'utf8').includes('step')); say('done') }`,
  'writes CSV beside it': `if (given.hook === 'onRunEnd') { fs.mkdirSync(join(given.dir, 'extra'), { recursive: true }); fs.writeFileSync(join(given.dir, 'extra', 'x.csv'), 'a,b\\n1,2\\n'); say('done') }`,
  'keeps the best loss': `if (given.hook === 'onStepEnd') state.best = Math.min(state.best ?? Infinity, given.told[1]['loss:sum']); if (given.hook === 'onRunEnd') { need(state.best > 0); say('done') }`,
  'asks to stop': `if (given.hook === 'onStepEnd') { given.told[0].requestStop('enough'); say('done') }`,
  'reads the configuration of its run': `if (given.hook === 'onRunStart') { need(given.told[0].run.config.model.name === 'mock'); say('done') }`,
  'reads answers of an evaluation': `if (given.hook === 'onBenchmarkEval') { need(given.told[4].length === 3 || given.told[4].length > 3, 'answers'); say('done') }`,
  'reads a checkpoint that was saved': `if (given.hook === 'onCheckpoint') { need(given.told[1].uri.includes('://'), 'uri'); say('done') } if (given.hook === 'onRunEnd') say('done')`,
  'throws in a hook, which is reported and skipped': `if (given.hook === 'onRunEnd') say('done'); if (given.hook === 'onStepEnd') throw new Error('a mistake')`,
  'runs a program at the end': `if (given.hook === 'onRunEnd') { need(cp.execFileSync('/bin/echo', ['end'], { encoding: 'utf8' }) === 'end\\n'); say('done') }`,
  'draws a picture as SVG': `if (given.hook === 'onRunEnd') { fs.writeFileSync(join(given.dir, 'loss.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>'); say('done') }`,
  'waits in a hook': `if (given.hook === 'onStepEnd') await pause(100); if (given.hook === 'onRunEnd') say('done')`,
  'counts processor time': `if (given.hook === 'onRunEnd') { need(process.cpuUsage().user > 0); say('done') }`,
})

const agents = rowsOf('agent', {
  'one turn': `say('done')`,
  'asks twice': `const ask = async (content: string) => (await given.policy.generate({ messages: [{ role: 'user', content }], ...given.sampling, seed: 2 }, given.signal)).text; await ask('a'); say('done'); return { output: await ask('b') }`,
  'answers without the model': `say('done'); return { output: 'mail' }`,
  'votes among three answers': `const answers = []; for (let i = 0; i < 3; i++) answers.push((await given.policy.generate({ messages: [{ role: 'user', content: given.task.instruction }], ...given.sampling, seed: i }, given.signal)).text); say('done'); return { output: answers[0] }`,
  'reads a file for its answer': {
    files: { 'data/hints.json': '{"hint":"x"}' },
    code: `need(JSON.parse(fs.readFileSync('data/hints.json', 'utf8')).hint === 'x'); say('done')`,
  },
  'runs a calculator': `need(cp.execFileSync('/bin/sh', ['-c', 'echo $((6 * 7))'], { encoding: 'utf8' }).trim() === '42'); say('done')`,
  'keeps notes on disk': `${scratch} fs.writeFileSync(join(dir, given.task.task_id ?? 'task'), 'note'); say('done')`,
  'draws from its keyed random numbers': `need(given.random('turn').int(10) < 10); say('done')`,
})

const renderers = rowsOf('renderer', {
  lines: `say('done')`,
  'opened with a tokenizer': `need(given.tokenizer.vocabSize > 0); say('done')`,
  'with a template from a file': {
    files: { 'data/template.txt': 'Q: ' },
    code: `need(fs.readFileSync('data/template.txt', 'utf8') === 'Q: '); say('done')`,
  },
})

const metrics = rowsOf('metric', {
  mean: `return rewards.flat().reduce((a: number, b: number) => a + b, 0) / Math.max(1, rewards.flat().length)`,
  'worst task': `return Math.min(...rewards.map((r: number[]) => Math.max(...r)))`,
  'best task': `return Math.max(0, ...rewards.map((r: number[]) => Math.max(...r)))`,
  'share of passed tasks': `return rewards.filter((r: number[]) => r.every((x) => x >= 1)).length / Math.max(1, rewards.length)`,
  'mean length of answers, as zero': `return 0 * given.answers.length`,
  'exact answers by text': `return given.tasks.filter((t: any) => t.samples.some((s: any) => s.output === t.expected)).length / Math.max(1, given.tasks.length)`,
  median: `const all = rewards.flat().sort((a: number, b: number) => a - b); return all[Math.floor(all.length / 2)] ?? 0`,
  'two numbers': `return { value: 0, values: { low: 0, high: 0 } }`,
  'a table': `return { value: 0, table: { rows: ['a'], columns: ['b'], cells: [[0]] } }`,
  'that imports a module of the project': {
    imports: `import { words } from '../../lib/words.ts'`,
    code: `return words.length - 2`,
  },
})

const verifiers = rowsOf('verifier', {
  equal: `return given.output === given.expected ? 1 : 0`,
  'trimmed and lower case': `return given.output.trim().toLowerCase() === String(given.expected).toLowerCase() ? 1 : 0`,
  'a regular expression': `return new RegExp('^' + given.expected + '$').test(given.output) ? 1 : 0`,
  'with info': `return { reward: given.output === given.expected ? 1 : 0, info: { length: given.output.length } }`,
  'that waits': `await pause(50); return 0`,
  'that reads a table of the project': {
    files: { 'data/table.json': '{"a":1}' },
    code: `JSON.parse(fs.readFileSync('data/table.json', 'utf8')); return 0`,
  },
  'that imports a module of the project': {
    imports: `import { words } from '../../lib/words.ts'`,
    code: `return words.includes(given.output) ? 0 : 0`,
  },
  'that computes a distance': `const a = given.output, b = String(given.expected); const d = Array.from({ length: a.length + 1 }, (_, i) => [i, ...Array(b.length).fill(0)]); for (let j = 0; j <= b.length; j++) d[0][j] = j; for (let i = 1; i <= a.length; i++) for (let j = 1; j <= b.length; j++) d[i][j] = Math.min(d[i-1][j] + 1, d[i][j-1] + 1, d[i-1][j-1] + (a[i-1] === b[j-1] ? 0 : 1)); return d[a.length][b.length] === 0 ? 1 : 0`,
})

const loads = rowsOf('load', {
  'a constant table at the top of the file': `state.table = Array.from({ length: 1000 }, (_, i) => i)`,
  'a file read at the top of the file': `fs.readFileSync(join(place.project, 'data/train.jsonl'))`,
  'a regular expression compiled at the top': `state.word = /\\w+/gu`,
  'a module that prints while it is loaded': `say('hello')`,
  'a module that awaits at the top': `await pause(20)`,
})

export const honestRows: readonly HonestRow[] = [
  ...transforms,
  ...sources,
  ...algorithms,
  ...losses,
  ...trains,
  ...callbacks,
  ...agents,
  ...renderers,
  ...metrics,
  ...verifiers,
  ...loads,
]
