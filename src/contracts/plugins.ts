// Every plugin type by name. The registry, `define*` and `list` follow from this table.
import type { DataSource, DataStore, Transform } from './data-plugins.ts'
import type { PluginType } from './plugin-spec.ts'
import type { KeepRule, Proposer, Strategy } from './research/research-plugins.ts'
import type { Agent, Environment, InferenceClient, Metric, Verifier } from './scoring-plugins.ts'
import type { Deployer, Provider, TraceSource } from './service-plugins.ts'
import type { Algorithm, Backend, Renderer } from './training-plugins.ts'
import type { Callback, LogStore } from './watching-plugins.ts'

/** The definition of each plugin type. */
export interface PluginTypes {
  algorithm: Algorithm
  backend: Backend
  transform: Transform
  data_source: DataSource
  data_store: DataStore
  log_store: LogStore
  metric: Metric
  verifier: Verifier
  inference_client: InferenceClient
  callback: Callback
  deployer: Deployer
  agent: Agent
  environment: Environment
  renderer: Renderer
  proposer: Proposer
  strategy: Strategy
  keep_rule: KeepRule
  provider: Provider
  trace_source: TraceSource
}

/** A plugin of any type. Does not compile while a type is missing above. */
export type AnyPlugin = PluginTypes[PluginType]
