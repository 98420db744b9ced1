import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bundledTasks } from '../../src/research/index.ts'
import { needs } from '../needs.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()
const python = needs('Python 3', () => {
  execFileSync('python3', ['--version'])
  return true
})

interface Candidate {
  readonly text: string
  readonly env?: Record<string, string> | undefined
  readonly input?: string | undefined
  readonly dir?: string | undefined
}

/** Runs a candidate beside the API; returns what it said on the wire and what it printed. */
function run(program: string, file: string, { text, env = {}, input = '', dir = folder() }: Candidate) {
  for (const name of ['evsys-task.mjs', 'evsys_task.py']) cpSync(join(bundledTasks, 'shared', name), join(dir, name))
  mkdirSync(join(dir, 'out'), { recursive: true })
  writeFileSync(join(dir, file), text)
  const all = { PATH: process.env.PATH ?? '', EVSYS_OUT: join(dir, 'out'), EVSYS_NONCE: 'n', EVSYS_SEED: '7', ...env }
  const { stdout, stderr, status } = spawnSync(program, [file], { cwd: dir, env: all, input, encoding: 'utf8' })
  const lines = stdout.split('\n').filter((line) => line !== '')
  const messages = lines.filter((line) => line.startsWith('@evsys ')).map((line) => JSON.parse(line.slice(7)))
  const said = messages.filter(({ begun }) => begun !== true)
  return { said, printed: lines.filter((line) => !line.startsWith('@evsys ')), stderr, status, dir }
}

const node = (candidate: Candidate) => run(process.execPath, 'train.mjs', candidate)
const py = (candidate: Candidate) => run('python3', 'train.py', candidate)

describe('the API of candidates in Node', () => {
  const draws = `import { keyedRandom, reportResults, seed } from './evsys-task.mjs'
const random = keyedRandom('a')
reportResults({ seed, one: Math.random(), two: Math.random(), keyed: random.float(), other: keyedRandom('b').float(), normal: random.normal() })
`
  it('seeds all draws from outside, by either variable (RES-313)', () => {
    const [first] = node({ text: draws }).said
    expect(first).toMatchObject({ nonce: 'n', claimed: { seed: 7 } })
    expect(node({ text: draws }).said).toEqual([first])
    expect(node({ text: draws, env: { EVSYS_SEED: '', AUTORESEARCH_SEED: '7' } }).said).toEqual([first])
    expect(node({ text: draws, env: { EVSYS_SEED: '8' } }).said[0].claimed.one).not.toBe(first.claimed.one)
    expect(new Set(Object.values(first.claimed)).size).toBe(6)
  })

  it('draws evenly, and normally (RES-313)', () => {
    const text = `import { keyedRandom, reportResults } from './evsys-task.mjs'
const random = keyedRandom('a')
const n = 20000
let [sum, squares, mean] = [0, 0, 0]
const seen = new Array(10).fill(0)
for (let i = 0; i < n; i++) { const x = random.normal(); sum += x; squares += x * x; mean += Math.random(); seen[random.int(10)]++ }
reportResults({ sum: sum / n, squares: squares / n, mean: mean / n, least: Math.min(...seen) / n })
`
    const { sum, squares, mean, least } = node({ text }).said[0].claimed
    expect(Math.abs(sum)).toBeLessThan(0.03)
    expect(Math.abs(squares - 1)).toBeLessThan(0.05)
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.01)
    expect(least).toBeGreaterThan(0.09)
  })

  const candidate = `import * as api from './evsys-task.mjs'
console.log('a log', '@evsys is no word of ours here')
if (api.phase === 'train') {
  api.reportCurve(2.5)
  api.reportCurve(Number.NaN)
  process.stdout.write('unfinished')
  api.reportResults({ error_rate: 0.5 })
  api.saveCheckpoint({ add: 3 })
}
await api.onAnswer((x) => x + JSON.parse(api.loadCheckpoint()).add)
api.reportResults({ late: 1 })
`
  it('reports while training, answers afterwards, and nothing else stands on its lines (RES-314)', () => {
    const trained = node({ text: candidate })
    expect(trained.said).toMatchObject([
      { curve: { value: 2.5 } },
      { claimed: { error_rate: 0.5 } },
      { claimed: { late: 1 } },
    ])
    expect(trained.printed).toEqual(['a log @evsys is no word of ours here', 'unfinished'])
    const { dir } = trained
    const input = `${JSON.stringify({ id: 'a', question: 4 })}\n${JSON.stringify({ id: 'b', question: 5 })}\n`
    const answered = node({ text: candidate, dir, input, env: { EVSYS_PHASE: 'answer' } })
    expect(answered).toMatchObject({
      status: 0,
      said: [
        { id: 'a', answer: 7 },
        { id: 'b', answer: 8 },
      ],
    })
  })
})

