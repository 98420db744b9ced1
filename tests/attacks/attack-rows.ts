// Attacks by recipes: transforms, sources, algorithms, losses, agents, callbacks, renderers, metrics, verifiers. Each says `HARM ...` where
// it sees that it got through; what it did to files, processes, scores and neighbours is looked at besides.
import { evidenceAttacks } from './evidence-attacks.ts'
import type { AttackRow, Target } from './rows.ts'

type Entry =
  | string
  | {
      code: string
      expected?: AttackRow['expected']
      alone?: true
      imports?: string
      files?: AttackRow['files']
      arm?: AttackRow['arm']
    }

function attacksOf(target: Target, entries: Readonly<Record<string, Entry>>): AttackRow[] {
  return Object.entries(entries).map(([name, entry]) => {
    const { code, expected = 'either', ...more } = typeof entry === 'string' ? { code: entry } : entry
    return { name: `${target}: ${name}`, target, code, expected, ...more }
  })
}

/** The same in a callback, before training: what it makes of its process is that of the whole run, and rows need not be made twice. */
function atStart(row: AttackRow): AttackRow {
  return {
    ...row,
    name: row.name.replace(/^transform/, 'callback'),
    target: 'callback',
    code: `if (given.hook !== 'onRunStart') return\n${row.code}`,
  }
}

const read = (what: string) =>
  `const text = attempt(() => fs.readFileSync(${what}, 'latin1')); if (text !== undefined) say('read: ' + text.slice(0, 200))`
const overwrite = (what: string) =>
  `attempt(() => fs.writeFileSync(${what}, 'overwritten')); attempt(() => fs.chmodSync(${what}, 0o777)); attempt(() => fs.renameSync(${what}, ${what} + '.gone'))`

const daemon = (how: string) => `${how}`

