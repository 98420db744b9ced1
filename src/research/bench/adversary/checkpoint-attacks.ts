// Attacks through what a candidate leaves in its folder, and outside of it.
import { type Attack, honestTraining, imports, node, text } from './attack.ts'

export const checkpointAttacks: readonly Attack[] = [
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
