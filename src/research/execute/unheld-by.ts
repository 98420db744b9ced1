import type { LocalSandbox } from '../../sandbox/index.ts'

const notices = {
  bubblewrap: undefined,
  chroot:
    'candidates run in a sandbox of the level chroot, which has no filter of system calls: a fault of the kernel is easier to reach. Install bubblewrap.',
  container:
    'candidates run in containers: one that is running outlives a killed evsys until its command ends. Install bubblewrap.',
  process:
    'candidates run as plain processes, without a sandbox: they can read the labels of val and test, change files, use the network and outlive their run. Their scores prove nothing unless they are trusted.',
} as const

/** What candidates can do here that the strongest sandbox withholds, in sentences for the one who starts them. */
export function unheldBy({ level, limits }: Pick<LocalSandbox, 'level' | 'limits'>): string[] {
  const notice = notices[level]
  const watched = level !== 'process' && limits.memory === 'rlimit and watch'
  return [
    ...(notice === undefined ? [] : [notice]),
    ...(watched
      ? [
          'no control group can be made here: memory is looked at every 50 ms, and candidates can go past it between two looks.',
        ]
      : []),
  ]
}
