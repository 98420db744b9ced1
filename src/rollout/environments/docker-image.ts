// The image of an environment: pulled where the task names one, else built from its Dockerfile. A built image is named after what
// it is built from, as Harbor does, so that both use one cache.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { composeFile } from './context-files.ts'
import { type DockerCli, lastWords } from './docker-cli.ts'
import type { EnvironmentDefinition } from './environment-definition.ts'
import { refusal, SandboxBuildFailedError } from './environment-error.ts'

// One build of an image at a time: the second finds it done.
const building = new Map<string, Promise<void>>()

/** Makes sure that the image is there, and names it. */
export async function prepareImage(
  docker: DockerCli,
  { config, contextDir }: EnvironmentDefinition,
  { forceBuild, signal }: { forceBuild: boolean; signal: AbortSignal },
): Promise<string> {
  const files = await readdir(contextDir)
  const isBuilt = files.includes('Dockerfile') && (config.docker_image === undefined || forceBuild)
  if (!isBuilt && config.docker_image === undefined) {
    const instead =
      composeFile(contextDir) === undefined ? 'neither docker_image nor a Dockerfile' : 'a compose file alone'
    throw refusal('docker', `it has ${instead}`, 'write environment/Dockerfile, or docker_image in task.toml.')
  }
  const image = isBuilt ? `hb__${await environmentId(contextDir)}` : (config.docker_image ?? '')
  const key = `${docker.program} ${image}`
  const work = building.get(key) ?? provide()
  building.set(key, work)
  try {
    await work
  } finally {
    if (building.get(key) === work) building.delete(key)
  }
  return image

  async function provide(): Promise<void> {
    const found = await docker.call(['image', 'inspect', '--format', '{{.Id}}', image], { signal })
    if (found.code === 0 && !(isBuilt && forceBuild)) return
    const answer = await docker.call(isBuilt ? ['build', '--tag', image, contextDir] : ['pull', image], { signal })
    if (answer.code === 0) return
    const what = isBuilt ? `build ${join(contextDir, 'Dockerfile')}` : `pull ${image}`
    throw new SandboxBuildFailedError(`docker could not ${what}: ${lastWords(answer)}`, {
      fix: 'correct what it names; the same command by hand shows all of its output.',
    })
  }
}

const ignored = new Set(['.DS_Store', '.git', '__pycache__'])

/** Names the content of a build context: Harbor's id of an environment. */
export async function environmentId(contextDir: string): Promise<string> {
  const hash = createHash('sha256')
  const files = await filesBelow(contextDir, '')
  for (const file of files.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))) {
    for (const part of [Buffer.from(file), await readFile(join(contextDir, file))]) {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(part.length)
      hash.update(length).update(part)
    }
  }
  return hash.digest('hex').slice(0, 32)
}

async function filesBelow(root: string, folder: string): Promise<string[]> {
  const files: string[] = []
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    if (ignored.has(entry.name)) continue
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) files.push(...(await filesBelow(root, path)))
    else if (entry.isFile()) files.push(path)
  }
  return files
}