python.describe('the API of candidates in Python', () => {
  const candidate = `from evsys_task import *
import random, sys, os
print("a log")
os.write(1, b"bytes of a library\\n")
if phase == "train":
    report_curve(2.5)
    report_curve(float("nan"))
    report_results({"error_rate": 0.5, "draw": random.random(), "seed": seed, "left": seconds_left() > 0 and progress() < 1})
    save_checkpoint(b"3")
on_answer(lambda x: x + int(open(checkpoint_path(), "rb").read()))
`
  it('seeds draws, reports while training and answers afterwards (RES-313, RES-314)', () => {
    const trained = py({ text: candidate })
    expect(trained.stderr).toContain('a log')
    expect(trained.printed).toEqual([])
    expect(trained.said).toMatchObject([
      { nonce: 'n', curve: { value: 2.5 } },
      { nonce: 'n', claimed: { error_rate: 0.5, seed: 7, left: 1 } },
    ])
    expect(py({ text: candidate }).said[1]).toEqual(trained.said[1])
    const other = py({ text: candidate, env: { EVSYS_SEED: '', AUTORESEARCH_SEED: '8' } }).said[1].claimed
    expect(other.seed).toBe(8)
    expect(other.draw).not.toBe(trained.said[1].claimed.draw)
    const input = `${JSON.stringify({ id: 'a', question: 4 })}\n`
    const answered = py({ text: candidate, dir: trained.dir, input, env: { EVSYS_PHASE: 'answer' } })
    expect(answered).toMatchObject({ status: 0, said: [{ id: 'a', answer: 7 }] })
  })

  it('refuses to go on without the GPU that it is shown (RES-314)', () => {
    // As a PyTorch without CUDA behaves.
    const torch = `class torch:
    __version__ = "2.0"
    class cuda:
        is_available = staticmethod(lambda: False)
        def init():
            raise AssertionError("Torch not compiled with CUDA enabled")
    class backends: pass
import evsys_task
evsys_task.torch = torch
print(evsys_task.get_device())`
    expect(py({ text: torch }).stderr).toContain('cpu')
    const shown = py({ text: torch, env: { EVSYS_ACCELERATOR: 'NVIDIA H200' } })
    expect(shown.status).toBe(1)
    expect(shown.stderr).toContain('cannot use the NVIDIA H200 here (Torch not compiled with CUDA enabled)')
  })

  it('names the same functions in both languages (RES-314)', () => {
    const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
    const shared = (file: string) => readFileSync(join(bundledTasks, 'shared', file), 'utf8')
    const inPython = [...shared('evsys_task.py').matchAll(/^def ([a-z]\w*)/gm)].map(([, name = '']) => camel(name))
    const inNode = [...shared('evsys-task.mjs').matchAll(/^export (?:async )?function (\w+)/gm)].map(([, name]) => name)
    expect(inPython.filter((name) => !inNode.includes(name))).toEqual(['checkpointPath'])
  })
})
