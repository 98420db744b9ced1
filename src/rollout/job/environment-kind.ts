// Which environment a task folder gets where nobody named one: the sandbox of this machine, or a container for what needs an image.
import type { TaskFolder } from '../../contracts/index.ts'
import { EvsysError, type Registry } from '../../kernel/index.ts'
import { environmentDefinition, planEnvironment } from '../environments/index.ts'
import type { HostEnv } from '../task/index.ts'

export async function environmentKind(
  folder: TaskFolder,
  { hostEnv, registry }: { hostEnv: HostEnv; registry: Registry },
): Promise<string> {
  const plan = planEnvironment(await environmentDefinition(folder, hostEnv))
  if (plan.status !== 'needs-image') return 'local'
  if (registry.find('environment', 'docker') !== undefined) return 'docker'
  throw new EvsysError('ENVIRONMENT_REFUSED', `the task needs an image: ${plan.reasons.join('; ')}`, {
    fix: 'install docker and use the environment `docker`.',
  })
}
