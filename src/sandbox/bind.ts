/** One path of this machine and where a command sees it; in the order in which they are mounted. */
export interface Bind {
  readonly source: string
  readonly target: string
  readonly writable: boolean
}

/** Everything a command sees as files: a folder that is `/`, and what lies over it. */
export interface Layout {
  readonly root: string
  readonly binds: readonly Bind[]
}
