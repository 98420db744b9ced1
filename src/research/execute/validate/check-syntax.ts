// Whether every file can be read as code, found out in the sandbox by the interpreter that will run it. Nothing of the candidate
// is run for it.
import * as z from 'zod'
import type { CandidateFiles, TaskProgram } from '../../../contracts/index.ts'
import { typescriptFault } from '../../../kernel/index.ts'
import type { CandidateSandbox } from '../candidate-sandbox.ts'
import type { Finding } from './finding.ts'

const javascriptDriver = `
const vm = require('node:vm'), fs = require('node:fs')
const found = []
// Only what nobody catches is told with its line.
const lineOf = (file) => {
  const { stderr } = require('node:child_process').spawnSync(process.execPath, ['--check', './' + file], { encoding: 'utf8' })
  return Number(/^\\S*:(\\d+)$/m.exec(stderr)?.[1] ?? 1)
}
for (const file of JSON.parse(fs.readFileSync(0, 'utf8'))) {
  const text = fs.readFileSync('./' + file, 'utf8').replace(/^#!.*/, '')
  const kinds = file.endsWith('.cjs') ? ['script'] : file.endsWith('.mjs') ? ['module'] : ['module', 'script']
  let first
  for (const kind of kinds) {
    try {
      if (kind === 'module') new vm.SourceTextModule(text, { identifier: 'candidate' })
      else new vm.Script('(function () {' + text + '\\n})', { filename: 'candidate' })
      first = undefined
      break
    } catch (error) {
      first ??= { file, line: lineOf(file), message: String(error.message) }
    }
  }
  if (first !== undefined) found.push(first)
}
process.stdout.write(JSON.stringify(found))
`

const pythonDriver = `
import json, sys
found = []
for file in json.load(sys.stdin):
    try:
        with open("./" + file, "rb") as source:
            compile(source.read(), file, "exec", 0x400, True)
    except (SyntaxError, ValueError) as error:
        found.append({"file": file, "line": getattr(error, "lineno", 1) or 1, "message": getattr(error, "msg", None) or str(error)})
    except (RecursionError, MemoryError):
        found.append({"file": file, "line": 1, "message": "too deeply nested"})
print(json.dumps(found))
`

const Found = z.array(z.object({ file: z.string(), line: z.int().min(1), message: z.string() }))
const timeoutMs = 60_000

export async function checkSyntax(
  held: CandidateSandbox,
  program: TaskProgram,
  files: CandidateFiles,
  signal: AbortSignal,
): Promise<Finding[]> {
  const isPython = program.language === 'python'
  const ending = isPython ? /\.py$/ : /\.(?:js|mjs|cjs)$/
  if (program.language === 'command') return []
  const typed = isPython ? [] : typescriptFindings(files)
  const names = Object.keys(files).filter((name) => ending.test(name))
  if (names.length === 0) return typed
  const python = /^\s*(\S*python[\d.]*)(?=\s)/.exec(program.command)?.[1] ?? 'python3'
  const argv = isPython
    ? [python, '-I', '-c', pythonDriver]
    : ['node', '--no-warnings', '--experimental-vm-modules', '-e', javascriptDriver]
  const result = await held.sandbox.exec({ ...held.spec(timeoutMs), argv, stdin: JSON.stringify(names) }, signal)
  const found = Found.safeParse(parsed(result.stdout))
  // An interpreter that cannot say is no fault of the candidate; its start will tell.
  const told = found.success ? found.data.map((each) => syntaxFinding(each)) : []
  return [...told, ...typed]
}

// No version of Node reads TypeScript that every user has; the parser of plugin files does, and runs nothing.
function typescriptFindings(files: CandidateFiles): Finding[] {
  return Object.entries(files).flatMap(([file, text]) => {
    const fault = /\.[cm]?ts$/.test(file) ? typescriptFault(text) : undefined
    return fault === undefined ? [] : [syntaxFinding({ file, ...fault })]
  })
}

function syntaxFinding({ file, line, message }: { file: string; line: number; message: string }): Finding {
  return { ...{ class: 'syntax', file, line, message }, fix: 'correct the syntax.' }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
