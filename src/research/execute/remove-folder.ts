import { chmod, lstat, mkdir, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Removes a folder that was in hostile hands, once nobody works in it any more. Where it is nested deeper than a path can
 * say, or its rights are taken away, its folders are brought up one by one.
 */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
  } catch {
    await removeDeep(path)
  }
}

async function removeDeep(path: string): Promise<void> {
  const trash = `${path}-trash`
  await mkdir(trash, { recursive: true })
  const ahead = [path]
  let count = 0
  for (let folder = ahead.pop(); folder !== undefined; folder = ahead.pop()) {
    await chmod(folder, 0o700)
    for (const name of await readdir(folder, { encoding: 'buffer' })) {
      const inner = Buffer.concat([Buffer.from(`${folder}/`), name])
      if (!(await lstat(inner)).isDirectory()) {
        await unlink(inner)
        continue
      }
      await chmod(inner, 0o700)
      const aside = join(trash, String(count++))
      await rename(inner, aside)
      ahead.push(aside)
    }
    await rmdir(folder)
  }
  await rmdir(trash)
}