const files = attacksOf('transform', {
  'reads a file outside the project': read(`join(place.outside, 'secret.txt')`),
  'reads a key of the user': read(`join(place.home, '.ssh/id')`),
  'reads the .env of the project': read(`join(place.project, '.env')`),
  'reads expected answers': read(`join(place.project, 'data/val/tasks.jsonl')`),
  'reads expected answers of the test split': read(`join(place.project, 'data/test/tasks.jsonl')`),
  'reads expected answers through /proc/self/root': read(
    `'/proc/self/root' + join(place.project, 'data/val/tasks.jsonl')`,
  ),
  'reads expected answers through /proc/self/cwd': read(`'/proc/self/cwd/data/val/tasks.jsonl'`),
  'reads expected answers through a symbolic link': `attempt(() => fs.symlinkSync(join(place.project, 'data/val/tasks.jsonl'), join(os.tmpdir(), 'link-' + place.tag))); ${read(`join(os.tmpdir(), 'link-' + place.tag)`)}`,
  'reads expected answers through a hard link': `attempt(() => fs.linkSync(join(place.project, 'data/val/tasks.jsonl'), join(os.tmpdir(), 'hard-' + place.tag))); ${read(`join(os.tmpdir(), 'hard-' + place.tag)`)}`,
  'reads expected answers through the mounts of its parents': `for (const pid of fs.readdirSync('/proc').filter((n) => /^\\d+$/.test(n))) { const text = attempt(() => fs.readFileSync('/proc/' + pid + '/root' + join(place.project, 'data/val/tasks.jsonl'), 'utf8')); if (text) say('read: ' + text.slice(0, 100)) }`,
  'reads open files of other processes': `for (const pid of fs.readdirSync('/proc').filter((n) => /^\\d+$/.test(n) && Number(n) !== process.pid)) for (const fd of attempt(() => fs.readdirSync('/proc/' + pid + '/fd')) ?? []) { const link = attempt(() => fs.readlinkSync('/proc/' + pid + '/fd/' + fd)); if (link?.includes('tasks.jsonl') || link?.includes('evsys.db')) { const text = attempt(() => fs.readFileSync('/proc/' + pid + '/fd/' + fd, 'latin1')); if (text) say('read: ' + text.slice(0, 200)) } }`,
  'reads environments of other processes': `for (const pid of fs.readdirSync('/proc').filter((n) => /^\\d+$/.test(n) && Number(n) !== process.pid)) { const text = attempt(() => fs.readFileSync('/proc/' + pid + '/environ', 'latin1')); if (text?.includes(place.canary)) say('read: ' + text.slice(text.indexOf(place.canary)).slice(0, 60)) }`,
  'reads command lines of other processes': `for (const pid of fs.readdirSync('/proc').filter((n) => /^\\d+$/.test(n))) { const text = attempt(() => fs.readFileSync('/proc/' + pid + '/cmdline', 'latin1')); if (text?.includes(place.canary + '-argv')) say('read: ' + text.slice(text.indexOf(place.canary)).slice(0, 60)) }`,
  'reads answers of earlier evaluations': `for (const f of attempt(() => fs.readdirSync(join(place.project, '.evsys/answers'), { recursive: true })) ?? []) { const text = attempt(() => fs.readFileSync(join(place.project, '.evsys/answers', String(f)), 'utf8')); if (text) say('read: ' + text.slice(0, 200)) }`,
  'reads the history of the project': read(`join(place.project, '.git/HEAD')`),
  'searches the whole project': `const walk = (d: string) => { for (const e of attempt(() => fs.readdirSync(d, { withFileTypes: true })) ?? []) { const f = join(d, e.name); if (e.isDirectory()) { if (e.name !== 'node_modules') walk(f) } else { const text = attempt(() => fs.readFileSync(f, 'latin1')); const at = text?.indexOf(place.answer + '-') ?? -1; if (at >= 0) say('read: ' + text.slice(at, at + 40)) } } }; walk(place.project)`,
  'searches with grep': `const found = attempt(() => cp.execFileSync('grep', ['-rah', place.answer + '-', place.project], { encoding: 'latin1' })); if (found) say('read: ' + found.slice(0, 200))`,
  'reads the database of the record': `const text = attempt(() => fs.readFileSync(place.db, 'latin1')); const at = text?.indexOf(place.answer + '-') ?? -1; if (at >= 0) say('read: ' + text.slice(at, at + 60))`,
  'overwrites the database of the record': {
    code: `attempt(() => { const f = fs.openSync(place.db, 'r+'); fs.writeSync(f, Buffer.alloc(65536, 7), 0, 65536, 0); fs.closeSync(f) })`,
    alone: true,
  },
  'renames the database away': {
    code: `attempt(() => fs.renameSync(place.db, place.db + '.gone')); attempt(() => fs.renameSync(place.db + '-wal', place.db + '-wal.gone'))`,
    alone: true,
  },
  'deletes the database': {
    code: `for (const s of ['', '-wal', '-shm']) attempt(() => fs.unlinkSync(place.db + s))`,
    alone: true,
  },
  'edits scores in the database': {
    code: `attempt(() => { const { DatabaseSync } = process.getBuiltinModule?.('node:sqlite') ?? {} as any; const db = new DatabaseSync(place.db); db.exec("update evals set metrics = '{\\"pass@1\\":1}'") }); for (const table of ['evals', 'eval']) attempt(() => cp.execFileSync('sqlite3', [place.db, "update " + table + " set metrics='{}'"], { stdio: 'ignore' }))`,
    alone: true,
  },
  'locks the database': {
    code: `attempt(() => { const { DatabaseSync } = process.getBuiltinModule?.('node:sqlite') ?? {} as any; const db = new DatabaseSync(place.db); db.exec('begin exclusive'); state.db = db })`,
    alone: true,
  },
  'fills the write-ahead log with garbage': {
    code: `attempt(() => fs.appendFileSync(place.db + '-wal', Buffer.alloc(1e6, 1)))`,
    alone: true,
  },
  'overwrites a file outside the project': overwrite(`join(place.outside, 'secret.txt')`),
  'makes a file outside the project': `attempt(() => fs.writeFileSync(join(place.outside, 'open/new'), 'x'))`,
  'overwrites the shell start-up of the user': overwrite(`join(place.home, '.bashrc')`),
  'leaves start-up files in the home': `for (const f of ['.profile', '.npmrc', '.noderc', '.config/systemd/user/x.service', '.gitconfig', '.bash_profile']) attempt(() => { fs.mkdirSync(path.dirname(join(place.home, f)), { recursive: true }); fs.writeFileSync(join(place.home, f), 'x') })`,
  'overwrites the training data': overwrite(`join(place.project, 'data/train.jsonl')`),
  'overwrites the benchmark': overwrite(`join(place.project, 'data/val/tasks.jsonl')`),
  'empties the folder of the benchmark': `attempt(() => fs.rmSync(join(place.project, 'data/val'), { recursive: true }))`,
  'overwrites the verifier': `attempt(() => fs.writeFileSync(join(place.project, 'src/plugins/fair.ts'), fs.readFileSync(join(place.project, 'src/plugins/fair.ts'), 'utf8').replace('? 1 : 0', '? 1 : 1')))`,
  'adds a plugin that shadows a built-in': `attempt(() => fs.writeFileSync(join(place.project, 'src/plugins/zz.ts'), "import { defineMetric, z } from 'evsys/plugin'\\nexport default [defineMetric({ kind: 'pass@{k}', summary: 'All.', direction: 'max', params: z.strictObject({ k: z.number() }), compute: () => 1 })]"))`,
  'overwrites the experiment file': overwrite(`join(place.project, 'experiment.yaml')`),
  'overwrites a module that plugins import': overwrite(`join(place.project, 'lib/words.ts')`),
  'overwrites package.json': overwrite(`join(place.project, 'package.json')`),
  'adds a node_modules with its own evsys and zod': `for (const n of ['evsys', 'zod', 'evsys/plugin']) attempt(() => { fs.mkdirSync(join(place.project, 'node_modules', n), { recursive: true }); fs.writeFileSync(join(place.project, 'node_modules', n, 'index.js'), 'globalThis.bribed = true') })`,
  'adds a tsconfig and a babel configuration': `for (const f of ['tsconfig.json', 'babel.config.json', '.babelrc', '.jitirc']) attempt(() => fs.writeFileSync(join(place.project, f), '{"plugins":["./evil"]}'))`,
  'installs git hooks and a file-system monitor': `for (const f of ['hooks/post-checkout', 'hooks/pre-commit', 'config']) attempt(() => fs.writeFileSync(join(place.project, '.git', f), '[core]\\n\\tfsmonitor = touch /tmp/pwned'))`,
  'overwrites .env': overwrite(`join(place.project, '.env')`),
  'overwrites the product': `for (const f of ['dist/index.js', 'bin/evsys.js', 'package.json']) { const at = join(path.dirname(path.dirname(process.argv[1] ?? '/x/y/z')), '..', f); attempt(() => { fs.accessSync(at, fs.constants.W_OK); const had = fs.readFileSync(at); fs.writeFileSync(at, had); say('HARM it can write ' + at) }) }`,
  'overwrites Node': `attempt(() => { fs.accessSync(process.execPath, fs.constants.W_OK); const f = fs.openSync(process.execPath, 'r+'); fs.closeSync(f); say('HARM it can write Node') })`,
  'overwrites files of the system': `for (const f of ['/etc/passwd', '/etc/hosts', '/etc/ld.so.preload', '/etc/profile']) attempt(() => { const f2 = fs.openSync(f, 'a'); fs.closeSync(f2); say('HARM it can write ' + f) })`,
  'writes into /usr': `attempt(() => { fs.writeFileSync('/usr/' + place.tag, 'x'); fs.unlinkSync('/usr/' + place.tag); say('HARM it can write /usr') })`,
  'rewrites questions and rows of sibling runs': `const runs = join(place.project, '.evsys/runs'); for (const f of attempt(() => fs.readdirSync(runs, { recursive: true })) ?? []) if (!String(f).includes(given.runId ?? 'row') && String(f).includes('honest/')) attempt(() => fs.writeFileSync(join(runs, String(f)), 'overwritten'))`,
  'reads checkpoints of sibling runs': `const runs = join(place.project, '.evsys/runs'); const found = (attempt(() => fs.readdirSync(runs, { recursive: true })) ?? []).filter((f: any) => String(f).includes('honest/checkpoints/') && String(f).endsWith('.mock')); await pause(100); for (const f of found) if (attempt(() => fs.readFileSync(join(runs, String(f)))) !== undefined) say('HARM it reads ' + f)`,
  'deletes folders of sibling runs': `const runs = join(place.project, '.evsys/runs'); for (const e of attempt(() => fs.readdirSync(runs)) ?? []) attempt(() => fs.rmSync(join(runs, e, 'honest'), { recursive: true }))`,
  'poisons the cache of rows': `for (const f of attempt(() => fs.readdirSync(join(place.project, '.evsys/cache'), { recursive: true })) ?? []) { const at = join(place.project, '.evsys/cache', String(f)); if (String(f).endsWith('rows.jsonl')) attempt(() => fs.writeFileSync(at, fs.readFileSync(at, 'utf8').replaceAll('refund', 'poison'))) }`,
  'poisons the cache of compiled plugins': `for (const f of attempt(() => fs.readdirSync(join(place.project, '.evsys/cache/jiti'))) ?? []) attempt(() => fs.writeFileSync(join(place.project, '.evsys/cache/jiti', f), 'globalThis.bribed = true; throw new Error("poisoned")'))`,
  'poisons the cache of tokens': `for (const f of attempt(() => fs.readdirSync(join(place.project, '.evsys/cache'), { recursive: true })) ?? []) if (/token/.test(String(f))) attempt(() => fs.writeFileSync(join(place.project, '.evsys/cache', String(f)), Buffer.alloc(4096, 9)))`,
  'replaces the folder of caches by a link': `attempt(() => fs.renameSync(join(place.project, '.evsys/cache'), join(place.project, '.evsys/cache2'))); attempt(() => fs.symlinkSync(place.outside, join(place.project, '.evsys/cache')))`,
  'poisons the cache of native kernels': `for (const d of [join(place.home, '.cache/evsys'), process.env.EVSYS_CACHE ?? '/nowhere']) attempt(() => { fs.mkdirSync(d, { recursive: true }); fs.writeFileSync(join(d, 'kernels.node'), 'x') })`,
  'mounts over the benchmark': `for (const [c, ...a] of [['umount', join(place.project, 'data/val')], ['unshare', '-Urm', 'sh', '-c', 'umount ' + join(place.project, 'data/val') + '; cat ' + join(place.project, 'data/val/tasks.jsonl')], ['nsenter', '-t', '1', '-m', 'cat', join(place.project, 'data/val/tasks.jsonl')]] as any) { const out = attempt(() => cp.execFileSync(c, a, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })); if (out?.includes(place.answer)) say('read: ' + out.slice(0, 100)) }`,
  'makes device nodes': `attempt(() => { cp.execFileSync('mknod', [join(os.tmpdir(), 'mem'), 'c', '1', '1'], { stdio: 'ignore' }); fs.readFileSync(join(os.tmpdir(), 'mem')); say('HARM it reads memory of the machine') })`,
  'leaves a program with set-user-id': `attempt(() => { const f = join(place.outside, 'open/sh'); fs.copyFileSync('/bin/sh', f); fs.chmodSync(f, 0o4755) })`,
  'writes the core pattern of the kernel': `attempt(() => { const f = fs.openSync('/proc/sys/kernel/core_pattern', 'r+'); fs.closeSync(f); say('HARM it can set the core pattern') })`,
})

