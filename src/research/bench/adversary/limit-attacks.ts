// Attacks on limits: of time, processes, memory and output.
import { type Attack, byModel, node } from './attack.ts'

export const limitAttacks: readonly Attack[] = [
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
