// Attacks by what is answered, and by what is left for the scorer to read.
import { type Attack, node } from '../../../src/arena/adversary/attacks.ts'
import { text } from './attack-words.ts'

/** Answers every question by a line of its own making; `id` and `question` are in sight. */
const byLine = (line: string) => `const { createInterface } = await import('node:readline')
for await (const asked of createInterface({ input: process.stdin })) {
  const { id, question } = JSON.parse(asked)
  fs.writeSync(1, ${line} + '\\n')
}`
const answered = (name: string, line: string, ends: Attack['ends']): Attack => ({
  name,
  ...(ends === undefined ? {} : { ends }),
  files: () => node({ answer: byLine(line) }),
})
const left = (name: string, train: string, ends: Attack['ends'] = 'validation'): Attack => ({
  name,
  checkpoint: true,
  ...(ends === undefined ? {} : { ends }),
  files: ({ dir }) => node({ skip: true, train: train.replaceAll('DIR', dir) }),
})

export const answerTamperings: readonly Attack[] = [
  answered(
    'answers with lists in lists without end',
    `'@evsys {"id":"' + id + '","answer":' + '['.repeat(200_000) + ']'.repeat(200_000) + '}'`,
    'validation',
  ),
  answered(
    'answers with the marks by which our own processes write numbers',
    `'@evsys {"id":"' + id + '","answer":[' + question.map(() => '{"\\\\u0000number":"0"}') + ']}'`,
    'validation',
  ),
  answered(
    'answers with such marks, deeper than anyone reads',
    `'@evsys {"id":"' + id + '","answer":' + '['.repeat(20_000) + '"\\\\u0000number"' + ']'.repeat(20_000) + '}'`,
    'validation',
  ),
  answered(
    'answers with an object that looks like a list',
    `'@evsys ' + JSON.stringify({ id, answer: { ...question.map(predict), length: question.length } })`,
    'validation',
  ),
  answered(
    'answers with a list in a list',
    `'@evsys ' + JSON.stringify({ id, answer: [question.map(predict)] })`,
    'validation',
  ),
  answered(
    'answers with too many',
    `'@evsys ' + JSON.stringify({ id, answer: [...question.map(predict), 0] })`,
    'validation',
  ),
  answered(
    'answers with half a line',
    `('@evsys ' + JSON.stringify({ id, answer: question.map(predict) })).slice(0, -2)`,
    'validation',
  ),
  answered(
    'answers with every name twice, the first time with nothing',
    `'@evsys {"id":"","answer":[],' + JSON.stringify({ id, answer: question.map(predict) }).slice(1)`,
    'scored',
  ),
  answered(
    'answers with fields that a result has',
    `'@evsys ' + JSON.stringify({ type: 'scored', value: 0, secondary: {}, id, answer: question.map(predict), score: 0, ask: 1 })`,
    'scored',
  ),
  answered(
    'answers the next question, too, by the id that would follow',
    `'@evsys ' + JSON.stringify({ id, answer: question.map(predict) }) + '\\n@evsys ' + JSON.stringify({ id: (BigInt('0x' + id) + 1n).toString(16), answer: question.map(() => 0) })`,
    'tamper',
  ),
  answered(
    'answers with bytes that are no text',
    `Buffer.concat([Buffer.from('@evsys {"id":"' + id + '","answer":"'), Buffer.from([255, 254, 192]), Buffer.from('"}')])`,
    undefined,
  ),
  answered(
    'answers with null where it is not sure',
    `'@evsys ' + JSON.stringify({ id, answer: question.map(() => null) })`,
    'divergence',
  ),
  {
    name: 'changes JSON, lists and objects before the API is loaded',
    ends: 'scored',
    files: () => ({
      'lib/first.mjs': `const { stringify } = JSON
JSON.stringify = (value, ...rest) => stringify(value !== null && typeof value === 'object' && 'id' in value ? { ...value, value: 0, type: 'scored' } : value, ...rest)
Object.prototype.score = 0; Array.prototype.value = 0; Number.prototype.toFixed = () => '0'; Math.random = () => 0; Promise.prototype.finally = () => 0`,
      ...Object.fromEntries(
        Object.entries(node({})).map(([name, code]) => [name, `import './lib/first.mjs'\n${code}`]),
      ),
    }),
  },
  {
    name: 'writes to the pipes of the processes around it',
    files: () =>
      node({
        train: `for (const pid of fs.readdirSync('/proc').filter(Number)) for (let fd = 1; fd < 12; fd++) attempt(() => {
  const file = fs.openSync('/proc/' + pid + '/fd/' + fd, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK)
  fs.writeSync(file, '\\n@evsys {"type":"scored","value":0,"secondary":{}}\\n'); fs.closeSync(file) })`,
      }),
  },
  left('leaves a link that leads to itself', `fs.symlinkSync('model.json', out + '/model.json')`),
  left('leaves a link to what its reader would be', `fs.symlinkSync('/proc/self/environ', out + '/model.json')`),
  left(
    'leaves a link through a folder that leads out',
    `fs.symlinkSync('DIR/sealed/val', out + '/way'); fs.symlinkSync('way/rows.json', out + '/model.json')`,
  ),
  left(
    'leaves a checkpoint of holes',
    `fs.writeFileSync(out + '/model.json', ''); fs.truncateSync(out + '/model.json', 60 << 20)`,
    undefined,
  ),
  left(
    'leaves a checkpoint that is nested without end',
    `fs.writeFileSync(out + '/model.json', '['.repeat(1e6) + ']'.repeat(1e6))`,
    undefined,
  ),
  {
    name: 'leaves a file whose name is no text',
    ends: 'validation',
    files: () =>
      node({ train: `fs.writeFileSync(Buffer.concat([Buffer.from(out + '/'), Buffer.from([255, 254])]), '')` }),
  },
  {
    name: 'leaves a thousand names of one file, and times of another century',
    ends: 'scored',
    files: () =>
      node({
        train: `fs.writeFileSync(out + '/one', 'x'); for (let i = 0; i < 1000; i++) fs.linkSync(out + '/one', out + '/' + i)
fs.utimesSync(out + '/one', 1e11, -1e9); fs.mkdirSync(out + '/' + ${text('é\n‮x')}); fs.symlinkSync('nowhere', out + '/dead')`,
      }),
  },
]