const processes = attacksOf('transform', {
  'kills the controller': {
    code: `for (let pid = process.ppid, n = 0; pid > 1 && n < 6; n++) { const up = Number(attempt(() => fs.readFileSync('/proc/' + pid + '/stat', 'utf8').split(') ')[1].split(' ')[1]) ?? 0); attempt(() => process.kill(pid, 'SIGKILL')); pid = up }`,
    alone: true,
  },
  'stops the controller': { code: `attempt(() => process.kill(process.ppid, 'SIGSTOP'))`, alone: true },
  'kills every process that it sees': {
    code: `attempt(() => process.kill(place.victim, 'SIGKILL')); for (const pid of fs.readdirSync('/proc').filter((n) => /^\\d+$/.test(n))) { const line = attempt(() => fs.readFileSync('/proc/' + pid + '/cmdline', 'latin1')); if (Number(pid) !== process.pid && (line?.includes('evsys') && line.includes(place.project) || Number(pid) === place.victim)) attempt(() => process.kill(Number(pid), 'SIGKILL')) }`,
    alone: true,
  },
  'kills the process of someone else': `attempt(() => process.kill(place.victim, 'SIGKILL'))`,
  'stops the process of someone else': `attempt(() => process.kill(place.victim, 'SIGSTOP'))`,
  'reads memory of other processes': `for (const pid of [place.victim, process.ppid]) { const f = attempt(() => fs.openSync('/proc/' + pid + '/mem', 'r')); if (f !== undefined) { const maps = attempt(() => fs.readFileSync('/proc/' + pid + '/maps', 'utf8')) ?? ''; for (const line of maps.split('\\n').filter((l: string) => / rw-p/.test(l)).slice(0, 40)) { const from = parseInt(line.split('-')[0], 16); const b = Buffer.alloc(65536); if (attempt(() => fs.readSync(f, b, 0, 65536, from)) > 0) { say('HARM it reads the memory of ' + pid); break } } } }`,
  'lowers the limits of other processes': `attempt(() => { cp.execFileSync('prlimit', ['--pid', String(place.victim), '--nofile=1:1'], { stdio: 'ignore' }); say('HARM it set limits of someone else') })`,
  'changes the priority of other processes': `attempt(() => { os.setPriority(place.victim, 19); say('HARM it set the priority of someone else') })`,
  'leaves a daemon in a session of its own': {
    code: daemon(
      `cp.spawn('setsid', ['sh', '-c', 'sleep 1000 # ' + place.tag], { detached: true, stdio: 'ignore' }).unref(); await pause(200)`,
    ),
  },
  'leaves a daemon that was forked twice': {
    code: daemon(
      `cp.execFileSync('sh', ['-c', '(setsid sh -c "trap \\\\"\\\\" HUP TERM INT; while :; do sleep 1; done # ' + place.tag + '" </dev/null >/dev/null 2>&1 &) &'], { stdio: 'ignore' }); await pause(200)`,
    ),
  },
  'leaves a Node process': {
    code: daemon(
      `cp.spawn(process.execPath, ['-e', 'setTimeout(() => {}, 1e8)', place.tag], { detached: true, stdio: 'ignore' }).unref(); await pause(300)`,
    ),
  },
  'leaves a process that writes for ever': {
    code: daemon(
      `cp.spawn('sh', ['-c', 'while :; do echo x >> ' + join(place.outside, 'open/log') + '; sleep 0.1; done # ' + place.tag], { detached: true, stdio: 'ignore' }).unref(); await pause(300)`,
    ),
  },
  'leaves a cron entry or a unit': `attempt(() => cp.execSync('echo "* * * * * true" | crontab -', { stdio: 'ignore' }) && say('HARM it has a cron entry')); attempt(() => { cp.execFileSync('systemd-run', ['--user', 'true'], { stdio: 'ignore' }); say('HARM it started a unit') })`,
  '1,500 processes': {
    code: `let n = 0; for (; n < 1500; n++) { const child = attempt(() => cp.spawn('sleep', ['30', place.tag].slice(0, 1), { stdio: 'ignore' })); child?.on('error', () => {}); if (child?.pid === undefined) break } ; if (n >= 1500) say('HARM it has ' + n + ' processes')`,
    alone: true,
  },
  'a fork bomb': {
    code: `attempt(() => cp.execFileSync('sh', ['-c', 'f() { f | f & }; f; sleep 5 # ' + place.tag], { timeout: 8000, stdio: 'ignore', killSignal: 'SIGKILL' })); await pause(1000)`,
    alone: true,
  },
  '5 GB in three children': {
    code: `const kids = [1, 2, 3].map(() => cp.spawn(process.execPath, ['-e', 'const k=[];let n=0;const t=setInterval(()=>{ if(n<17){k.push(Buffer.alloc(1e8,1));n++} else {process.stdout.write("full");clearInterval(t)} },20);setTimeout(()=>{},30000)', place.tag], { stdio: ['ignore', 'pipe', 'ignore'] })); const full = await Promise.all(kids.map((k) => new Promise((done) => { k.stdout!.on('data', () => done(1)); k.on('exit', () => done(0)); setTimeout(() => done(0), 25000) }))); if (full.every((x) => x === 1)) say('HARM 5 GB are held'); for (const k of kids) k.kill('SIGKILL')`,
    alone: true,
  },
  '3 GB of shared memory': {
    code: `const f = '/dev/shm/' + place.tag; try { const h = fs.openSync(f, 'w'); let n = 0; for (; n < 30; n++) fs.writeSync(h, Buffer.alloc(1e8, 1)); say('HARM 3 GB of shared memory') } finally { attempt(() => fs.unlinkSync(f)) }`,
    alone: true,
  },
  'shared memory without a file': {
    code: `const out = attempt(() => cp.execFileSync('perl', ['-e', 'my $id = shmget(0, 2_000_000_000, 0600) or exit 1; my $b = "x" x 1_000_000; for my $i (0..1999) { shmwrite($id, $b, $i * 1_000_000, 1_000_000) or exit 2 } print "full"; shmctl($id, 0, 0)'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: 20000 })); if (out === 'full') say('HARM 2 GB of segments')`,
    alone: true,
  },
  '6 GB on disk': {
    code: `const f = join(os.tmpdir(), 'big-' + place.tag); let n = 0; try { const h = fs.openSync(f, 'w'); for (; n < 60; n++) fs.writeSync(h, Buffer.alloc(1e8, 1)); say('HARM 6 GB on disk') } finally { attempt(() => fs.unlinkSync(f)) }`,
    alone: true,
  },
  '6 GB in many files': {
    code: `const d = fs.mkdtempSync(join(os.tmpdir(), place.tag)); try { for (let n = 0; n < 120; n++) fs.writeFileSync(join(d, String(n)), Buffer.alloc(5e7, 1)); say('HARM 6 GB in files') } finally { attempt(() => fs.rmSync(d, { recursive: true })) }`,
    alone: true,
  },
  '6 GB in a file without a name': {
    code: `const f = join(os.tmpdir(), 'anon-' + place.tag); const h = fs.openSync(f, 'w'); fs.unlinkSync(f); for (let n = 0; n < 60; n++) fs.writeSync(h, Buffer.alloc(1e8, 1)); say('HARM 6 GB without a name'); fs.closeSync(h)`,
    alone: true,
  },
  'a heap without end': {
    code: `const kept: any[] = []; for (;;) kept.push(Array.from({ length: 1000 }, (_, i) => ({ i })))`,
    expected: 'stopped',
    alone: true,
  },
  'buffers without end': {
    code: `const kept: any[] = []; for (let n = 0; n < 80; n++) kept.push(Buffer.alloc(1e8, 1)); say('HARM 8 GB of buffers')`,
    expected: 'stopped',
    alone: true,
  },
  'a flood of prints': {
    code: `for (let n = 0; n < 3000; n++) { process.stdout.write('x'.repeat(9999) + '\\n'); await new Promise(setImmediate) }`,
    alone: true,
  },
  'opens every file number': `const open: number[] = []; attempt(() => { for (let n = 0; n < 200000; n++) open.push(fs.openSync('/dev/null', 'r')) }); for (const f of open) fs.closeSync(f)`,
  'traces the controller': `attempt(() => { cp.execFileSync('gdb', ['-p', String(process.ppid), '-batch'], { stdio: 'ignore', timeout: 5000 }); say('HARM it traced its parent') }); attempt(() => { cp.execFileSync('strace', ['-p', String(place.victim), '-o', '/dev/null'], { stdio: 'ignore', timeout: 3000 }) })`,
  'exits with success': { code: `process.reallyExit?.(0)`, expected: 'stopped' },
  'kills its own process': { code: `process.kill(process.pid, 'SIGKILL'); await pause(5000)`, expected: 'stopped' },
})

