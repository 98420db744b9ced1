// Prints what is wrong with the syntax of the files that it reads the names of, one candidate's, as JSON. Run by `node -e`.
const vm = require('node:vm'),
  fs = require('node:fs')
const found = []
// Only what is not caught is reported with its line.
const lineOf = (file) => {
  const { stderr } = require('node:child_process').spawnSync(process.execPath, ['--check', './' + file], {
    encoding: 'utf8',
  })
  return Number(/^\S*:(\d+)$/m.exec(stderr)?.[1] ?? 1)
}
for (const file of JSON.parse(fs.readFileSync(0, 'utf8'))) {
  const text = fs.readFileSync('./' + file, 'utf8').replace(/^#!.*/, '')
  const kinds = file.endsWith('.cjs') ? ['script'] : file.endsWith('.mjs') ? ['module'] : ['module', 'script']
  let first
  for (const kind of kinds) {
    try {
      if (kind === 'module') new vm.SourceTextModule(text, { identifier: 'candidate' })
      else new vm.Script('(function () {' + text + '\n})', { filename: 'candidate' })
      first = undefined
      break
    } catch (error) {
      first ??= { file, line: lineOf(file), message: String(error.message) }
    }
  }
  if (first !== undefined) found.push(first)
}
process.stdout.write(JSON.stringify(found))
