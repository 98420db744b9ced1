// Everything that reading shows of a candidate: its files, its imports and calls, paths that it names. An early and clear answer, not the
// defence: honest code must pass it.
import type { CandidateFiles, ResearchTask, TaskProgram } from '../../../contracts/index.ts'
import { matchesGlob } from '../../tasks/task-files.ts'
import { javascriptImports, pythonImports } from './candidate-imports.ts'
import { type CodeFile, codeFile, type Finding, matchesIn } from './code-file.ts'
import { forbiddenCode } from './forbidden-code.ts'

export function checkCode(program: TaskProgram, files: CandidateFiles): Finding[] {
  const findings: Finding[] = []
  if (program.language === 'command') return findings
  const language = program.language === 'node' ? 'javascript' : 'python'
  const code = Object.entries(files)
    .map(([path, text]) => codeFile(path, text))
    .filter((file) => file?.language === language)
    .filter((file) => file !== undefined)
  const known = { files: new Set([...Object.keys(files), ...Object.keys(program.api)]), packages: program.packages }
  const apiModules = Object.keys(program.api).map((name) => name.replace(/\.\w+$/, ''))
  const plain = apiModules.filter((name) => /^\w+$/.test(name))
  for (const file of code) {
    findings.push(...(language === 'javascript' ? javascriptImports(file, known) : pythonImports(file, known)))
    findings.push(...forbiddenCode(file, plain), ...foreignPaths(file))
  }
  return [...findings, ...missingCalls(code, program)]
}

const imports =
  /^[ \t]*(?:import\b[^;=(]{0,2000}?(?:from\s*)?['"][^'"]*['"]|from[ \t]+[.\w]+[ \t]+import[ \t]+(?:\([^)]{0,2000}\)|[^\n]*)|import[ \t][^\n'"]*$)/gm

function missingCalls(code: readonly CodeFile[], program: TaskProgram): Finding[] {
  if (program.requiredCalls.length === 0) return []
  const used = code.map((file) => file.code.replace(imports, '')).join('\n')
  return program.requiredCalls
    .filter((name) => !new RegExp(`(?<![\\w$])${name.replace(/\W/g, '\\$&')}(?![\\w$])`).test(used))
    .map((name) => ({
      class: 'validation' as const,
      message: `the candidate never calls ${name} of the API`,
      fix: `import it from ${Object.keys(program.api).join(', ')} and call it.`,
    }))
}

// Which files a candidate may hold: inside its folder, in scope, not off limits, not in place of what is fixed, not too large.
const mostFiles = 200
const largestFile = 1_000_000
const largestCandidate = 4_000_000

/** What is wrong with names and sizes. Contents are not read. */
export function checkFiles(task: ResearchTask, program: TaskProgram, files: CandidateFiles): Finding[] {
  const findings: Finding[] = []
  const say = (file: string | undefined, message: string, fix: string, kind: Finding['class'] = 'validation') =>
    findings.push({ class: kind, file: file === undefined ? undefined : shortName(file), message, fix })
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

// Files that are named in code and lie neither in the data nor in the places that a candidate may write.
const javascriptCalls =
  /(?<![\w$])(?:readFile|writeFile|appendFile|copyFile|readdir|readlink|symlink|link|rename|unlink|rm|mkdir|cp|open|opendir|stat|lstat|access|exists|createReadStream|createWriteStream)(?:Sync)?\s*\(\s*(?=['"`])/g
const pythonCalls =
  /(?<![\w])(?:open|listdir|scandir|remove|unlink|rename|symlink|link|mkdir|makedirs|rmtree|copy|copyfile|copytree|load|Path)\s*\(\s*(?=['"])/g

const own = /^\/(?:data|out|tmp|work)(?:\/|$)/
/** What programs read to learn of the machine, and harmless devices. */
const harmless =
  /^\/(?:dev\/(?:null|shm|u?random|stdin|stdout|stderr|fd)\b|proc\/(?:cpuinfo|meminfo|loadavg|stat|uptime|version|self\/(?:status|statm|stat|limits|cgroup|io))$|sys\/(?:fs\/cgroup|devices\/system)\/|etc\/(?:os-release|localtime|timezone)$)/

function foreignPaths(file: CodeFile): Finding[] {
  const calls = file.language === 'javascript' ? javascriptCalls : file.language === 'python' ? pythonCalls : undefined
  if (calls === undefined) return []
  return [...matchesIn(file, calls)].flatMap((match) => {
    const path = file.literalAt(match.index + match[0].length)
    if (path === undefined || !isForeign(path)) return []
    return [
      {
        class: 'validation' as const,
        file: file.path,
        line: file.lineAt(match.index),
        message: `it names the file ${JSON.stringify(path.slice(0, 60))}, which is not the candidate's`,
        fix: 'read from EVSYS_DATA, write to EVSYS_OUT, both by the API.',
      },
    ]
  })
}

function isForeign(path: string): boolean {
  if (path.startsWith('/')) return !own.test(path) && !harmless.test(path)
  return path.startsWith('../../')
}