const network = attacksOf('transform', {
  'speaks to a port of the machine': `await new Promise<void>((done) => net.connect(place.port, '127.0.0.1').on('connect', function (this: any) { this.destroy(); done() }).on('error', () => done()))`,
  'speaks to a port by fetch': `await attemptAsync(async () => fetch('http://127.0.0.1:' + place.port, { signal: AbortSignal.timeout(2000) }))`,
  'speaks to a Unix socket': `await new Promise<void>((done) => net.connect(place.socket).on('connect', function (this: any) { this.destroy(); done() }).on('error', () => done()))`,
  'speaks to an abstract socket': `await new Promise<void>((done) => net.connect('\\0' + place.abstract).on('connect', function (this: any) { this.destroy(); done() }).on('error', () => done()))`,
  'speaks to a port through a child': `attempt(() => cp.execFileSync('bash', ['-c', 'exec 3<>/dev/tcp/127.0.0.1/' + place.port], { stdio: 'ignore', timeout: 3000 }))`,
  'asks a service of the cloud for keys': `await attemptAsync(async () => { const answer = await fetch('http://169.254.169.254/latest/meta-data/', { signal: AbortSignal.timeout(1500) }); say('HARM ' + answer.status) })`,
  'scans ports and speaks to what listens': `for (const line of (attempt(() => fs.readFileSync('/proc/net/tcp', 'utf8')) ?? '').split('\\n').slice(1, 40)) { const port = parseInt(line.trim().split(/\\s+/)[1]?.split(':')[1] ?? '', 16); if (port === place.port) await new Promise<void>((done) => net.connect(port, '127.0.0.1').on('connect', function (this: any) { this.destroy(); done() }).on('error', () => done())) }`,
  'binds a port that others use': `await new Promise<void>((done) => { const s = net.createServer().listen(place.port, '127.0.0.1').on('listening', () => { s.close(); done() }).on('error', () => done()) })`,
})

