// A real PostgreSQL server for a while: own data folder, socket only, stopped and removed at the end. Runs as nobody when this
// process runs as root, since the server refuses to.
import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'

export interface PostgresServer {
  /** Address of a new, empty database on it. `options` are those of CREATE DATABASE. */
  createDatabase(options?: string): string
  /** Ends all connections and waits until the server is gone; `start` brings it back. */
  stop(): void
  start(): void
  /** Stops it and removes its data. */
  remove(): void
}

/** Folder that holds initdb, pg_ctl and postgres, where there is one. */
export function findPostgres(): string | undefined {
  const linked = (process.env.PATH ?? '').split(delimiter).map((dir) => join(dir, 'initdb'))
  const onPath = linked.filter((file) => existsSync(file)).map((file) => dirname(realpathSync(file)))
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [...onPath, ...versions.map((version) => join(debian, version, 'bin'))]
  return folders.find((bin) => existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'pg_ctl')))
}

export function startPostgres(): PostgresServer {
  const dir = mkdtempSync(join(tmpdir(), 'pg-')) // short: a socket path has about 100 characters
  const data = join(dir, 'data')
  const run = runner(dir)
  run('initdb', ['-D', data, '-U', 'evsys', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'])
  // Nothing here outlives the machine, so nothing has to reach the disk.
  const unsafe = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'].map((each) => `-c ${each}`).join(' ')
  const settings = `-k ${dir} -c listen_addresses= -c shared_buffers=64MB ${unsafe}`
  const server = {
    start: () => run('pg_ctl', ['-D', data, '-l', join(dir, 'log'), '-s', '-w', '-o', settings, 'start']),
    stop: () => run('pg_ctl', ['-D', data, '-m', 'fast', '-s', '-w', 'stop']), // at once would lose what is not on disk
  }
  server.start()
  let databases = 0
  return {
    ...server,
    createDatabase(options = '') {
      databases += 1
      const create = `create database t${databases} ${options}`
      run('psql', ['-h', dir, '-U', 'evsys', '-d', 'postgres', '-qc', create])
      return `postgresql://evsys@localhost/t${databases}?host=${encodeURIComponent(dir)}`
    },
    remove() {
      if (existsSync(join(data, 'postmaster.pid'))) server.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

function runner(dir: string): (program: string, args: readonly string[]) => void {
  const bin = findPostgres() ?? ''
  const owner = process.getuid?.() === 0 ? nobody() : undefined
  if (owner !== undefined) chownSync(dir, owner.uid, owner.gid)
  return (program, args) => {
    const env = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', HOME: dir }
    execFileSync(join(bin, program), args, { cwd: dir, env, ...owner, stdio: ['ignore', 'ignore', 'inherit'] })
  }
}

function nobody(): { uid: number; gid: number } {
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? []
  if (uid === undefined || gid === undefined)
    throw new Error('the server refuses to run as root, and nobody is no user')
  return { uid: Number(uid), gid: Number(gid) }
}
