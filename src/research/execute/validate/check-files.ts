// Which files a candidate may hold: inside its folder, in scope, not off limits, not in place of what is fixed, not too large.
import type { CandidateFiles, ResearchTask, TaskProgram } from '../../../contracts/index.ts'
import { matchesGlob } from '../../tasks/match-glob.ts'
import type { Finding } from './finding.ts'

const mostFiles = 200
const largestFile = 1_000_000
const largestCandidate = 4_000_000

/** What is wrong with names and sizes. Contents are not looked at. */
export function checkFiles(task: ResearchTask, program: TaskProgram, files: CandidateFiles): Finding[] {
  const findings: Finding[] = []
  const say = (file: string | undefined, message: string, fix: string, kind: Finding['class'] = 'validation') =>
    findings.push({ class: kind, ...(file === undefined ? {} : { file: shortName(file) }), message, fix })
  const names = Object.keys(files)
  if (names.length === 0) say(undefined, 'the candidate has no file', `write ${task.scope.join(', ')}.`)
  if (names.length > mostFiles)
    say(undefined, `the candidate has ${names.length} files`, `keep it to ${mostFiles} at most.`)
  let total = 0
  for (const [name, text] of Object.entries(files)) {
    const size = Buffer.byteLength(text)
    total += size
    if (size > largestFile)
      say(name, `the file has ${size} bytes`, `keep code below ${largestFile} bytes, and learned values out of it.`)
    if (!isPlain(name))
      say(name, 'this is no path inside the candidate', 'name files by relative paths, such as lib/net.mjs.')
    else if (names.some((other) => name.startsWith(`${other}/`)))
      say(name, 'a folder of its path is a file of the candidate', 'give one of them another name.')
    else if (Object.keys(program.api).some((fixed) => overlap(name, fixed)))
      say(name, 'the API module is fixed', 'leave it out of the candidate, and import from it.', 'tamper')
    else if (matchesGlob(name, task.offLimits))
      say(name, 'no candidate may change this file', `leave it out; in scope are ${task.scope.join(', ')}.`, 'tamper')
    else if (!matchesGlob(name, task.scope))
      say(name, 'the file is not in scope', `in scope are ${task.scope.join(', ')}.`)
  }
  if (total > largestCandidate) say(undefined, `the candidate has ${total} bytes`, `keep it below ${largestCandidate}.`)
  return findings
}

/** Whether it can be written below a folder without leaving it, on any system. */
function isPlain(path: string): boolean {
  if (path === '' || path.length > 200 || /[\\\0]|[\p{Cc}]/u.test(path) || path.startsWith('/')) return false
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && Buffer.byteLength(part) < 200)
}

/** One is the other, or lies below it. */
const overlap = (a: string, b: string) => `${a}/`.startsWith(`${b}/`) || b.startsWith(`${a}/`)

const shortName = (path: string) => (path.length > 80 ? `${path.slice(0, 80)}…` : path)
