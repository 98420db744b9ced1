// Code that no candidate needs and that its score must not rest on. Found by reading, so that its author hears of it early and
// with the line; what hides from reading meets the sandbox and the sealed scorer.

import { isDefinition } from './candidate-imports.ts'
import { type CodeFile, type Finding, matchesIn } from './code-file.ts'

interface Rule {
  readonly class: Finding['class']
  /** Looked for in code, with comments and texts blanked. */
  readonly pattern: RegExp
  readonly message: string
  readonly fix: string
  /** Whether a match is harmless. */
  spare?: ((file: CodeFile, match: RegExpExecArray) => boolean) | undefined
}

const useApi = 'the seed comes from the API; draw from its generator.'
const clock = {
  class: 'tamper',
  message: 'it replaces a clock or timer',
  fix: 'leave the clock alone: the budget is kept outside.',
} as const
const generated = { class: 'validation', message: 'it runs text as code', fix: 'write the code out.' } as const
const reseeds = { class: 'tamper', message: 'it changes the seed of the run', fix: useApi } as const

/** What is called is a function of the candidate's own of that name. */
const isOwn = (name: string) => (file: CodeFile, match: RegExpExecArray) =>
  new RegExp(
    `\\b(?:function\\*?|const|let|var|class|def)\\s+${name}\\b|[{(,]\\s*${name}\\s*[,})=]|\\bas\\s+${name}\\b`,
  ).test(file.code) || isDefinition(file.code, match.index + match[0].lastIndexOf('('))

/** The text in brackets or parentheses after the match is a variable of the run. */
const otherVariable = (file: CodeFile, match: RegExpExecArray) => {
  const name = file.literalAt(match.index + match[0].length)
  return name === undefined || !/^(?:EVSYS|AUTORESEARCH)_/.test(name)
}

const javascript: readonly Rule[] = [
  { ...generated, pattern: /(?<![.\w$])eval\s*\(/g, spare: isOwn('eval') },
  { ...generated, pattern: /\bnew\s+Function\s*\(/g },
  {
    class: 'validation',
    pattern: /(?<![.\w$])(?:(?:globalThis|global)\s*\.\s*)?process\s*\.\s*(?:kill|binding|_linkedBinding|dlopen)\s*\(/g,
    message: 'it reaches for other processes or for native code',
    fix: 'do without it.',
  },
  {
    class: 'validation',
    pattern: /(?<![.\w$])fetch\s*\(|\bnew\s+(?:WebSocket|EventSource|XMLHttpRequest)\b/g,
    message: 'it uses the network, which candidates do not have',
    fix: 'use the data of the API.',
    spare: isOwn('fetch'),
  },
  {
    ...reseeds,
    pattern:
      /(?<![.\w$])(?:(?:globalThis|global)\s*\.\s*)?process\s*\.\s*env\s*\.\s*(?:EVSYS|AUTORESEARCH)_\w+\s*(?:[?|&]{2})?=(?![=>])/g,
  },
  { ...reseeds, pattern: /\bdelete\s+process\s*\.\s*env\s*\.\s*(?:EVSYS|AUTORESEARCH)_\w+/g },
  {
    ...reseeds,
    pattern:
      /(?<![.\w$])(?:(?:globalThis|global)\s*\.\s*)?process\s*\.\s*env\s*\[\s*(?=['"`][^\]]*\]\s*(?:[?|&]{2})?=(?![=>]))/g,
    spare: otherVariable,
  },
  {
    ...clock,
    pattern:
      /(?<![.\w$])(?:(?:globalThis|global)\s*\.\s*)?(?:Date\s*\.\s*now|performance\s*\.\s*now|process\s*\.\s*(?:hrtime|uptime)(?:\s*\.\s*bigint)?)\s*=(?![=>])/g,
  },
  {
    ...clock,
    pattern:
      /\b(?:globalThis|global)\s*\.\s*(?:Date|performance|set(?:Timeout|Interval|Immediate)|clear\w+)\s*=(?![=>])/g,
  },
  { ...clock, pattern: /\bObject\s*\.\s*defineProperty\s*\(\s*(?:Date|performance|process)\b/g },
]

const python: readonly Rule[] = [
  { ...generated, pattern: /(?<![.\w])(?<!def\s)(?:eval|exec|__import__)\s*\(/g },
  {
    class: 'validation',
    pattern: /\bos\s*\.\s*(?:system|popen|fork|forkpty|kill|killpg|exec\w+|spawn\w+|posix_spawn\w*)\s*\(/g,
    message: 'it starts or ends processes',
    fix: 'do without it; threads and multiprocessing are allowed.',
  },
  {
    class: 'validation',
    pattern: /\bimport_module\s*\(\s*(?!['"])/g,
    message: 'a module is chosen while the candidate runs',
    fix: 'import modules by their name.',
    spare: (file, match) => file.code.slice(Math.max(0, match.index - 5), match.index).includes('def'),
  },
  { ...reseeds, pattern: /\bos\s*\.\s*environ\s*\[\s*(?=['"][^\]]*\]\s*=(?!=))/g, spare: otherVariable },
  {
    ...reseeds,
    pattern: /\bos\s*\.\s*(?:environ\s*\.\s*(?:pop|setdefault)|putenv|unsetenv)\s*\(\s*(?=['"])/g,
    spare: otherVariable,
  },
  {
    ...reseeds,
    pattern:
      /(?<![.\w])(?:torch\s*\.\s*(?:cuda\s*\.\s*)?manual_seed(?:_all)?|(?:np|numpy)\s*\.\s*random\s*\.\s*seed|random\s*\.\s*seed)\s*\(\s*\d+\s*\)/g,
  },
  { ...clock, pattern: /(?<![.\w])time\s*\.\s*(?:time|monotonic|perf_counter|process_time)(?:_ns)?\s*=(?!=)/g },
  { ...clock, pattern: /\bsetattr\s*\(\s*time\s*,/g },
  {
    class: 'tamper',
    pattern: /\bsys\s*\.\s*modules\s*\[[^\]]*\]\s*=(?!=)/g,
    message: 'it puts a module in the place of another',
    fix: 'import modules as they are.',
  },
]

/** `apiModules`: names by which Python candidates import the API. */
export function forbiddenCode(file: CodeFile, apiModules: readonly string[]): Finding[] {
  const rules =
    file.language === 'javascript' ? javascript : file.language === 'python' ? [...python, ...patches(apiModules)] : []
  return rules.flatMap(({ pattern, spare, message, fix, class: kind }) =>
    [...matchesIn(file, pattern)]
      .filter((match) => spare?.(file, match) !== true)
      .map((match) => ({ class: kind, file: file.path, line: file.lineAt(match.index), message, fix })),
  )
}

function patches(apiModules: readonly string[]): Rule[] {
  return apiModules.map((name) => ({
    class: 'tamper',
    pattern: new RegExp(`(?<![.\\w])(?:${name}\\s*\\.\\s*\\w+\\s*=(?!=)|setattr\\s*\\(\\s*${name}\\s*,)`, 'g'),
    message: 'it replaces a part of the API',
    fix: 'write a function of your own beside it.',
  }))
}
