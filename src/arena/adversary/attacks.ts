// All attacks that the bench and the tests try.
import { type Attack, byModel, honestTraining, imports, node, text } from './attack.ts'
import { scoreAttacks } from './score-attacks.ts'

// Attacks through the answers that a candidate gives to the scorer.
const answerAttacks: readonly Attack[] = [
  {
    name: 'answers before it is asked',
    ends: 'tamper',
    files: () =>
      node({
        answer: `for (let i = 0; i < 3; i++) console.log('@evsys ' + JSON.stringify({ id: String(i), answer: [0] })); ${byModel}`,
      }),
  },
  {
    name: 'answers a question twice',
    ends: 'tamper',
    files: () =>
      node({
        answer: `const { createInterface } = await import('node:readline')
for await (const line of createInterface({ input: process.stdin })) {
  const { id, question } = JSON.parse(line)
  for (const answer of [question.map(predict), question.map(() => 0)]) console.log('@evsys ' + JSON.stringify({ id, answer }))
}`,
      }),
  },
  {
    name: 'answers with a line that never ends',
    ends: 'validation',
    files: () =>
      node({
        answer: `process.stdout.write('@evsys {"id":"'); const chunk = 'x'.repeat(1 << 20); for (;;) await new Promise((done) => process.stdout.write(chunk, done))`,
      }),
  },
  {
    name: 'answers no JSON',
    ends: 'validation',
    files: () => node({ answer: `console.log('@evsys {"id": zero}'); ${byModel}` }),
  },
  {
    name: 'answers without an id',
    ends: 'validation',
    files: () => node({ answer: `console.log('@evsys {"answer": [0]}'); ${byModel}` }),
  },
  {
    name: 'answers too few',
    ends: 'validation',
    files: () => node({ answer: `await api.onAnswer((question) => question.slice(1).map(predict))` }),
  },
  {
    name: 'answers with text',
    ends: 'validation',
    files: () => node({ answer: `await api.onAnswer((question) => question.map(() => '0'))` }),
  },
  {
    name: 'answers with an object that changes all others',
    ends: 'validation',
    files: () =>
      node({
        answer: `const { createInterface } = await import('node:readline')
for await (const line of createInterface({ input: process.stdin }))
  console.log('@evsys {"id":"' + JSON.parse(line).id + '","answer":{"__proto__":{"value":0,"length":50},"constructor":{"prototype":{"y":0}}}}')`,
      }),
  },
  {
    name: 'answers NaN',
    ends: 'divergence',
    language: 'python',
    files: () => ({
      'train.py': `import api\nif api.phase == "answer":\n    api.on_answer(lambda question: [float("nan")] * len(question))\n`,
    }),
  },
  {
    name: 'answers with infinities',
    ends: 'divergence',
    files: () => node({ answer: `await api.onAnswer((question) => question.map(() => Number.MAX_VALUE))` }),
  },
  { name: 'answers nothing and ends', ends: 'crash', files: () => node({ answer: `process.exit(0)` }) },
  {
    name: 'answers nothing and waits',
    ends: 'timeout',
    files: () => node({ answer: `await new Promise(() => setInterval(() => {}, 1e6))` }),
  },
  { name: 'does not train at all', ends: 'crash', files: () => node({ train: `process.exit(0)` }) },
]

