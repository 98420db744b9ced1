// @ts-nocheck: arguments of a command line, taken as they come
// A docker program for tests, over local folders: a container is a folder with a root, its state, and the processes that were
// started in it. It takes the arguments that environments use and refuses all others. Absolute paths of commands are turned into
// paths below the root by their first folder, since nothing here may change the machine's own root.
//   node docker.mjs STATE_FOLDER arguments of docker...
import { spawn } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

const [state, ...args] = process.argv.slice(2)
appendFileSync(join(state, 'calls.jsonl'), `${JSON.stringify(args)}\n`)

const fail = (text, code = 1) => {
  process.stderr.write(`${text}\n`)
  process.exit(code)
}
const containers = join(state, 'containers')
const images = join(state, 'images')
const folderOf = (name) => join(containers, name)
const rootOf = (name) => join(folderOf(name), 'root')
const metaOf = (name) => JSON.parse(readFileSync(join(folderOf(name), 'meta.json'), 'utf8'))
const known = (name) =>
  existsSync(folderOf(name)) ? name : fail(`Error response from daemon: No such container: ${name}`)
const tag = (image) => join(images, encodeURIComponent(image))

/** Splits options from words; `takes` are options with a value. */
function parse(words, takes, flags = []) {
  const options = {}
  const rest = [...words]
  while (rest[0]?.startsWith('-')) {
    const name = rest.shift()
    if (flags.includes(name)) options[name] = true
    else if (takes.includes(name)) {
      const value = rest.shift()
      options[name] = [...(options[name] ?? []), value]
    } else fail(`unknown flag: ${name}`, 125)
  }
  return { options, rest }
}

const inside = (root, text) =>
  text.replace(
    /(?<![\w./$}])\/(app|logs|tests|solution|data|custom-workdir|image)(?![\w])/g,
    (_all, first) => `${root}/${first}`,
  )

const envOf = (options) => {
  const lines = (options['--env-file'] ?? []).flatMap((file) => readFileSync(file, 'utf8').split('\n').filter(Boolean))
  return Object.fromEntries([...lines, ...(options['--env'] ?? [])].map((line) => line.split(/=(.*)/s).slice(0, 2)))
}

const commands = {
  version: () => (existsSync(join(state, 'down')) ? fail('Cannot connect to the Docker daemon') : console.log('27.0')),
  image: ([, , , image]) => (existsSync(tag(image)) ? console.log('sha256:1') : fail(`No such image: ${image}`)),
  pull: ([image]) => {
    if (image.includes('missing')) fail(`pull access denied for ${image}`)
    writeFileSync(tag(image), '{"workdir":"/image"}')
  },
  build: (words) => {
    const { options, rest } = parse(words, ['--tag'])
    const text = readFileSync(join(rest[0], 'Dockerfile'), 'utf8')
    if (text.includes('FAIL')) fail('ERROR: failed to solve: process "/bin/sh -c FAIL" did not complete')
    const workdir = /^WORKDIR (.*)$/m.exec(text)?.[1] ?? ''
    writeFileSync(tag(options['--tag'][0]), JSON.stringify({ workdir }))
  },
  run: (words) => {
    const takes = ['--name', '--label', '--network', '--memory', '--memory-swap', '--pids-limit', '--security-opt']
    const more = ['--cpus', '--gpus', '--workdir', '--env', '--env-file']
    const { options, rest } = parse(words, [...takes, ...more], ['--detach'])
    const [name] = options['--name']
    const image = JSON.parse(readFileSync(tag(rest[0]), 'utf8'))
    mkdirSync(rootOf(name), { recursive: true })
    const workdir = options['--workdir']?.[0] ?? image.workdir
    writeFileSync(
      join(folderOf(name), 'meta.json'),
      JSON.stringify({ options, workdir, env: envOf(options), running: true }),
    )
    console.log(name)
  },
  inspect: ([, format, name]) => {
    const { workdir, running } = metaOf(known(name))
    console.log(format.includes('WorkingDir') ? workdir : running)
  },
  exec: (words) => {
    const { options, rest } = parse(words, ['--user', '--workdir', '--env', '--env-file'], ['--interactive'])
    const [name, ...argv] = rest
    const meta = metaOf(known(name))
    const root = rootOf(name)
    const cwd = join(root, options['--workdir']?.[0] ?? meta.workdir)
    if (!existsSync(cwd)) fail(`OCI runtime exec failed: chdir to cwd failed: no such file or directory`, 126)
    // Processes of the machine are not of the container: only those that were started here may be seen, by their mark.
    const isKill = argv.some((word) => word.includes('kill -9'))
    if (isKill) return killIn(name, argv)
    const [program, ...more] = argv.map((word) => inside(root, word))
    const child = spawn(program, more, {
      cwd,
      detached: true,
      stdio: [options['--interactive'] ? 'inherit' : 'ignore', 'inherit', 'inherit'],
      env: { PATH: process.env.PATH, ...meta.env, ...envOf(options) },
    })
    const mark = envOf(options).EVSYS_COMMAND ?? 'none'
    appendFileSync(join(folderOf(name), 'processes'), `${child.pid} ${mark}\n`)
    child.on('error', (error) => fail(`OCI runtime exec failed: ${error.message}`, 127))
    child.on('close', (code, signal) => process.exit(code ?? (signal === 'SIGKILL' ? 137 : 143)))
  },
  cp: ([from, to]) => {
    const place = (path) => {
      const [name, inner] = path.split(/:(.*)/s)
      return inner === undefined ? path : join(rootOf(known(name)), inner)
    }
    const source = place(from.replace(/\/\.$/, ''))
    const target = place(to)
    if (!existsSync(source)) fail(`Error response from daemon: Could not find the file ${from}`)
    mkdirSync(dirname(target), { recursive: true })
    const intoFolder = !from.endsWith('/.') && existsSync(target) && statSync(target).isDirectory()
    cpSync(source, intoFolder ? join(target, basename(source)) : target, { recursive: true, verbatimSymlinks: true })
  },
  ps: () => {
    for (const name of existsSync(containers) ? readdirSync(containers) : []) {
      const labels = metaOf(name).options['--label'] ?? []
      console.log(`${name}\t${labels.map((label) => /^evsys\.owner=(.*)$/.exec(label)?.[1]).find(Boolean) ?? ''}`)
    }
  },
  rm: (words) => {
    const { rest } = parse(words, [], ['--force', '--volumes'])
    if (existsSync(folderOf(rest[0]))) killIn(rest[0], [])
    rmSync(folderOf(rest[0]), { recursive: true, force: true })
  },
  compose: () => fail("docker: 'compose' is not a docker command."),
}

function killIn(name, argv) {
  const file = join(folderOf(name), 'processes')
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
  for (const line of lines) {
    const [pid, mark] = line.split(' ')
    const isMeant = argv.length === 0 || !argv.some((word) => word.includes('EVSYS_COMMAND')) || argv.includes(mark)
    try {
      if (isMeant) process.kill(-Number(pid), 'SIGKILL')
    } catch {
      // it has ended
    }
  }
}

mkdirSync(images, { recursive: true })
mkdirSync(containers, { recursive: true })
if (lstatSync(state).isDirectory()) (commands[args[0]] ?? (() => fail(`unknown command: ${args[0]}`)))(args.slice(1))
