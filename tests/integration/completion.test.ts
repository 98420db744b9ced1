// Real shells press <Tab>: the scripts of `evsys completion` in bash, zsh and fish.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { needs } from '../needs.ts'
import { completedWords, leaveLine, openShell, type ShellSession } from './shell-session.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'evsys-completion-')))
const work = join(folder, 'work')
const bin = join(folder, 'bin')
const env = { HOME: folder, PATH: `${bin}${delimiter}${process.env.PATH}`, INPUTRC: '/dev/null', LC_ALL: 'C.UTF-8' }

beforeAll(() => {
  mkdirSync(bin)
  writeFileSync(join(bin, 'evsys'), `#!/bin/sh\nexec '${process.execPath}' '${root}bin/evsys.js' "$@"\n`)
  chmodSync(join(bin, 'evsys'), 0o755)
  mkdirSync(join(work, 'my lab'), { recursive: true })
  writeFileSync(join(work, 'my lab', 'plan.yaml'), '')
  writeFileSync(join(work, 'other.yml'), '')
  writeFileSync(join(work, 'notes.txt'), '')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const present = (program: string) =>
  needs(program, () => spawnSync(program, ['--version']).error === undefined || 'it is not installed')

/** What every shell with line editing has to do. */
function describeShell(open: () => Promise<ShellSession>): void {
  let shell: ShellSession
  beforeAll(async () => {
    shell = await open()
  })
  afterAll(async () => {
    await shell[Symbol.asyncDispose]()
  })

  it.each([
    ['a command', 'evsys val\t', ['evsys', 'validate']],
    ['a command after a global option', 'evsys --json compl\t', ['evsys', '--json', 'completion']],
    ['an option', 'evsys validate x.yaml --st\t', ['evsys', 'validate', 'x.yaml', '--steps']],
    ['a global option after a command', 'evsys list --q\t', ['evsys', 'list', '--quiet']],
    ['a plugin type', 'evsys list tran\t', ['evsys', 'list', 'transforms']],
    ['a shell', 'evsys completion fi\t', ['evsys', 'completion', 'fish']],
    ['a word that the shell splits', 'evsys schema metric pass@\t', ['evsys', 'schema', 'metric', 'pass@1']],
    ['a YAML file', 'evsys validate ot\t', ['evsys', 'validate', 'other.yml']],
    ['a YAML file in a folder with a space', 'evsys validate my\tpl\t', ['evsys', 'validate', 'my lab/plan.yaml']],
    ['a folder', 'evsys init my\tx', ['evsys', 'init', 'my lab/x']],
    ['nothing where nothing fits', 'evsys doctor o\t', ['evsys', 'doctor', 'o']],
  ])('completes %s (CLI-7)', async (_name, keys, words) => {
    expect(await completedWords(shell, keys)).toEqual(words)
  })

  it('shows the choices (CLI-7)', async () => {
    shell.type('evsys completion \t\t')
    const shown = await shell.until('zsh')
    expect(shown).toMatch(/bash[\s\S]*fish[\s\S]*powershell/)
    await leaveLine(shell)
  })

  it('runs nothing that stands on the line (CLI-7)', async () => {
    shell.type('evsys validate "$(touch ran)" --de\t')
    await shell.until('ep')
    await leaveLine(shell)
    expect(existsSync(join(work, 'ran'))).toBe(false)
  })
}

const bash = present('bash')
bash.describe('bash', () => {
  describeShell(() =>
    openShell({
      command: 'bash --norc --noprofile -i',
      setup: [
        "bind 'set completion-query-items 0'",
        "bind 'set page-completions off'",
        "bind 'set enable-bracketed-paste off'",
        'eval "$(evsys completion bash)"',
        'eval "$(evsys completion bash)"', // twice, as in a shell that is set up again
      ],
      env,
      cwd: work,
    }),
  )
})

const zsh = present('zsh')
zsh.describe('zsh', () => {
  describeShell(() =>
    openShell({
      command: 'zsh -f -i',
      setup: [
        'unsetopt prompt_cr prompt_sp',
        'bindkey -e',
        'autoload -Uz compinit',
        'compinit -u -D',
        'eval "$(evsys completion zsh)"',
        'eval "$(evsys completion zsh)"',
      ],
      env,
      cwd: work,
    }),
  )
})

const fish = present('fish')
fish.describe('fish', () => {
  const complete = (line: string) => {
    const script = `evsys completion fish | source; complete -C ${JSON.stringify(line)}`
    const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', script], { cwd: work, env, encoding: 'utf8' })
    expect(stderr).toBe('')
    return stdout
      .split('\n')
      .filter((each) => each !== '')
      .map((each) => each.split('\t')[0])
  }

  it.each([
    ['a command', 'evsys val', ['validate']],
    ['a command after a global option', 'evsys --json compl', ['completion']],
    ['an option', 'evsys validate x.yaml --st', ['--steps']],
    ['a plugin type', 'evsys list tran', ['transforms']],
    ['a shell', 'evsys completion fi', ['fish']],
    ['a word with a special character', 'evsys schema metric pass@', ['pass@1']],
    ['a YAML file', 'evsys validate ot', ['other.yml']],
    ['a YAML file in a folder with a space', 'evsys validate my\\ lab/', ['my lab/plan.yaml']],
    ['a folder', 'evsys init my', ['my lab/']],
    ['nothing where nothing fits', 'evsys doctor o', []],
  ])('completes %s (CLI-7)', (_name, line, words) => {
    expect(complete(line)).toEqual(words)
  })

  it('describes what it offers (CLI-7)', () => {
    const script = 'evsys completion fish | source; complete -C "evsys doc"'
    const { stdout } = spawnSync('fish', ['--no-config', '-c', script], { cwd: work, env, encoding: 'utf8' })
    expect(stdout).toBe('doctor\treport what this machine has, what is missing and how to get it\n')
  })
})
