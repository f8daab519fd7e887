import type { ComponentRef } from './components.ts'

/** Component types by category, as an agent reports them; null when it reported none. */
export type AvailableComponents = ReadonlyMap<string, readonly string[]>

/** One live instance, as far as a config concerns it. */
export interface ConfigTargetInstance {
  uid: string
  podName: string
  components: AvailableComponents | null
  /** Accepts remote config now and is not excluded by its type. */
  isCapable: boolean
  /** It is healthy and runs a pipeline of profiles, which needs a feature gate of the collector. */
  runsProfiles: boolean
}

/** What live instances say of an exporter that fails. */
export interface FailingExporter {
  /** The hosts that each of them names as one which does not answer; none where not all of them were asked. */
  unreachable: ReadonlySet<string>
}

/** What validation, plan and policy know of a workload; the fleet fills it in. */
export interface ConfigTarget {
  workloadId: string
  displayName: string
  type: string
  /** The lowest live version; empty when none is known. */
  version: string
  status: 'connected' | 'disconnected' | 'degraded'
  /** As agents report them. */
  labels: Readonly<Record<string, string>>
  /** Set by operators. */
  trustedLabels: Readonly<Record<string, string>>
  acceptsRemoteConfig: boolean
  /** Live instances only. */
  instances: readonly ConfigTargetInstance[]
  /** What the capable instances reported last; used only while the workload has no live instance. */
  lastKnownComponents: AvailableComponents | null
  activeConfigHash: string | null
  /** Configs that failed here when they were last pushed. */
  failedHashes: ReadonlySet<string>
  /** The exporters that fail now, by their ids in the config. */
  failing: ReadonlyMap<string, FailingExporter>
}

/** An instance that a config leaves out, and why. */
export interface ExcludedInstance {
  uid: string
  podName: string
  reason: 'read_only' | 'component_not_installed'
  /** Empty unless components are what it lacks. */
  missing: ComponentRef[]
}

/** Where validation, plan and policy get their workloads and texts from. */
export interface ConfigTargets {
  /** Null when the workload is unknown. */
  find(workloadId: string): Promise<ConfigTarget | null>
  /** What a new config is compared with: the active one, else the newest applied; null when there is none. */
  currentConfig(workloadId: string): Promise<string | null>
  /** What most live instances report to run; null when none says, or when the workload is unknown. */
  reportedConfig(workloadId: string): Promise<ReportedBase | null>
  /** A workload as a diff sees it; null when it is unknown or archived. */
  peer(workloadId: string): Promise<FleetPeer | null>
  /**
   * The workloads of the same cluster, with the labels that a blast radius is made of, as JSON (an array of
   * `FleetPeer`): a text is handed to a thread without copying objects. The search takes several turns of the event
   * loop.
   */
  neighbours(of: FleetPeer): Promise<string>
}

/** A config in the normal form in which instances report it. */
export interface ReportedBase {
  hash: string
  text: string
  /** How many live instances report this one, and how many live at all. */
  instanceCount: number
  liveCount: number
}

/** A workload as a diff's blast radius sees it. */
export interface FleetPeer {
  id: string
  displayName: string
  type: string
  status: string
  labels: Readonly<Record<string, string>>
  fingerprintKeys: Readonly<Record<string, string>>
  /** Its labels make it production, as policy and confirmations judge it. */
  isProduction: boolean
}
