// Attacks on files that are not the candidate's: scorer, API, task, orders for the interpreter, by every road that leads to a file.
import { type Attack, node } from '../../../src/arena/adversary/attacks.ts'
import { text } from './attack-words.ts'

const forged = `'export default { score: () => ({ value: 0 }) }'`
const run = `const { execFileSync, spawnSync } = await import('node:child_process')\n`

export const linkTamperings: readonly Attack[] = [
  {
    name: 'writes the scorer through a link in its own folder',
    ends: 'scored',
    twice: true,
    files: ({ dir }) =>
      node({
        train: `for (const to of [${text(`${dir}/scorer.mjs`)}, '/proc/self/root${dir}/scorer.mjs', '../../../../../../${dir}/scorer.mjs']) {
  attempt(() => fs.rmSync(out + '/link')); attempt(() => fs.symlinkSync(to, out + '/link')); attempt(() => fs.writeFileSync(out + '/link', ${forged})) }
attempt(() => fs.rmSync(out + '/link'))`,
      }),
  },
  {
    name: 'gives the API a second name by a hard link, and writes there',
    ends: 'scored',
    twice: true,
    files: () =>
      node({
        train: `for (const from of ['/work/api.mjs', '/work/train.mjs', '/data/train.json', '/opt/evsys/bin/node'])
  if (attempt(() => fs.linkSync(from, out + '/same') ?? true)) { attempt(() => fs.writeFileSync(out + '/same', 'process.exit(3)')); attempt(() => fs.rmSync(out + '/same')) }`,
      }),
  },
  {
    name: 'goes to the machine through root and working folder of other processes',
    ends: 'scored',
    files: ({ dir }) =>
      node({
        train: `for (const pid of ['self', '1', '2', process.ppid]) for (const way of ['root', 'cwd', 'cwd/../../../..'])
  attempt(() => fs.writeFileSync('/proc/' + pid + '/' + way + '${dir}/scorer.mjs', ${forged}))`,
      }),
  },
  {
    name: 'writes into the memory of other processes',
    files: () =>
      node({
        train: `for (const pid of fs.readdirSync('/proc').filter((name) => Number(name) > 0 && Number(name) !== process.pid)) attempt(() => {
  const [first] = fs.readFileSync('/proc/' + pid + '/maps', 'utf8').split('\\n').filter((line) => line.includes('rw-p'))
  const memory = fs.openSync('/proc/' + pid + '/mem', 'r+')
  fs.writeSync(memory, Buffer.alloc(4096, 1), 0, 4096, parseInt(first, 16))
})`,
      }),
  },
  {
    name: 'writes to every file that it inherited',
    ends: 'scored',
    files: () =>
      node({
        train: `for (let fd = 3; fd < 1024; fd++) { const own = attempt(() => fs.readlinkSync('/proc/self/fd/' + fd)) ?? ''
  if (/^(?:anon_inode|socket|pipe):/.test(own) || own === '') continue
  attempt(() => fs.writeSync(fd, 'value: 0\\n', 0)); attempt(() => fs.ftruncateSync(fd, 0)) }`,
      }),
  },
  {
    name: 'mounts a file of its own over the API',
    ends: 'scored',
    twice: true,
    files: () =>
      node({
        train: `${run}fs.writeFileSync('/tmp/api.mjs', 'process.exit(3)')
for (const words of [['mount', '--bind', '/tmp/api.mjs', '/work/api.mjs'], ['mount', '-o', 'remount,rw', '/work'], ['unshare', '-rm', 'mount', '--bind', '/tmp/api.mjs', '/work/api.mjs'], ['umount', '-l', '/work']])
  spawnSync(words[0], words.slice(1))
attempt(() => fs.writeFileSync('/work/api.mjs', 'process.exit(3)'))`,
      }),
  },
  {
    name: 'leaves orders for the loader of programs and for Node',
    ends: 'scored',
    twice: true,
    files: () =>
      node({
        train: `process.env.NODE_OPTIONS = '--import /out/hook.mjs'; process.env.LD_PRELOAD = out + '/hook.so'
fs.writeFileSync(out + '/hook.mjs', 'process.exit(3)'); fs.writeFileSync(out + '/hook.so', 'no library')
for (const file of ['/etc/ld.so.preload', '/etc/environment', '/.noderc', os.homedir() + '/.profile', os.homedir() + '/.npmrc', os.homedir() + '/.node_repl_history'])
  attempt(() => fs.writeFileSync(file, 'NODE_OPTIONS=--import=/out/hook.mjs'))`,
      }),
  },
  {
    name: 'leaves packages where Node looks for them',
    ends: 'scored',
    twice: true,
    files: () =>
      node({
        train: `for (const folder of ['/node_modules', '/work/node_modules', '/out/node_modules', os.homedir() + '/.node_modules'])
  attempt(() => { fs.mkdirSync(folder + '/fs', { recursive: true }); fs.writeFileSync(folder + '/fs/index.js', 'process.exit(3)'); fs.writeFileSync(folder + '/package.json', '{"type":"commonjs"}') })
attempt(() => fs.writeFileSync('/package.json', '{"type":"commonjs","imports":{"#x":"./x"}}'))`,
      }),
  },
  {
    name: 'moves the folders that it was given',
    ends: 'scored',
    files: () =>
      node({
        train: `for (const [from, to] of [['/work', '/old'], ['/out', '/older'], ['/data', '/oldest'], ['/proc', '/p']]) { attempt(() => fs.renameSync(from, to)); attempt(() => fs.rmSync(from, { recursive: true })) }
for (const path of ['/work', '/work/api.mjs', '/data']) { attempt(() => fs.chmodSync(path, 0o777)); attempt(() => fs.chownSync(path, 0, 0)) }
attempt(() => fs.mkdirSync(out, { recursive: true }))`,
      }),
  },
  {
    name: 'names a file so that it would lie in the place of the API',
    ends: 'tamper',
    isRead: true,
    files: () => ({ ...node({}), 'api.mjs/index.mjs': 'export const phase = 1' }),
  },
  ...[
    'node_modules/x/index.mjs',
    'package.json',
    'lib/../scorer.mjs',
    'lib//x.mjs',
    '/train.mjs',
    'lib/x\u0000.mjs',
    'train.mjs/x.mjs',
  ].map(
    (name): Attack => ({
      name: `holds the file ${JSON.stringify(name)}`,
      ends: 'validation',
      isRead: true,
      files: () => ({ ...node({}), [name]: '{}' }),
    }),
  ),
]
