import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where Hugging Face tools keep models and datasets: the rules of huggingface_hub. */
export function hubCacheFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  if (env.HF_HUB_CACHE) return env.HF_HUB_CACHE
  if (env.HUGGINGFACE_HUB_CACHE) return env.HUGGINGFACE_HUB_CACHE
  const cache = env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache')
  return join(env.HF_HOME || join(cache, 'huggingface'), 'hub')
}
