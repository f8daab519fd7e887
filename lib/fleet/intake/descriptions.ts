import { canReport } from '../decide/abilities.ts'
import { classifyAgent, identifyWorkload, isExcludedFromConfigs } from '../decide/workload-identity.ts'
import { recallOffer } from '../state/begin-offer.ts'
import type { Instance, Workload } from '../state/model.ts'
import { withdrawOffer } from '../state/offer-state.ts'
import type { FleetParts } from '../state/parts.ts'
import { toWorkload } from '../state/state.ts'
import type { AgentHomes } from './agent-homes.ts'
import type { ConfigReports } from './config-reports.ts'
import type { Presence } from './presence.ts'
import { tokensLeft, VERSION_TOKENS } from './tokens.ts'

/** Puts instances into the workloads that their descriptions name. */
export class Descriptions {
  readonly #parts: FleetParts
  readonly #presence: Presence
  readonly #reports: ConfigReports
  readonly #homes: AgentHomes

  constructor(parts: FleetParts, presence: Presence, reports: ConfigReports, homes: AgentHomes) {
    this.#parts = parts
    this.#presence = presence
    this.#reports = reports
    this.#homes = homes
  }

  /** Take an instance's description: its attributes, and the workload that they name. */
  take(instance: Instance, attributes: ReadonlyMap<string, string>, wasLive: boolean): void {
    const { state } = this.#parts
    const version = attributes.get('service.version') ?? ''
    const formerVersion = instance.version
    const wasDescribed = instance.isDescribed
    instance.attributes = attributes
    instance.isDescribed = true
    instance.podName = attributes.get('k8s.pod.name') ?? ''
    if (version !== '' || !wasDescribed) instance.version = version
    const former = instance.workload
    const workload = this.#workloadOf(instance.uid, attributes)
    if (former !== null && former !== workload) this.#moveAway(instance, former, wasLive)
    instance.workload = workload
    workload.instances.add(instance)
    if (former === null) recallOffer(instance)
    state.kept.named(workload, instance)
    this.#rename(workload, attributes.get('service.name') ?? '')
    this.#homes.remember(instance, workload)
    this.#presence.endDescriptionWait(instance)
    this.reclassify(instance)
    if (!wasLive || former !== workload) this.#arrive(instance, workload, former)
    this.#presence.announce(instance, workload)
    const isChanged = formerVersion !== '' && version !== '' && version !== formerVersion && wasLive
    if (isChanged && takeVersionToken(instance, this.#parts.deps.clock.heardMs()))
      this.#presence.event(instance, workload, 'version_changed', { prevVersion: formerVersion })
    if (!instance.reported.isKnown && canReport(instance)) state.unknownReported.add(instance)
  }

  /** A known instance is live again but has not described itself: it stays in the workload that it was in. */
  arriveAgain(instance: Instance, workload: Workload): void {
    if (!instance.isDescribed) this.#presence.awaitDescription(instance)
    this.#arrive(instance, workload, workload)
    if (instance.isDescribed) this.#presence.announce(instance, workload)
  }

  /** Work out the instance's type again: its attributes, its components or what it runs in effect have changed. */
  reclassify(instance: Instance): void {
    if (instance.attributes !== null) {
      instance.isExcluded = isExcludedFromConfigs(instance.attributes)
      instance.type = classifyAgent(instance.attributes, {
        capabilities: instance.capabilities,
        reportsComponents: instance.components !== null || instance.componentsHash !== '',
        runsPipelines: instance.runsPipelines,
      })
    }
    // Also an instance that has not described itself counts in its workload.
    if (instance.workload !== null) this.#presence.touch(instance, instance.workload)
  }

  #workloadOf(uid: string, attributes: ReadonlyMap<string, string>): Workload {
    const identity = identifyWorkload(attributes, uid)
    return this.#parts.state.workloads.get(identity.id) ?? this.#create(identity, attributes)
  }

  #create(identity: ReturnType<typeof identifyWorkload>, attributes: ReadonlyMap<string, string>): Workload {
    const now = this.#parts.deps.clock.now()
    const workload = toWorkload({
      id: identity.id,
      fingerprintSource: identity.source,
      fingerprintKeys: identity.keys,
      displayName: attributes.get('service.name') ?? '',
      type: 'sdk',
      version: attributes.get('service.version') ?? '',
      status: 'connected',
      lastSeenAt: now,
      labels: {},
      handLabels: {},
      // Set from the beginning: no config and no policy may ever see the workload without its rule labels.
      ruleLabels: this.#parts.deps.ruleLabels(identity.keys),
      acceptsRemoteConfig: false,
      remoteConfigStatus: null,
      availableComponents: null,
      activeHash: null,
      activePushId: null,
      rolloutPushId: null,
      generation: 0,
      pushSeq: 0,
      disconnectedAt: null,
      archivedAt: null,
      createdAt: now,
    })
    this.#parts.state.add(workload)
    this.#parts.writer.workload(workload)
    return workload
  }

  #rename(workload: Workload, displayName: string): void {
    if (displayName === '' || displayName === workload.displayName) return
    this.#parts.state.rename(workload, displayName)
    this.#parts.writer.workload(workload)
  }

  /** The instance's description names another workload now: take it out of the former one. */
  #moveAway(instance: Instance, former: Workload, wasLive: boolean): void {
    this.#reports.gone(instance)
    former.instances.delete(instance)
    withdrawOffer(instance)
    if (instance.isAnnounced) this.#presence.event(instance, former, 'disconnected')
    instance.isAnnounced = false
    if (wasLive) this.#presence.uncount(instance, former)
  }

  /** An instance is live in a workload from now on. */
  #arrive(instance: Instance, workload: Workload, former: Workload | null): void {
    // A return within the grace after the start of muster is no event, nor after a link to a front was cut: muster had
    // been away, not the agent.
    const wasHere = this.#parts.state.knownAtStart.delete(instance.uid) || instance.isAnnounced
    instance.isAnnounced = former === workload && wasHere
    this.#presence.arrive(instance, workload)
  }
}

/** May a change of the instance's version be written down? One that names another in each message would fill the history. */
function takeVersionToken(instance: Instance, nowMs: number): boolean {
  const tokens = tokensLeft(VERSION_TOKENS, instance.versionTokens, nowMs - instance.versionTokenMs)
  if (tokens === 0) return false
  instance.versionTokens = tokens - 1
  instance.versionTokenMs = nowMs
  return true
}
