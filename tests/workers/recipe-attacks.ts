// What a recipe tries against the machine, its project and its siblings. `said`: what each line that it says has to match; `ends`: how its run
// ends. The programs run in the worker, with `require`, the folder of their run and `say`.
export interface RecipeAttack {
  readonly name: string
  readonly code: string
  readonly ends: RegExp
  readonly said?: RegExp | undefined
}

const tools = `const fs = require('node:fs'), path = require('node:path'), cp = require('node:child_process'), net = require('node:net')
const home = path.resolve(runDir, '..', '..', '..'), project = path.dirname(home)
const attempt = (f) => { try { const r = f(); say('done ' + JSON.stringify(r ?? null)) } catch (e) { say('refused ' + (e.code ?? e.message)) } }
const sh = (line) => cp.execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8', stdio: 'pipe' })
`
const attack = (
  name: string,
  code: string,
  ends: RecipeAttack['ends'] = /^completed$/,
  said = /^refused /,
): RecipeAttack => ({
  name,
  code: tools + code,
  ends,
  said,
})

/** Marks processes that must not be left. */
export const leftMark = 'evsys-left-behind'

export const recipeAttacks: readonly RecipeAttack[] = [
  attack(
    'rewrites and renames the record, and the data of its project',
    `for (const name of ['evsys.db', 'evsys.db-wal']) attempt(() => fs.writeFileSync(path.join(home, name), 'x'))
attempt(() => fs.renameSync(path.join(home, 'evsys.db'), path.join(home, 'gone')))
attempt(() => fs.renameSync(home, home + '-gone'))
attempt(() => fs.appendFileSync(path.join(project, 'train.jsonl'), 'x'))
attempt(() => fs.writeFileSync(path.join(project, 'plugins', 'attack.ts'), ''))
attempt(() => fs.writeFileSync(path.join(home, 'cache', 'x'), ''))`,
  ),
  attack(
    'reads the record, answers, and the folders of sibling runs, and rewrites their questions',
    `attempt(() => fs.readFileSync(path.join(home, 'evsys.db')))
attempt(() => fs.readFileSync(path.join(project, 'val', 'tasks.jsonl')))
const experiment = path.dirname(runDir)
if (fs.readdirSync(experiment).length > 1) say('done saw ' + fs.readdirSync(experiment))
attempt(() => fs.mkdirSync(path.join(experiment, 'questions')))
attempt(() => fs.writeFileSync(path.join(experiment, 'other'), ''))`,
  ),
  attack(
    'looks for processes and signals them',
    `const pids = fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).map(Number)
if (pids.length > 3) say('done saw ' + pids.length)
for (const pid of pids) if (pid !== process.pid) attempt(() => { process.kill(pid, 0); return fs.readlinkSync('/proc/' + pid + '/cwd') === '/' ? (() => { throw new Error('its own') })() : pid })
attempt(() => process.kill(${process.pid}, 'SIGKILL'))`,
  ),
  attack('kills all that it can', `sh('kill -9 -1')`, /^WORKER_DIED$/),
  attack(
    'changes the kernel, mounts, makes namespaces, reaches the network',
    `attempt(() => fs.writeFileSync('/proc/sys/vm/swappiness', '61'))
attempt(() => sh('mount -t tmpfs x /usr'))
attempt(() => sh('umount -l ' + home))
attempt(() => sh('unshare --user --map-root-user --mount true'))
attempt(() => fs.writeFileSync('/usr/evsys-attack', ''))
attempt(() => fs.readFileSync('/etc/shadow'))
await new Promise((done) => { const socket = net.connect(53, '1.1.1.1'); socket.setTimeout(2000, () => { say('refused late'); socket.destroy(); done() })
  socket.on('error', (e) => { say('refused ' + e.code); done() }); socket.on('connect', () => { say('done connected'); done() }) })`,
  ),
  attack(
    'leaves a daemon in a session of its own',
    `cp.spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)', '${leftMark}'], { detached: true, stdio: 'ignore' }).unref()`,
  ),
  attack(
    'starts 1500 processes',
    `try { for (let i = 0; i < 1500; i++) cp.spawn('/bin/sh', ['-c', 'read x', '${leftMark}'], { stdio: ['pipe', 'ignore', 'ignore'] }).on('error', (e) => { throw e }) } catch (e) { say('refused ' + e.code) }
await new Promise((done) => setTimeout(done, 3000))
const count = fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).length
say((count > 200 ? 'done ' : 'refused ') + count)`,
    /^(?:completed|WORKER_DIED|WORKER_LIMIT)$/,
  ),
  attack(
    'takes 4.6 GB in three children',
    `const take = 'const held = []; for (let i = 0; i < 1600; i++) held.push(Buffer.alloc(1 << 20, 1)); setTimeout(() => {}, 1e6)'
for (let i = 0; i < 3; i++) cp.spawn(process.execPath, ['-e', take], { stdio: 'ignore' })
await new Promise((done) => setTimeout(done, 20000))
const held = fs.readdirSync('/proc').filter((n) => /^[0-9]+$/.test(n)).map((n) => Number((/VmRSS:\\s+(\\d+)/.exec(fs.readFileSync('/proc/' + n + '/status', 'utf8')) ?? [])[1] ?? 0)).reduce((a, b) => a + b, 0)
say((held > 3e6 ? 'done ' : 'refused ') + held)`,
    /^WORKER_LIMIT$/,
  ),
  attack(
    'writes 3 GB into its folder',
    `for (let i = 0; i < 60; i++) { fs.writeFileSync(path.join(runDir, 'big' + i), Buffer.alloc(50 << 20, 1)); await new Promise((done) => setTimeout(done, 60)) }
say('done')`,
    /^WORKER_LIMIT$/,
  ),
  attack(
    'writes 1.5 GB into shared memory',
    `for (let i = 0; i < 30; i++) { fs.writeFileSync('/dev/shm/big' + i, Buffer.alloc(50 << 20, 1)); await new Promise((done) => setTimeout(done, 60)) }
say('done')`,
    /^WORKER_LIMIT$/,
  ),
]
