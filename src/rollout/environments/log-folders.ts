// Folders of every environment that agents, verifiers and artifacts write to; every account may.

export const logFolders = ['/logs/agent', '/logs/verifier', '/logs/artifacts'] as const
