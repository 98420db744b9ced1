// Programs that load an answer and try its tests, each in turn, in one interpreter. Orders come by stdin and are read before the
// answer runs; what it prints is dropped. How many tests passed is reported together with a word that the answer was not given, so
// that an answer which ends the process early has passed none. It shares the interpreter with its tests all the same: code that
// goes looking for the word finds it.

export const pythonDriver = `
import json, os, sys
def main():
    order = json.loads(sys.stdin.buffer.read())
    out = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    passed, reason = 0, None
    scope = {'__name__': 'answer', '__builtins__': __builtins__}
    try:
        exec(compile(order['answer'], 'answer.py', 'exec'), scope)
        for i, test in enumerate(order['tests']):
            try:
                exec(compile(test, 'test %d' % (i + 1), 'exec'), scope)
                passed += 1
            except BaseException as error:
                reason = reason or 'test %d: %s: %s' % (i + 1, type(error).__name__, error)
    except BaseException as error:
        reason = 'the answer: %s: %s' % (type(error).__name__, error)
    told = json.dumps({'word': order['word'], 'passed': passed, 'reason': reason and reason[:500]})
    os.write(out, (told + '\\n').encode())
    os._exit(0)
main()
`

export const javascriptDriver = `
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
  write(1, JSON.stringify({ word: order.word, passed, reason }) + '\\n')
  exit(0)
})()
`
