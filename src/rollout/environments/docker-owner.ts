// Whose a container is: a label names the process that started it, so that containers of processes that were killed are found and
// removed by the next one.
import { hostname } from 'node:os'
import { identify, isAlive } from '../../kernel/index.ts'
import type { DockerCli } from './docker-cli.ts'

export const ownerLabel = 'evsys.owner'
export const trialLabel = 'evsys.trial'

/** The label of this process: machine, pid, and when it started. */
export function ownerOfThis(): string {
  const { pid, start } = identify()
  return `${hostname()}/${pid}/${start}`
}

/** Whether the process that a label names is gone for good. Of another machine nobody can tell from here. */
export function isOrphan(label: string): boolean {
  const [host, pid, start = ''] = label.split('/')
  return host === hostname() && pid !== undefined && /^\d+$/.test(pid) && !isAlive({ pid: Number(pid), start })
}

/** Removes containers whose process is gone. Best effort; tells how many. */
export async function removeOrphans(docker: DockerCli, signal: AbortSignal): Promise<number> {
  const format = `{{.ID}}\t{{.Label "${ownerLabel}"}}`
  const listed = await docker.call(
    ['ps', '--all', '--no-trunc', '--filter', `label=${ownerLabel}`, '--format', format],
    { signal },
  )
  if (listed.code !== 0) return 0
  const orphans = listed.stdout
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([id, owner]) => id !== undefined && id !== '' && owner !== undefined && isOrphan(owner))
    .flatMap(([id]) => id ?? [])
  for (const id of orphans) await docker.call(['rm', '--force', '--volumes', id], { signal })
  return orphans.length
}
