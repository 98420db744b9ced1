// Files that are named in code and lie neither in the data nor in the places that a candidate may write.
import { type CodeFile, matchesIn } from './code-file.ts'
import type { Finding } from './finding.ts'

const javascriptCalls =
  /(?<![\w$])(?:readFile|writeFile|appendFile|copyFile|readdir|readlink|symlink|link|rename|unlink|rm|mkdir|cp|open|opendir|stat|lstat|access|exists|createReadStream|createWriteStream)(?:Sync)?\s*\(\s*(?=['"`])/g
const pythonCalls =
  /(?<![\w])(?:open|listdir|scandir|remove|unlink|rename|symlink|link|mkdir|makedirs|rmtree|copy|copyfile|copytree|load|Path)\s*\(\s*(?=['"])/g

const own = /^\/(?:data|out|tmp|work)(?:\/|$)/
/** What programs read to learn of the machine, and harmless devices. */
const harmless =
  /^\/(?:dev\/(?:null|shm|u?random|stdin|stdout|stderr|fd)\b|proc\/(?:cpuinfo|meminfo|loadavg|stat|uptime|version|self\/(?:status|statm|stat|limits|cgroup|io))$|sys\/(?:fs\/cgroup|devices\/system)\/|etc\/(?:os-release|localtime|timezone)$)/

export function foreignPaths(file: CodeFile): Finding[] {
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
