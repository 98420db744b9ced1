// The proposers of this room.
import { cliAgent } from './cli/cli-agent.ts'
import { hybrid } from './hybrid.ts'
import { anthropic, openaiCompatible } from './llm/model-proposers.ts'
import { optimizer } from './optimizer/optimizer.ts'
import { bank } from './recorded/bank.ts'
import { replay } from './recorded/replay.ts'

export const proposePlugins = [anthropic, bank, cliAgent, hybrid, openaiCompatible, optimizer, replay] as const
