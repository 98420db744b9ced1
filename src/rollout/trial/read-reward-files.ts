// The reward files of a verifier, read from the folder they were brought to. A link, a pipe or a folder under their name is no reward,
// whoever put it there.
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode } from '../../kernel/index.ts'
import { REWARD_FILE_BYTES, type RewardFiles } from './parse-rewards.ts'
import { trialError } from './trial-error.ts'

export async function readRewardFiles(dir: string): Promise<RewardFiles> {
  return {
    json: await readPlain(join(dir, 'reward.json'), 'reward.json'),
    text: await readPlain(join(dir, 'reward.txt'), 'reward.txt'),
  }
}

// Opened without following a link and without waiting for the other end of a pipe; looked at through the handle, so that what is
// checked is what is read.
async function readPlain(path: string, name: string): Promise<string | undefined> {
  const wrong = (what: string) => trialError('VerifierOutputParseError', `${name} ${what}`)
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (cause: unknown) => {
      const code = systemCode(cause)
      if (code === 'ENOENT') return undefined
      if (code === 'ELOOP' || code === 'EMLINK') throw wrong('is a link')
      throw trialError('DownloadVerifierDirError', `${name} cannot be read`, { cause })
    },
  )
  if (file === undefined) return undefined
  try {
    const { size, nlink } = await file
      .stat()
      .then((found) => (found.isFile() ? found : Promise.reject(wrong('is no file'))))
    if (nlink > 1) throw wrong('is a link')
    if (size > REWARD_FILE_BYTES) throw wrong(`has ${size} bytes`)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}
