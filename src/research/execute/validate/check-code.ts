// Everything that reading tells about a candidate. An early and clear answer, not the defence: honest code must pass it whole.
import type { CandidateFiles, TaskProgram } from '../../../contracts/index.ts'
import { type CodeFile, codeFile } from './code-file.ts'
import type { Finding } from './finding.ts'
import { forbiddenCode } from './forbidden-code.ts'
import { foreignPaths } from './foreign-paths.ts'
import { javascriptImports } from './javascript-imports.ts'
import { pythonImports } from './python-imports.ts'

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
  for (const file of code) {
    findings.push(...(language === 'javascript' ? javascriptImports(file, known) : pythonImports(file, known)))
    findings.push(
      ...forbiddenCode(
        file,
        apiModules.filter((name) => /^\w+$/.test(name)),
      ),
    )
    findings.push(...foreignPaths(file))
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
