// Attacks on the budget and on the seed: more time, another clock, another seed, work where nobody counts it.
import { type Attack, byModel, node } from '../../../src/arena/adversary/attacks.ts'

const wait = 'await new Promise((done) => setTimeout(done, 60_000))'
const spin = 'for (const until = Date.now() + 60_000; Date.now() < until; );'

export const timeTamperings: readonly Attack[] = [
  { name: 'trains where it should answer', ends: 'timeout', files: () => node({ answer: `${spin}\n${byModel}` }) },
  {
    name: 'trains a little before every answer',
    ends: 'timeout',
    files: () =>
      node({
        answer: `await api.onAnswer(async (question) => { await new Promise((done) => setTimeout(done, 2800)); return question.map(predict) })`,
      }),
  },
  {
    name: 'stops itself, so that no time passes for it',
    ends: 'timeout',
    isRead: true,
    files: () => node({ train: `process.kill(process.pid, 'SIGSTOP'); ${wait}` }),
  },
  {
    name: 'closes its output and goes on',
    ends: 'timeout',
    files: () => node({ train: `for (let fd = 0; fd < 3; fd++) fs.closeSync(fd)\n${wait}` }),
  },
  {
    name: 'holds the budget of another run',
    ends: 'timeout',
    isRead: true,
    files: () =>
      node({
        train: `if (process.env.AGAIN !== '1') {
  const { spawnSync } = await import('node:child_process')
  spawnSync(process.execPath, process.argv.slice(1), { env: { ...process.env, AGAIN: '1', EVSYS_TRAIN_SECONDS: '1e6', EVSYS_DRY: '' }, stdio: 'inherit' })
}
for (const batch of api.getTrainLoader({ steps: Infinity }));`,
      }),
  },
  {
    name: 'stops the clock before the API looks at it',
    ends: 'timeout',
    files: () => ({
      'lib/clock.mjs': `const nothing = { value: () => 0 }
Reflect.defineProperty(Reflect.getPrototypeOf(performance), 'now', nothing); Reflect.defineProperty(Date, 'now', nothing)`,
      ...Object.fromEntries(
        Object.entries(node({ train: 'for (const batch of api.getTrainLoader({ steps: Infinity }));' })).map(
          ([name, code]) => [name, `import './lib/clock.mjs'\n${code}`],
        ),
      ),
    }),
  },
  {
    name: 'sets the clock of the machine',
    ends: 'scored',
    files: () =>
      node({
        train: `const { spawnSync } = await import('node:child_process')
for (const words of [['date', '-s', '@0'], ['hwclock', '--set', '--date', '1970-01-01'], ['unshare', '-T', 'true'], ['chrt', '-f', '99', 'true'], ['ionice', '-c', '1', 'true'], ['prlimit', '--pid', '1', '--cpu=1']]) spawnSync(words[0], words.slice(1))
attempt(() => os.setPriority(1, -20)); attempt(() => os.setPriority(-20)); attempt(() => fs.writeFileSync('/proc/self/oom_score_adj', '-1000'))`,
      }),
  },
  {
    name: 'holds the pipe open by a process that goes on',
    files: ({ tag }) =>
      node({
        train: `const { spawn } = await import('node:child_process')
spawn('setsid', ['sh', '-c', '(setsid sh -c "sleep 600; : ${tag}" &) ; sleep 600; : ${tag}'], { detached: true, stdio: 'inherit' }).on('error', () => {}).unref()`,
      }),
  },
  {
    name: 'starts itself again with another seed',
    files: () =>
      node({
        train: `if (process.env.AGAIN !== '1') {
  const { spawnSync } = await import('node:child_process')
  const { status } = spawnSync(process.execPath, process.argv.slice(1), { env: { ...process.env, AGAIN: '1', EVSYS_SEED: '42', AUTORESEARCH_SEED: '42' }, stdio: 'inherit' })
  process.exit(status)
}`,
      }),
  },
  {
    name: 'takes what an earlier run left in its folder',
    ends: 'scored',
    twice: true,
    files: () =>
      node({
        train: `if (fs.readdirSync(out).length > 0) throw new Error('an earlier run left something')\nfs.writeFileSync(out + '/seen', '1')`,
        answer: `attempt(() => fs.writeFileSync(out + '/answered', '1')); if (fs.existsSync(out + '/answered')) throw new Error('it can write')\n${byModel}`,
      }),
  },
  {
    name: 'tells its successor what it was asked, by every place that could outlive it',
    ends: 'scored',
    twice: true,
    files: () =>
      node({
        train: `const net = await import('node:net'), { spawnSync } = await import('node:child_process')
const found = await new Promise((done) => { const socket = net.connect('\\0evsys-successor'); socket.once('connect', () => done(true)); socket.once('error', () => done(false)) })
const shared = spawnSync('ipcs', ['-m']).stdout?.toString() ?? '', keys = attempt(() => fs.readFileSync('/proc/keys', 'utf8')) ?? ''
if (found || /0x00004242/.test(shared) || /evsys-successor/.test(keys)) throw new Error('found a message')
for (const folder of ['/dev/shm', '/dev/mqueue', '/run', '/var/lock', '/sys/fs/cgroup', '/proc/sys/kernel', '/opt/evsys', '/opt/evsys/bin'])
  if (attempt(() => fs.existsSync(folder + '/evsys-successor'))) throw new Error('found a file')`,
        answer: `const net = await import('node:net'), { spawnSync } = await import('node:child_process')
net.createServer().on('error', () => {}).listen('\\0evsys-successor').unref()
spawnSync('ipcmk', ['-M', '64']); spawnSync('keyctl', ['add', 'user', 'evsys-successor', 'x', '@u'])
for (const folder of ['/dev/shm', '/dev/mqueue', '/run', '/var/lock', '/sys/fs/cgroup', '/proc/sys/kernel', '/opt/evsys', '/opt/evsys/bin']) attempt(() => fs.writeFileSync(folder + '/evsys-successor', '1'))
${byModel}`,
      }),
  },
]
