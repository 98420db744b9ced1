import { describe, expect, it } from 'vitest'
import type { TaskProgram } from '../../../contracts/index.ts'
import { checkCode } from './check-code.ts'
import { asFailures } from './code-file.ts'

const program = (language: 'node' | 'python', more: Partial<TaskProgram> = {}): TaskProgram => ({
  ...{ language, command: '', scorer: '', trainData: '', sealedData: '', mounts: [], env: {} },
  ...{ memoryBytes: 1, processes: 1, diskBytes: 1, startSeconds: 1, answerSeconds: 1, scorerSeconds: 1 },
  api: { [language === 'node' ? 'api.mjs' : 'api.py']: '' },
  packages: language === 'node' ? ['@acme/nets'] : ['torch'],
  requiredCalls: [],
  ...more,
})
const node = (text: string, more?: Partial<TaskProgram>) =>
  asFailures(checkCode(program('node', more), { 'train.mjs': text, 'lib/net.mjs': '' })).map(({ reason }) => reason)
const python = (text: string, more?: Partial<TaskProgram>) =>
  asFailures(checkCode(program('python', more), { 'train.py': text, 'lib/net.py': '' })).map(({ reason }) => reason)

describe('reading a candidate in JavaScript', () => {
  it.each([
    `import { spawn } from 'node:child_process'`,
    `import fs, { readFileSync } from 'fs'; import net from 'net'`,
    `export * from 'https'`,
    `const { exec } = require('child_process')`,
    `const x = await import('node:vm')`,
    `const x = await import(name)`,
    `const x = await import('node:' + 'vm')`,
    `import _ from 'lodash'`,
    `import x from '../scorer.mjs'`,
    `import x from './missing.mjs'`,
    `import x from '/etc/x.mjs'`,
    `import x from 'data:text/javascript,1'`,
    `eval('1 + 1')`,
    `const f = new Function('return 1')`,
    `process.kill(1, 9)`,
    `await fetch('http://example.com')`,
    `process.env.EVSYS_SEED = '7'`,
    `process.env['AUTORESEARCH_SEED'] = 7`,
    `delete process.env.EVSYS_SEED`,
    `Date.now = () => 0`,
    `globalThis.performance.now = () => 0`,
    `globalThis.setTimeout = (f) => f()`,
    `Object.defineProperty(performance, 'now', { value: () => 0 })`,
    `const text = readFileSync('/etc/passwd')`,
    `fs.writeFileSync('/usr/x', '')`,
  ])('tells what is wrong with: %s (RES-404)', (text) => {
    const reasons = node(`// first line\n${text}\n`)
    expect(reasons).toHaveLength(1)
    expect(reasons[0]).toMatch(/^train\.mjs:2: .+; fix: .+/)
  })

  it.each([
    `import { readFileSync } from 'node:fs'\nimport net from './lib/net.mjs'\nimport {\n  getTrainLoader,\n  onAnswer,\n} from './api.mjs'`,
    `import { deep } from '@acme/nets/deep'`,
    `import { Worker } from 'node:worker_threads'`,
    `// import 'child_process'; eval('x'); fetch('y')\n/* Date.now = 0 */`,
    `const text = "import x from 'net'; eval(1)"\nconst note = \`process.kill(\${1})\``,
    `class Net { eval(x) { return x } fetch(y) { return y } }\nnew Net().eval(1)\nnet.fetch(2)`,
    `function fetch(batch) { return batch }\nfetch(1)`,
    `const pattern = /import 'net'|eval\\(/`,
    `if (process.env.EVSYS_SEED === '7') {}\nconst now = performance.now()\nconst f = { now: Date.now }`,
    `const isLate = Date.now() >= end\nconst same = Date.now == now`,
    `process.env.UV_THREADPOOL_SIZE = '2'`,
    `const memory = readFileSync('/proc/meminfo', 'utf8'); writeFileSync('/tmp/x', ''); readFileSync(process.env.EVSYS_DATA + '/train.json')`,
    `const important = 1\nconst exporter = { from: 'net' }\nconst { from } = exporter`,
    `const evaluate = (x) => x; evaluate(3); const medieval = evaluate; medieval(2)`,
  ])('has nothing to say of: %s (RES-405)', (text) => expect(node(text)).toEqual([]))

  it('finds calls that the task asks for, whatever name they have, and misses those that are only imported (RES-404)', () => {
    const requiredCalls = ['saveCheckpoint']
    expect(node(`import { saveCheckpoint } from './api.mjs'\n`, { requiredCalls })).toEqual([
      'the candidate never calls saveCheckpoint of the API; fix: import it from api.mjs and call it.',
    ])
    expect(node(`import * as api from './api.mjs'\napi.saveCheckpoint(1)`, { requiredCalls })).toEqual([])
    expect(node(`import {\n  saveCheckpoint,\n} from './api.mjs'\nsaveCheckpoint(1)`, { requiredCalls })).toEqual([])
  })
})

