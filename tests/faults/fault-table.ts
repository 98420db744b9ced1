// What happens when something that evsys depends on is absent, slow, dies or answers nonsense. The test beside it makes every row
// happen; docs/reference/faults.md is generated from it.
import type { ErrorCode } from '../../src/contracts/index.ts'

export interface Fault {
  readonly part: string
  readonly fault: 'absent' | 'slow' | 'dies' | 'nonsense'
  /** What is wrong, in a few words. */
  readonly what: string
  readonly command: 'run' | 'eval'
  /** On stderr while it waits; in a row that never ends by itself the first signal follows. */
  readonly waits?: string | undefined
  readonly ends:
    | {
        readonly exit: 0 | 1 | 2
        /** Of the error in text and JSON; absent: there is none, and `says` stands in the conclusion. */
        readonly code?: ErrorCode | undefined
        readonly says: string
        readonly run: 'none' | 'completed' | 'failed'
      }
    | 'on the first signal'
}

const onSignal = 'on the first signal'
const refused = (code: ErrorCode, says: string): Fault['ends'] => ({ exit: 2, code, says, run: 'none' })
const failed = (code: ErrorCode, says: string): Fault['ends'] => ({ exit: 1, code, says, run: 'failed' })
const unscored = (says: string, code: ErrorCode = 'PLUGIN_FAILED'): Fault['ends'] => {
  return { exit: 1, code, says, run: 'none' }
}

type Cell = readonly [fault: Fault['fault'], what: string, waits: string | undefined, ends: Fault['ends']]

