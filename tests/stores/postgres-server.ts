// A real PostgreSQL server for tests: own data folder, socket only, stopped and removed at the end. Runs as nobody when the
// tests run as root, since the server refuses to.
import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface PostgresServer {
  /** A new, empty database on it. */
  createDatabase(): string
  stop(): void
}

/** Folder of initdb and pg_ctl, or why there is none. */
export function findPostgres(): { bin: string } | { missing: string } {
  const roots = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql').sort() : []
  const versions = roots
    .map((version) => `/usr/lib/postgresql/${version}/bin`)
    .filter((bin) => existsSync(join(bin, 'initdb')))
  const bin = versions.at(-1)
  return bin === undefined ? { missing: 'no PostgreSQL server is installed (Debian: postgresql)' } : { bin }
}

export function startPostgres(bin: string): PostgresServer {
  const dir = mkdtempSync(join(tmpdir(), 'pg-')) // short: a socket path has about 100 characters
  const isRoot = process.getuid?.() === 0
  if (isRoot) {
    const nobody = Number(execFileSync('id', ['-u', 'nobody'], { encoding: 'utf8' }))
    chownSync(dir, nobody, nobody)
  }
  const run = (program: string, args: string[]) => {
    const command = isRoot
      ? ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups', join(bin, program), ...args]
      : [join(bin, program), ...args]
    const [file = '', ...rest] = command
    execFileSync(file, rest, {
      cwd: dir,
      env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8', HOME: dir },
      stdio: 'ignore',
    })
  }
  run('initdb', ['-D', join(dir, 'data'), '-U', 'evsys', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'])
  const settings = `-k ${dir} -c listen_addresses= -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c shared_buffers=64MB`
  run('pg_ctl', ['-D', join(dir, 'data'), '-l', join(dir, 'log'), '-s', '-w', '-o', settings, 'start'])
  let databases = 0
  return {
    createDatabase() {
      databases += 1
      run('psql', ['-h', dir, '-U', 'evsys', '-d', 'postgres', '-qc', `create database t${databases}`])
      return `postgresql://evsys@localhost/t${databases}?host=${encodeURIComponent(dir)}`
    },
    stop() {
      run('pg_ctl', ['-D', join(dir, 'data'), '-m', 'immediate', '-s', 'stop'])
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
