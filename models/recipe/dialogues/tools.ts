// Tool calls: tools with made-up names and parameters, described in a system message; a request; the call; sometimes the result
// and an answer from it.
import { capital, type Dialogue, type Draw } from './draw.ts'
import { spaced } from './extraction.ts'

export const tools: readonly ((d: Draw) => Dialogue)[] = [call, call, result, none]

type Tool = {
  name: string
  parameters: { name: string; value: (d: Draw) => string | number }[]
  request: (values: (string | number)[], d: Draw) => string
}

const verbs =
  'get find search create delete send open close start stop list book cancel update show add remove check set play order move rename convert'.split(
    ' ',
  )

function tool(d: Draw): Tool {
  const verb = d.pick(verbs)
  const object = d.noun()
  const parameters = d
    .some(parameterKinds, d.int(1, 3))
    .map((kind) => ({ ...kind, name: d.chance(0.75) ? kind.name : d.noun() }))
  return {
    name: d.pick([`${verb}_${object}`, `${verb}${capital(object)}`, `${object}.${verb}`, `${object}_${verb}`]),
    parameters,
    request: (values, d) => {
      const parts = parameters.map(({ name }, at) =>
        d.pick([
          `${name} ${values[at]}`,
          `${name}: ${values[at]}`,
          `the ${name} is ${values[at]}`,
          `with ${name} ${values[at]}`,
        ]),
      )
      return d.pick([
        `${capital(verb)} the ${object}, ${parts.join(', ')}.`,
        `Please ${verb} a ${object} (${parts.join(', ')}).`,
        `I need to ${verb} the ${object}: ${parts.join('; ')}.`,
        `Can you ${verb} my ${object} ${parts.join(' and ')}?`,
        `${capital(object)}: ${verb} it, ${parts.join(', ')}`,
      ])
    },
  }
}

const parameterKinds: { name: string; value: (d: Draw) => string | number }[] = [
  { name: 'city', value: (d) => d.city() },
  { name: 'name', value: (d) => d.fullName() },
  { name: 'count', value: (d) => d.int(1, 99) },
  { name: 'query', value: (d) => `${d.adjective()} ${d.noun()}` },
  { name: 'id', value: (d) => d.code() },
  { name: 'to', value: (d) => d.email() },
  { name: 'time', value: (d) => d.time() },
  { name: 'title', value: (d) => d.thing() },
  { name: 'limit', value: (d) => d.int(1, 500) },
  { name: 'colour', value: (d) => d.adjective() },
  { name: 'path', value: (d) => `/${d.noun()}/${d.noun()}.${d.pick(['txt', 'md', 'csv'])}` },
]

function listed(d: Draw, all: readonly Tool[]): string {
  const style = d.int(0, 2)
  const lines = all.map(({ name, parameters }) => {
    const names = parameters.map((parameter) => parameter.name)
    if (style === 0) return `- ${name}(${names.join(', ')})`
    if (style === 1) return spaced({ name, parameters: names })
    return `${name}: ${names.join(', ')}`
  })
  return `${d.pick(['You have these tools:', 'Tools:', 'Call one of these functions when it helps.', 'Available functions:'])}\n${lines.join('\n')}`
}

function call(d: Draw): Dialogue {
  const all = Array.from({ length: d.int(1, 4) }, () => tool(d))
  const used = d.pick(all)
  const values = used.parameters.map(({ value }) => value(d))
  return [
    { role: 'system', content: listed(d, all) },
    { role: 'user', content: used.request(values, d) },
    {
      role: 'assistant',
      content: '',
      tool_calls: [
        {
          type: 'function',
          function: {
            name: used.name,
            arguments: Object.fromEntries(used.parameters.map(({ name }, at) => [name, values[at]])),
          },
        },
      ],
    },
  ]
}

function result(d: Draw): Dialogue {
  const key = d.noun()
  const value = d.pick([d.city(), String(d.number()), d.adjective(), d.code(), d.thing()])
  const done = d.pick([
    { content: spaced({ [key]: value }), said: `The ${key} is ${value}.` },
    {
      content: spaced({ status: 'ok', [key]: value }),
      said: d.pick([`Done. The ${key} is ${value}.`, `It worked: ${key} ${value}.`]),
    },
    {
      content: spaced({ error: `no such ${key}` }),
      said: d.pick([`That did not work: no such ${key}.`, `Sorry, there is no such ${key}.`]),
    },
  ])
  return [...call(d), { role: 'tool', content: done.content }, { role: 'assistant', content: done.said }]
}

function none(d: Draw): Dialogue {
  const all = Array.from({ length: d.int(1, 3) }, () => tool(d))
  const name = d.firstName()
  return [
    { role: 'system', content: listed(d, all) },
    {
      role: 'user',
      content: d.pick([
        `Hello, I am ${name}.`,
        `Thank you, that is all. ${name}`,
        'Good morning!',
        `My name is ${name}. What can you do?`,
      ]),
    },
    {
      role: 'assistant',
      content: d.pick([
        `Hello! I can use ${all.map((each) => each.name).join(', ')}.`,
        `Hello. What shall I do? I have ${all.map((each) => each.name).join(', ')}.`,
      ]),
    },
  ]
}
