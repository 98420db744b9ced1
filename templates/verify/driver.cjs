const fs = require('node:fs')
const vm = require('node:vm')
const order = JSON.parse(fs.readFileSync(0, 'utf8'))
const write = fs.writeSync
const exit = process.reallyExit.bind(process)
process.stdout.write = () => true
Object.assign(globalThis, { require, assert: require('node:assert/strict'), module: { exports: {} } })
const tell = (error) => (error instanceof Error ? error.name + ': ' + error.message : String(error)).slice(0, 500)
;(async () => {
  let passed = 0
  let reason
  try {
    await vm.runInThisContext(order.answer, 'answer.js')
    for (const [i, test] of order.tests.entries()) {
      try {
        await vm.runInThisContext(test, 'test ' + (i + 1))
        passed += 1
      } catch (error) {
        reason ??= 'test ' + (i + 1) + ': ' + tell(error)
      }
    }
  } catch (error) {
    reason = 'the answer: ' + tell(error)
  }
  write(1, JSON.stringify({ word: order.word, passed, reason }) + '\n')
  exit(0)
})()