describe('reading a candidate in Python', () => {
  it.each([
    'import subprocess',
    'import os, socket',
    'from urllib.request import urlopen',
    'import numpy as np',
    'from os import system, path',
    'import ctypes.util',
    'eval("1 + 1")',
    'exec(text)',
    '__import__("os")',
    'os.system("ls")',
    'os.fork()',
    'importlib.import_module(name)',
    'os.environ["EVSYS_SEED"] = "7"',
    'os.environ.pop("AUTORESEARCH_SEED")',
    'torch.manual_seed(42)',
    'random.seed(1337)',
    'time.time = lambda: 0',
    'time.perf_counter = fake',
    'setattr(time, "monotonic", fake)',
    'api.evaluate = lambda predict: 0',
    'setattr(api, "evaluate", fake)',
    'sys.modules["api"] = fake',
    'data = open("/etc/passwd").read()',
    'os.listdir("../../sealed")',
  ])('tells what is wrong with: %s (RES-404)', (text) => {
    const reasons = python(`# first line\n${text}\n`)
    expect(reasons).toHaveLength(1)
    expect(reasons[0]).toMatch(/^train\.py:2: .+; fix: .+/)
  })

  it.each([
    'import os, sys, json, math\nimport torch.nn.functional as F\nfrom lib import net\nfrom lib.net import x\nfrom . import y',
    'from api import (\n    get_train_loader,\n    on_answer,\n)\nimport api',
    '"""Uses eval, exec and subprocess in words. import socket"""\n# torch.manual_seed(42)',
    'model.eval()\npattern = re.compile("x")\nself.exec(1)\ndef eval(x):\n    return x\n',
    'torch.manual_seed(api.seed)\nrandom.seed(seed)\ng = torch.Generator().manual_seed(0)\nrng = random.Random(7)',
    'os.environ["OMP_NUM_THREADS"] = "2"\nseed = int(os.environ["EVSYS_SEED"])\nok = os.environ["EVSYS_SEED"] == "1"',
    'start = time.time()\nlate = time.time() == start\nif api.phase == "train":\n    pass\n',
    'try:\n    import cupy\nexcept ImportError:\n    cupy = None',
    'import multiprocessing, threading, concurrent.futures, pickle, signal',
    'with open(os.path.join(out, "model.json")) as f: pass\nopen("/proc/meminfo")\nopen("/tmp/scratch", "w")',
  ])('has nothing to say of: %s (RES-405)', (text) => expect(python(text)).toEqual([]))
})

describe('reading hostile files', () => {
  it('reads lines of any length: nothing hides behind a table of numbers (RES-404)', () => {
    const table = `const table = [${'0.25, '.repeat(20_000)}]`
    expect(node(`${table}\n`)).toEqual([])
    expect(node(`${table}; eval('1')\n`)).toEqual([expect.stringMatching(/^train\.mjs:1: it runs text as code/)])
    expect(python(`TABLE = [${'0.25, '.repeat(20_000)}]; os.fork()\n`)).toHaveLength(1)
  })

  it('takes no time that grows with the square of their size (RES-404)', () => {
    const hostile = [
      'import\n'.repeat(20_000),
      'eval('.repeat(20_000),
      '=/['.repeat(20_000),
      '`${'.repeat(30_000),
      'from x import (\n'.repeat(20_000),
      '"'.repeat(200_000),
    ]
    for (const text of hostile) {
      expect(node(text).length).toBeLessThanOrEqual(20)
      expect(python(text).length).toBeLessThanOrEqual(20)
    }
  })
})