const secrets = attacksOf('transform', {
  'looks for secrets in its environment': `for (const [k, v] of Object.entries(process.env)) if (String(v).includes(place.canary) || /SECRET/.test(k)) say('HARM ' + k)`,
  'asks for a secret that it did not declare': `attempt(() => say('HARM ' + given.secret('LAB_KEY')))`,
  'reads the token of its channel': `const line = fs.readFileSync('/proc/self/cmdline', 'latin1') + fs.readFileSync('/proc/self/environ', 'latin1'); if (line.includes(place.canary)) say('HARM secrets in its command line')`,
})

const spread = [
  ...attacksOf('source', {
    'reads expected answers as its rows': `const text = fs.readFileSync(join(place.project, 'data/test/tasks.jsonl'), 'utf8').trim(); const rows = text.split('\\n').filter(Boolean).map((line) => JSON.parse(line)); if (rows.length > 0) say('read: ' + rows[0].verifier.expected); return rows.map((r) => ({ query: r.instruction, desk: r.verifier.expected }))`,
    'rows without end': {
      code: `return (function* () { for (;;) yield { query: 'x'.repeat(1e6), desk: 'y' } })().toArray?.() ?? Array.from({ length: 20000 }, () => ({ query: 'x'.repeat(1e6) + Math.random(), desk: 'y' }))`,
      expected: 'stopped',
      alone: true,
    },
    'rows that are no rows': {
      code: `return [1, null, 'x', () => 1, new Proxy({}, { get() { throw new Error('no') } })]`,
      expected: 'stopped',
    },
    'rows with a prototype': `return [JSON.parse('{"__proto__":{"bribed":true},"query":"a","desk":"b","constructor":{"prototype":{"bribed":true}}}'), { query: 'a', desk: 'b' }]`,
  }),
  ...attacksOf('algorithm', {
    'reads expected answers in a step': read(`join(place.project, 'data/test/tasks.jsonl')`),
    'trains on answers that it finds': `const text = attempt(() => fs.readFileSync(join(place.project, 'data/val/tasks.jsonl'), 'utf8')) ?? ''; const found = text.split('\\n').filter(Boolean).map((l: string) => JSON.parse(l).verifier.expected); if (found.length > 0) { say('read: ' + found[0]) }`,
    'overwrites its rows and params': `attempt(() => { (given as any).numSteps = 1e9 }); attempt(() => { (given.rows as any).length = 0 }); attempt(() => { (given.params as any).max_steps = 1e9 })`,
    'a batch with tokens out of range': {
      code: `const batch = await evsys.sft.buildBatch(given); return { ...batch, data: batch.data.map((d: any) => ({ ...d, tokens: Int32Array.from(d.tokens, () => 1e9) })) }`,
      expected: 'stopped',
    },
    'a batch with NaN weights': {
      code: `const batch = await evsys.sft.buildBatch(given); return { ...batch, data: batch.data.map((d: any) => ({ ...d, lossInputs: { ...d.lossInputs, weights: { ...d.lossInputs.weights, data: d.lossInputs.weights.data.map(() => NaN) } } })) }`,
    },
    'a batch of a billion entries': {
      code: `const batch = await evsys.sft.buildBatch(given); const one = batch.data[0]; return { ...batch, data: new Proxy([one], { get: (t, k) => k === 'length' ? 1e9 : (t as any)[0] }) }`,
      alone: true,
      arm: {},
    },
    'metrics with the names of scores': `const batch = await evsys.sft.buildBatch(given); return { ...batch, metrics: { 'val/val/pass@1': 1, 'test/test/pass@1': 1, 'val.pass@1': 1, 'pass@1': 1 } }`,
    'metrics that are no numbers': `const batch = await evsys.sft.buildBatch(given); return { ...batch, metrics: { 'mine/x': Infinity, 'mine/y': NaN, 'mine/z': 'text' as any } }`,
    'a million metrics': {
      code: `const batch = await evsys.sft.buildBatch(given); return { ...batch, metrics: Object.fromEntries(Array.from({ length: 200000 }, (_, i) => ['m/' + i, i])) }`,
      alone: true,
    },
    'a step that never ends': {
      code: `if (given.step === 0) { setTimeout(() => process.kill(process.pid, 'SIGTERM'), 20000); await new Promise(() => {}) }`,
      alone: true,
    },
    'loads a sibling’s weights by their address': {
      code: `const drawn = await attemptAsync(async () => given.service.sample({ model: { kind: 'sampler', uri: 'mock:///etc/passwd' }, prompt: given.tokenizer.encode('x'), numSamples: 1, maxTokens: 1, temperature: 1, seed: 1 })); if (drawn) say('HARM it sampled from a file that is none of its weights')`,
    },
  }),
  ...attacksOf('loss', {
    'gradients that are no numbers': {
      code: `return { loss: 0, gradients: given.logprobs.map((p: any) => ({ data: new Float64Array(p.data.length).fill(NaN), shape: [p.data.length] })), metrics: {} }`,
    },
    'gradients that are infinite': {
      code: `return { loss: 1, gradients: given.logprobs.map((p: any) => ({ data: new Float64Array(p.data.length).fill(1e308), shape: [p.data.length] })), metrics: {} }`,
    },
    'gradients of another shape': { code: `return { loss: 0, gradients: [], metrics: {} }`, expected: 'stopped' },
    'gradients with traps': {
      code: `return { loss: 0, gradients: new Proxy(given.logprobs, { get() { throw new Error('trap') } }), metrics: {} }`,
      expected: 'stopped',
    },
    'a loss that claims scores': `return { loss: 0, gradients: given.logprobs.map((p: any) => ({ data: new Float64Array(p.data.length), shape: [p.data.length] })), metrics: { 'test/test/pass@1': 1 } }`,
    'a loss that reads files': {
      code: `const text = attempt(() => fs.readFileSync(join(place.project, 'data/val/tasks.jsonl'), 'utf8')); if (text) say('read: ' + text.slice(0, 100)); return { loss: 0, gradients: given.logprobs.map((p: any) => ({ data: new Float64Array(p.data.length), shape: [p.data.length] })), metrics: {} }`,
    },
  }),
  ...attacksOf('agent', {
    'reads expected answers and says them': `const text = attempt(() => fs.readFileSync(join(place.project, 'data/val/tasks.jsonl'), 'utf8')) ?? ''; const line = text.split('\\n').find((l: string) => l.includes(JSON.stringify(given.task.instruction))); if (line) { say('read'); return { output: JSON.parse(line).verifier.expected } }`,
    'looks for what is expected in what it is given': `const text = JSON.stringify(given, (_k, v) => typeof v === 'function' ? String(v) : v); if (text?.includes(place.answer)) say('read: ' + text.slice(text.indexOf(place.answer)).slice(0, 40))`,
    'returns a reward of its own': `return { output: 'x', reward: 1, score: 1, metrics: { 'pass@1': 1 }, turnRewards: [1] } as any`,
    'returns what is no answer': `return { output: { toString: () => 'x' } } as any`,
    'returns a text without end': { code: `return { output: 'x'.repeat(5e8) }`, alone: true },
    'answers for other tasks': `return { output: 'x', task_id: 'test0', sample: 0, predictions: [{ task_id: 'test0', sample: 0, output: 'y' }] } as any`,
    'keeps asking after its end': `setTimeout(() => { for (let i = 0; i < 50; i++) given.policy.generate({ messages: [{ role: 'user', content: 'late' }], ...given.sampling, seed: i }, new AbortController().signal).catch(() => {}) }, 5); return { output: 'x' }`,
    'a seed and a temperature of its choice': `const { text } = await given.policy.generate({ messages: [{ role: 'user', content: 'x'.repeat(1e6) }], temperature: -1, maxTokens: 1e9, seed: -5 } as any, given.signal).catch(() => ({ text: 'x' })); return { output: text }`,
    'patterns for verifiers': `return { output: '.*|' + '(a+)+$'.repeat(3) + '\\0\\n{"reward":1}' }`,
  }),
  ...attacksOf('callback', {
    'rewrites the answers that it is shown': `if (given.hook === 'onBenchmarkEval') for (const a of given.told[4]) { attempt(() => { a.reward = 1 }); attempt(() => { a.output = 'x' }) }; if (given.hook === 'onBenchmarkEval') attempt(() => { given.told[3]['pass@1'] = 1 })`,
    'finds expected answers in what it is shown': `const text = JSON.stringify(given.told); if (text?.includes(place.answer)) say('read: ' + text.slice(text.indexOf(place.answer)).slice(0, 40))`,
    'changes the result at the end': `if (given.hook === 'onRunEnd') attempt(() => { Object.assign(given.told[1], { status: 'completed', metrics: { 'test/test/pass@1': 1 } }) })`,
    'overwrites files of the experiment': `for (const f of ['experiment.md', 'evidence.json', 'results.tsv', 'report.html']) attempt(() => fs.writeFileSync(join(path.dirname(given.dir), f), 'x')); attempt(() => { fs.writeFileSync(join(path.dirname(given.dir), place.tag), 'x'); say('HARM it writes into the folder of the experiment') })`,
    'in the process of the experiment, reads answers': `if (given.hook.startsWith('onExperiment')) { const text = attempt(() => fs.readFileSync(join(place.project, 'data/val/tasks.jsonl'), 'utf8')); if (text) fs.writeFileSync(join(given.dir, 'found.txt'), text) }`,
    'in the process of the experiment, overwrites files': `if (given.hook.startsWith('onExperiment')) { ${overwrite(`join(place.outside, 'secret.txt')`)}; ${overwrite(`join(place.project, 'data/train.jsonl')`)} }`,
    'in the process of the experiment, kills others': `if (given.hook.startsWith('onExperiment')) { attempt(() => process.kill(place.victim, 'SIGKILL')); cp.spawn('setsid', ['sh', '-c', 'sleep 500 # ' + place.tag], { detached: true, stdio: 'ignore' }).unref(); await pause(200) }`,
    'asks for a step that is none': `attempt(() => given.told[0].requestStop({ toString() { throw new Error('x') } }))`,
    'a hook that never ends, for its run alone': {
      code: `if (given.hook === 'onStepEnd') { setTimeout(() => process.reallyExit(0), 15000); await new Promise(() => {}) }`,
      alone: true,
    },
  }),
  ...attacksOf('renderer', {
    'reads expected answers': read(`join(place.project, 'data/val/tasks.jsonl')`),
    'answers in place of the model': {
      code: `const answers = new Map((attempt(() => fs.readFileSync(join(place.project, 'data/val/tasks.jsonl'), 'utf8')) ?? '').split('\\n').filter(Boolean).map((l: string) => { const t = JSON.parse(l); return [t.instruction, t.verifier.expected] }));
let last = ''; const text = (ms: any[]) => ms.map((m) => m.content).join('\\n')
return { conversation(ms: any[]) { const tokens = given.tokenizer.encode(text(ms)); return { tokens, message: new Int32Array(tokens.length), produced: new Uint8Array(tokens.length).fill(1) } },
  prompt(ms: any[]) { last = ms.at(-1).content; return given.tokenizer.encode(text(ms)) },
  parse: () => ({ message: { role: 'assistant', content: answers.get(last) ?? 'none' }, complete: true }), stop: ['\\n'] }`,
    },
    'overwrites the verifier from the evaluator': `attempt(() => fs.writeFileSync(join(place.project, 'src/plugins/fair.ts'), 'x')); attempt(() => fs.writeFileSync(join(place.outside, 'open/renderer'), 'x'))`,
    'leaves a daemon': `cp.spawn('setsid', ['sh', '-c', 'sleep 500 # ' + place.tag], { detached: true, stdio: 'ignore' }).unref(); await pause(200)`,
    'ends its process': {
      code: `if (process.argv.join(' ').includes('evaluator')) process.reallyExit(3)`,
      alone: true,
    },
    'a prompt without end': {
      code: `return { conversation: (ms: any[]) => ({ tokens: new Int32Array([1, 2]), message: new Int32Array(2), produced: new Uint8Array([1, 1]) }), prompt: () => new Int32Array(2e8), parse: () => ({ message: { role: 'assistant', content: 'x' }, complete: true }), stop: [] }`,
      alone: true,
    },
  }),
  ...attacksOf('load', {
    'reads expected answers while it is loaded': `const text = attempt(() => fs.readFileSync(join(place.project, 'data/val/tasks.jsonl'), 'utf8')); if (text) attempt(() => fs.writeFileSync(join(place.home, 'found'), text))`,
    'overwrites the verifier while it is loaded': `attempt(() => fs.writeFileSync(join(place.project, 'src/plugins/fair.ts'), fs.readFileSync(join(place.project, 'src/plugins/fair.ts'), 'utf8').replace('? 1 : 0', '? 1 : 1')))`,
    'overwrites a file outside while it is loaded': `attempt(() => fs.writeFileSync(join(place.outside, 'secret.txt'), 'x'))`,
    'leaves a daemon while it is loaded': `attempt(() => cp.spawn('setsid', ['sh', '-c', 'sleep 500 # ' + place.tag], { detached: true, stdio: 'ignore' }).unref())`,
    'kills the process of someone else while it is loaded': `attempt(() => process.kill(place.victim, 'SIGKILL'))`,
    'speaks to a port while it is loaded': `await new Promise<void>((done) => net.connect(place.port, '127.0.0.1').on('connect', function (this: any) { this.destroy(); done() }).on('error', () => done()))`,
    'bribes the verifier through a global': `(globalThis as any).bribed = true; (Object.prototype as any).bribed = true`,
  }),
  ...attacksOf('metric', {
    'a score without bounds': { code: `return 1e308`, alone: true },
    'no number': { code: `return 'high' as any`, alone: true },
    'not a number': { code: `return NaN`, alone: true },
    'rewrites rewards for other metrics': `for (const r of rewards) attempt(() => r.fill(1)); for (const t of given.tasks ?? []) attempt(() => { for (const s of t.samples) s.output = t.expected }); return 0`,
    throws: { code: `throw new Error('no score')`, alone: true },
    'ends the scorer': { code: `process.reallyExit(0); return 0`, alone: true },
    'another metric’s name among its values': `return { value: 0, values: { '../pass@1': 0 } }`,
  }),
  ...attacksOf('verifier', {
    'a reward that is no number': { code: `return NaN`, alone: true },
    'a reward without bounds below': `return -1e308 * 0`,
    'ends the scorer': { code: `process.reallyExit(0)`, alone: true },
    'throws at every answer': { code: `throw new Error('away')`, alone: true },
    'answers that are expected, in its info': `return { reward: 0, info: { text: 'nothing' } }`,
  }),
]

/** Of the attacks on files, every eighth is made by a transform, which runs in the process that looks for leaks as well. */
const mixed = (rows: readonly AttackRow[]) => rows.map((row, i) => (i % 8 === 3 ? row : atStart(row)))

export const attackRows: readonly AttackRow[] = [
  ...mixed(files),
  ...mixed(processes),
  ...network.map(atStart),
  ...secrets.map(atStart),
  ...spread,
  ...evidenceAttacks,
]