const parts: Readonly<Record<string, { readonly command: Fault['command']; readonly cells: readonly Cell[] }>> = {
  trainer: {
    command: 'run',
    cells: [
      ['absent', 'nothing listens at TINKER_BASE_URL', 'no answer from http', failed('BACKEND_FAILED', 'ECONNREFUSED')],
      ['slow', 'it takes connections and never answers', 'no answer from http', failed('BACKEND_FAILED', 'no answer')],
      ['dies', 'its connections break in the middle of a run', 'reconnecting for up to', onSignal],
      ['nonsense', 'it answers with a web page', undefined, failed('BACKEND_FAILED', 'the answer is not JSON')],
    ],
  },
  judge: {
    command: 'eval',
    cells: [
      ['absent', 'nothing listens at its base_url', 'attempt 1 of', unscored('the connection to http')],
      ['slow', 'it takes connections and never answers', 'still at it after', onSignal],
      ['dies', 'its answers break off', 'attempt 1 of', unscored('no answer could be scored')],
      [
        'nonsense',
        'it gives no verdict, however often it is asked',
        undefined,
        unscored('gave no verdict in the form'),
      ],
    ],
  },
  'model behind an API': {
    command: 'eval',
    cells: [
      ['absent', 'nothing listens at its base_url', 'attempt 1 of', unscored('the connection to http')],
      ['slow', 'it takes connections and never answers', 'still at it after', onSignal],
      ['dies', 'its answers break off', 'attempt 1 of', unscored('no answer could be scored')],
      ['nonsense', 'it answers with a web page', 'attempt 1 of', unscored('the answer is not whole JSON')],
    ],
  },
  'model beside the arms': {
    command: 'run',
    cells: [
      [
        'absent',
        'nothing listens at its base_url',
        'has no score on val',
        { exit: 0, says: 'has no score', run: 'completed' },
      ],
      ['slow', 'it takes connections and never answers', 'no answer to val for', onSignal],
    ],
  },
  'agent in TypeScript': {
    command: 'run',
    cells: [
      ['absent', 'no plugin is called so', undefined, refused('PLUGIN_UNKNOWN', 'no agent is called')],
      ['slow', 'it never returns', 'no answer of agent "broken" for', onSignal],
      ['dies', 'it ends its process', undefined, failed('WORKER_DIED', 'process.exit')],
      ['nonsense', 'it returns no text', undefined, failed('PLUGIN_FAILED', 'it returned no { output } with a text')],
    ],
  },
  'agent in Python': {
    command: 'run',
    cells: [
      ['absent', 'there is no such module', undefined, failed('PLUGIN_LOAD', "No module named 'lost'")],
      ['slow', 'it sleeps', 'no answer of agent "python" for', onSignal],
      ['dies', 'it ends its interpreter', undefined, failed('PLUGIN_FAILED', 'it ended without a word')],
      ['nonsense', 'it writes what is no message', undefined, failed('PLUGIN_FAILED', 'is no message')],
    ],
  },
  'agent that is a program': {
    command: 'run',
    cells: [
      ['absent', 'there is no such program', undefined, failed('PLUGIN_FAILED', 'spawn no-such-program ENOENT')],
      ['slow', 'it sleeps', 'no answer of agent "cli" for', onSignal],
      ['dies', 'a signal ends it', undefined, failed('PLUGIN_FAILED', 'was ended by SIGKILL')],
      ['nonsense', 'it fails and prints bytes that are no text', undefined, failed('PLUGIN_FAILED', 'ended with 3')],
    ],
  },
  'Python interpreter': {
    command: 'run',
    cells: [
      [
        'absent',
        '`python` names no program',
        undefined,
        failed('PLUGIN_LOAD', 'there is no no-such-python on the PATH'),
      ],
      ['slow', 'it never starts the agent', 'no answer of agent "python" for', onSignal],
      ['dies', 'it ends at once', undefined, failed('PLUGIN_FAILED', 'it ended without a word')],
      ['nonsense', 'it is another program', undefined, failed('PLUGIN_FAILED', 'is no message')],
    ],
  },
  'plugin file': {
    command: 'run',
    cells: [
      ['absent', '`plugins` names a file that is not there', undefined, refused('PLUGIN_LOAD', 'lost.ts')],
      ['slow', 'loading it never ends', 'still at it after', onSignal],
      ['dies', 'loading it ends the process', undefined, refused('PLUGIN_LOAD', 'broken.ts')],
      ['nonsense', 'it exports a number', undefined, refused('PLUGIN_INVALID', 'broken.ts')],
    ],
  },
  verifier: {
    command: 'eval',
    cells: [
      [
        'absent',
        'no plugin is called so',
        undefined,
        { exit: 2, code: 'PLUGIN_UNKNOWN', says: 'no verifier is called', run: 'none' },
      ],
      ['slow', 'it never returns', 'still at it after', onSignal],
      ['dies', 'it ends its process', undefined, unscored('no answer could be scored')],
      ['nonsense', 'it returns no number', undefined, unscored('returned no finite number')],
    ],
  },
  'data file': {
    command: 'run',
    cells: [
      ['absent', '`path` names no file', undefined, refused('CONFIG_PATH', 'train.jsonl')],
      ['slow', 'it is a pipe that no one writes to', undefined, refused('CONFIG_PATH', 'train.jsonl')],
      ['dies', 'it ends in the middle of a row', undefined, failed('DATA_INVALID', 'train.jsonl')],
      ['nonsense', 'it holds bytes that are no text', undefined, refused('DATA_INVALID', 'train.jsonl')],
    ],
  },
  disk: {
    command: 'run',
    cells: [
      ['absent', '`output_dir` lies below a file', undefined, refused('CONFIG_PATH', 'taken is no folder')],
      ['dies', 'it becomes full', undefined, failed('FILE_FAILED', 'no space is left on the disk')],
    ],
  },
  record: {
    command: 'run',
    cells: [
      ['absent', '`.evsys` is a file', undefined, { exit: 1, code: 'FILE_FAILED', says: '.evsys', run: 'none' }],
      ['slow', 'another process keeps it locked', 'another process has been writing to the record', onSignal],
      [
        'nonsense',
        'evsys.db is no database',
        undefined,
        { exit: 1, code: 'STORE_FAILED', says: 'evsys.db', run: 'none' },
      ],
    ],
  },
}

/** Every row, in the order of the page. */
export const faults: readonly Fault[] = Object.entries(parts).flatMap(([part, { command, cells }]) =>
  cells.map(([fault, what, waits, ends]) => ({ part, fault, what, command, waits, ends })),
)

export const faultName = ({ part, fault }: Pick<Fault, 'part' | 'fault'>) => `${part}, ${fault}`
