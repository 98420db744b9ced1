// Roads to the labels that hide from whoever reads the code: each names the file, or what runs programs, in a way of its own.
import { type Attack, node } from '../../../src/arena/adversary/attacks.ts'
import { text, withLabels } from './attack-words.ts'

/** `found` gives the text of the labels' file at PATH, or throws. */
const road = (name: string, found: string, first = ''): Attack => ({
  name: `looks for labels ${name}`,
  ends: 'scored',
  files: ({ dir }) => {
    const path = text(`${dir}/sealed/val/rows.json`)
    return node({ answer: `${first}\n${withLabels(`JSON.parse(${found.replaceAll('PATH', path)})`)}` })
  },
})
const shell = `const { execFileSync } = process.getBuiltinModule?.('child_process') ?? await import('node:child_process')`

export const roadTamperings: readonly Attack[] = [
  road('by a function whose name is put together', `globalThis['ev' + 'al']('fs')['read' + 'FileSync'](PATH, 'utf8')`),
  road(
    'by the constructor of functions',
    `(() => {}).constructor('fs', 'return fs.readFileSync(' + JSON.stringify(PATH) + ', "utf8")')(fs)`,
  ),
  road('by a name with escapes', `f\\u0073.re\\u0061dFileSync(PATH, 'utf8')`),
  road(
    'by a module in an address',
    `loaded(PATH)`,
    `const { default: loaded } = await import('data:text/javascript;base64,' + Buffer.from('import fs from "fs"; export default (path) => fs.readFileSync(path, "utf8")').toString('base64'))`,
  ),
  road(
    'by a require of its own',
    `require('fs').readFileSync(PATH, 'utf8')`,
    `const { createRequire } = await import('node:mod' + 'ule'); const require = createRequire('/work/train.mjs')`,
  ),
  road('by the bindings of Node', `process.binding('fs').readFileUtf8(PATH, 0)`),
  road('by a shell', `execFileSync('cat', [PATH], { encoding: 'utf8', stdio: 'pipe' })`, shell),
  road(
    'by a folder that another program enters',
    `execFileSync('nsenter', ['-t', '1', '-a', 'cat', PATH], { encoding: 'utf8', stdio: 'pipe' })`,
    shell,
  ),
  road(
    'by leaving a root inside its root',
    `execFileSync('perl', ['-e', 'mkdir "x"; chroot "x"; chdir ".." for 1..99; chroot "."; print \`cat $ARGV[0]\`', PATH], { encoding: 'utf8', stdio: 'pipe', cwd: '/tmp' })`,
    shell,
  ),
  road('beside the training data', `fs.readFileSync('/data/../sealed/val/rows.json', 'utf8')`),
  road(
    'beside the training data, by the open folder',
    `fs.readFileSync('/proc/self/fd/' + fs.openSync('/data', 'r') + '/../val/rows.json', 'utf8')`,
  ),
  road(
    'at the places that the table of mounts names',
    `fs.readFileSync('/proc/self/mountinfo', 'utf8').split('\\n').map((line) => line.split(' ')[3] ?? '').map((root) => attempt(() => fs.readFileSync(root.replace(/\\/data$/, '') + '/sealed/val/rows.json', 'utf8'))).find(Boolean)`,
  ),
  road(
    'on the disk below the files',
    `['/dev/sda', '/dev/vda', '/dev/nvme0n1', '/dev/mem', '/proc/kcore', '/dev/kmsg'].map((disk) => attempt(() => { const part = Buffer.alloc(1 << 20); fs.readSync(fs.openSync(disk, 'r'), part); return part.toString('latin1') })).find((part) => part?.includes('"y":'))`,
  ),
  road(
    'in the memory of other processes',
    `fs.readdirSync('/proc').filter((pid) => Number(pid) > 0 && Number(pid) !== process.pid).map((pid) => attempt(() => fs.readFileSync('/proc/' + pid + '/mem', 'latin1'))).find((memory) => memory?.includes('"y":'))`,
  ),
  road(
    'in the cache of the project',
    `['/.evsys/cache/tasks', os.homedir() + '/.cache/evsys', '/root/.npm/_cacache', '/tmp'].flatMap((folder) => attempt(() => fs.readdirSync(folder, { recursive: true })) ?? []).filter((name) => name.endsWith('rows.json')).map((name) => fs.readFileSync(name, 'utf8'))[0]`,
  ),
]