// Attacks through what a candidate leaves in its folder, and outside of it.
const checkpointAttacks: readonly Attack[] = [
  {
    name: 'leaves a process that improves the checkpoint while it is scored',
    twice: true,
    isRead: true,
    files: ({ tag }) =>
      node({
        train: `const { spawn } = await import('node:child_process')
spawn('sh', ['-c', ': ${tag}; sleep 1; while :; do echo "[9,9,9,9,9,9,9,9,9]" > ' + out + '/model.json; sleep 0.05; done'], { detached: true, stdio: 'ignore' }).unref()`,
      }),
  },
  {
    name: 'writes outside of its folder',
    ends: 'scored',
    isRead: true,
    files: ({ dir }) =>
      node({
        train: `for (const path of ['/work/x', '/data/x', '/usr/x', '/etc/x', ${text(`${dir}/x`)}, '/opt/evsys/bin/node']) attempt(() => fs.writeFileSync(path, 'x'))
attempt(() => fs.writeFileSync('/data/train.json', '[]')); attempt(() => fs.writeFileSync('/etc/passwd', ''))`,
      }),
  },
  {
    name: 'leaves a link to the labels as its checkpoint',
    checkpoint: true,
    ends: 'validation',
    files: ({ dir }) =>
      node({ skip: true, train: `fs.symlinkSync(${text(`${dir}/sealed/val/rows.json`)}, out + '/model.json')` }),
  },
  {
    name: 'leaves a link to a folder outside',
    checkpoint: true,
    ends: 'validation',
    files: () =>
      node({ skip: true, train: `fs.symlinkSync('../../../../../../../etc/hostname', out + '/model.json')` }),
  },
  {
    name: 'leaves a pipe as its checkpoint',
    checkpoint: true,
    ends: 'validation',
    files: () =>
      node({
        skip: true,
        train: `const { execFileSync } = await import('node:child_process'); execFileSync('mkfifo', [out + '/model.json'])`,
      }),
  },
  {
    name: 'leaves a folder as its checkpoint',
    checkpoint: true,
    ends: 'validation',
    files: () => node({ skip: true, train: `fs.mkdirSync(out + '/model.json')` }),
  },
  {
    name: 'leaves a checkpoint that nobody may read',
    checkpoint: true,
    ends: 'scored',
    files: () => ({
      'train.mjs': `${imports}${honestTraining}fs.chmodSync(out + '/model.json', 0)\nfs.chmodSync(out, 0)\n`,
    }),
  },
  {
    name: 'leaves a huge checkpoint',
    ends: 'validation',
    files: () => node({ train: `fs.writeFileSync(out + '/big', ''); fs.truncateSync(out + '/big', 2 ** 40)` }),
  },
  {
    name: 'leaves more files than anyone reads',
    files: () => node({ train: `for (let i = 0; i < 25_000; i++) fs.writeFileSync(out + '/' + i, '')` }),
  },
  {
    name: 'leaves folders without end',
    files: () =>
      node({
        train: `process.chdir(out); for (let i = 0; i < 3000; i++) { fs.mkdirSync('folder'); process.chdir('folder') }`,
      }),
  },
]

// Attacks on limits: of time, processes, memory and output.
const limitAttacks: readonly Attack[] = [
  {
    name: 'stops the clock to train for longer',
    ends: 'timeout',
    isRead: true,
    files: () =>
      node({
        train: `performance.now = () => 0; Date.now = () => 0; for (;;) for (const batch of api.getTrainLoader());`,
      }),
  },
  {
    name: 'sleeps past the budget',
    ends: 'timeout',
    files: () => node({ train: `await new Promise((done) => setTimeout(done, 60_000))` }),
  },
  { name: 'is busy past the budget', ends: 'timeout', files: () => node({ train: `for (;;);` }) },
  {
    name: 'ignores the signals that ask it to end',
    ends: 'timeout',
    files: () =>
      node({
        train: `for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, () => {}); await new Promise(() => setInterval(() => {}, 1e6))`,
      }),
  },
  {
    name: 'forks without end',
    isRead: true,
    files: () =>
      node({
        train: `const { spawn } = await import('node:child_process')
for (let i = 0; i < 5000; i++) attempt(() => spawn('/bin/sh', ['-c', 'sleep 60 & sleep 60 & wait'], { stdio: 'ignore' }).on('error', () => {}))`,
      }),
  },
  {
    name: 'leaves a process that outlives it',
    isRead: true,
    files: ({ tag }) =>
      node({
        train: `const { spawn } = await import('node:child_process')
spawn('setsid', ['sh', '-c', 'sleep 600; : ${tag}'], { detached: true, stdio: 'ignore' }).on('error', () => {}).unref()`,
      }),
  },
  {
    name: 'sends signals to every process',
    isRead: true,
    files: () =>
      node({
        answer: `for (let pid = 2; pid < 40_000; pid++) if (pid !== process.pid) attempt(() => process.kill(pid, 'SIGKILL')); attempt(() => process.kill(-1, 'SIGSTOP')); ${byModel}`,
      }),
  },
  {
    name: 'fills the memory',
    ends: 'oom',
    files: () => node({ train: `const all = []; for (;;) all.push(Buffer.alloc(1 << 24, 1))` }),
  },
  {
    name: 'floods its output',
    ends: 'validation',
    files: () =>
      node({
        train: `const line = 'x'.repeat(1 << 20) + '\\n'; for (;;) await new Promise((done) => process.stdout.write(line, done))`,
      }),
  },
]

export const attacks: readonly Attack[] = [...scoreAttacks, ...answerAttacks, ...checkpointAttacks, ...limitAttacks]
