// A copy of a database file, made while others go on writing. It appears under its name when it is complete, not before, and
// never in the place of another file.
import { link, open, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileError, syncFolder } from '../../kernel/index.ts'
import { type DatabaseSync, loadDriver } from './load-driver.ts'

/** Copies the database in `file`. One in memory is copied from the connection that holds it. */
export async function copyFile(database: DatabaseSync, file: string, target: string): Promise<void> {
  const Database = await loadDriver()
  await placeWhole(target, (partial) => {
    if (file === ':memory:') return vacuumInto(database, partial)
    const own = new Database(file) // the first may be in the middle of a transaction
    try {
      vacuumInto(own, partial)
    } finally {
      own.close()
    }
  })
}

function vacuumInto(database: DatabaseSync, target: string): void {
  database.prepare('vacuum into ?').run(target)
}

/** Lets `make` write a file beside `target`, and puts it there once it is safely on disk. */
export async function placeWhole(target: string, make: (partial: string) => void | Promise<void>): Promise<void> {
  const partial = `${target}.partial-${process.pid}`
  const remove = () => Promise.allSettled(['', '-wal', '-shm'].map((end) => unlink(`${partial}${end}`)))
  try {
    await remove() // what a process that died left
    await make(partial)
    await using made = await open(partial, 'r+')
    await made.sync()
    await link(partial, target).catch((cause: unknown) => {
      throw fileError('write', target, cause) // it exists: a copy never replaces one
    })
    await syncFolder(dirname(target))
  } finally {
    await remove()
  }
}