const python = (
  name: string,
  train: string,
  answer = 'zeros = lambda question: [0.0 for _ in question]',
  ends: Attack['ends'] = 'scored',
): Attack => ({
  name: `${name}, in Python`,
  language: 'python',
  ...(ends === undefined ? {} : { ends }),
  files: ({ dir }) => ({
    'train.py': `import api, os, sys
def tried(work):
    try:
        return work()
    except BaseException:
        return None
PATH = ${text(`${dir}/sealed/val/rows.json`)}
OUT = os.environ["EVSYS_OUT"]
if api.phase == "train":
${indented(train)}
    api.save_checkpoint([0] * 9)
else:
${indented(answer)}
    api.on_answer(zeros)
`,
  }),
})
const indented = (code: string) =>
  code
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')
const bySaid = (found: string) => `import json
rows = tried(lambda: json.loads(${found}))
zeros = lambda question: [rows.pop(0)["y"] if rows else 0.0 for _ in question]`

export const pythonTamperings: readonly Attack[] = [
  python(
    'looks for labels by text that is run',
    'pass',
    bySaid(`__builtins__.__dict__["ev" + "al"]("open(PATH).read()")`),
  ),
  python(
    'looks for labels by text in base64 that is run',
    'pass',
    `import base64\n${bySaid(`(lambda space: exec(base64.b64decode(b"dCA9IG9wZW4oUEFUSCkucmVhZCgp"), space) or space["t"])({"PATH": PATH})`)}`,
  ),
  python(
    'looks for labels by modules found while it runs',
    'pass',
    bySaid(`__import__("importlib").import_module("sub" + "process").check_output(["cat", PATH])`),
  ),
  python(
    'looks for labels by the C library',
    'pass',
    `import ctypes\nlibc = ctypes.CDLL(None)\nbuffer = ctypes.create_string_buffer(1 << 20)\ntried(lambda: libc.ptrace(16, 1, 0, 0))\n${bySaid(`(libc.read(libc.open(PATH.encode(), 0), buffer, 1 << 20), buffer.value)[1]`)}`,
  ),
  python(
    'leaves modules and path files for its second start',
    `import site, sysconfig
for folder in [site.getusersitepackages(), sysconfig.get_paths()["purelib"], "/work", "/tmp", OUT, "/work/__pycache__"]:
    for name, code in [("x.pth", "import os; os._exit(9)"), ("sitecustomize.py", "raise SystemExit(9)"), ("api.py", "raise SystemExit(9)"), ("random.py", "raise SystemExit(9)")]:
        tried(lambda: (os.makedirs(folder, exist_ok=True), open(os.path.join(folder, name), "w").write(code)))
os.environ["PYTHONPATH"] = OUT
os.environ["PYTHONSTARTUP"] = OUT + "/sitecustomize.py"`,
  ),
  python(
    'leaves a pickle that acts when it is loaded',
    `import pickle
class Bomb:
    def __reduce__(self):
        return (os.system, ("touch /tmp/evsys-bomb; kill -9 -1",))
for name in ["checkpoint", "model.pt", "model.pkl", "model.json.pkl"]:
    with open(os.path.join(OUT, name), "wb") as file:
        pickle.dump(Bomb(), file)`,
    'if os.path.exists("/tmp/evsys-bomb"):\n    raise SystemExit(9)\nzeros = lambda question: [0.0 for _ in question]',
  ),
  python(
    'replaces itself by itself with another seed',
    `if os.environ.get("AGAIN") != "1":\n    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "AGAIN": "1", "EVSYS_SEED": "42"})`,
  ),
  python(
    'leaves a child of a child in a session of its own',
    `if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        import time\n        time.sleep(600)\n    os._exit(0)`,
  ),
  python(
    'replaces the parts of the API that are loaded already',
    'import builtins, json, time\nsys.modules["api"].__dict__["evaluate"] = lambda predict: 0.0\njson.dumps = lambda *_, **__: "0"\ntime.monotonic = time.time = lambda: 0.0\nbuiltins.print = lambda *_, **__: None\nimport importlib\nimportlib.reload(json)',
  ),
  python(
    'sleeps through the alarm',
    'import signal, time\nfor number in range(1, 32):\n    tried(lambda: signal.signal(number, signal.SIG_IGN))\ntime.sleep(120)',
    undefined,
    'timeout',
  ),
]
