import { canReport, isCapable } from '../../lib/fleet/decide/abilities.ts'
import type { Offer, OfferCause } from '../../lib/fleet/decide/offer.ts'
import { APPLYING_MS, NO_STATUS_MS, SENDS_MAX } from '../../lib/fleet/decide/offer.ts'
import type { Instance, Workload } from '../../lib/fleet/state/model.ts'
import { assignmentOf } from '../../lib/fleet/state/state.ts'
import type { Connection } from '../../lib/store/connection.ts'
import type { Push } from '../../lib/store/pushes.ts'
import { tallyFault } from '../support/recount.ts'
import type { World } from './world.ts'

interface Sent {
  generation: number
  atMs: number
  connectionId: number
  count: number
}

interface PushRow {
  push_id: string
  workload_id: string
  seq: number
  config_hash: string
  kind: string
  status: string
  phase: string
  rollback_of_push_id: string | null
}

const ORDER = { pending: 0, applied: 1, failed: 2 } as const

/** Looks at a simulated world as it goes and says when something is not as promised. */
export class Watch {
  readonly #world: World
  readonly #database: Connection
  readonly problems: string[] = []
  /** Frames with a config since the last look. */
  readonly frames: { uid: string; hash: string }[] = []
  readonly #sent = new Map<string, Sent>()
  readonly #statuses = new Map<string, keyof typeof ORDER>()
  #steps = 0

  constructor(world: World, database: Connection) {
    this.#world = world
    this.#database = database
  }

  problem(text: string): void {
    this.#world.trace(`PROBLEM ${text}`)
    this.problems.push(text)
  }

  /** One offer went out: a generation comes again only for a stated cause. */
  sent(instance: Instance, offer: Offer, cause: OfferCause, nowMs: number): void {
    const key = `${instance.uid}/${instance.workload?.id}`
    const last = this.#sent.get(key)
    // A rollout that ended sends its members back to the generation before: that is an assignment of its own.
    const before = last?.generation === offer.generation ? last : undefined
    const connectionId = instance.connection!.id
    const isSame = before?.connectionId === connectionId
    if (before !== undefined && isSame) {
      const silentMs = nowMs - before.atMs
      const isStated =
        (cause === 'no-status' && silentMs >= NO_STATUS_MS) ||
        (cause === 'applying-too-long' && silentMs >= APPLYING_MS) ||
        cause === 'send-dropped'
      if (!isStated)
        this.problem(`${instance.uid} was offered generation ${offer.generation} again: ${cause}`)
      if (before.count >= SENDS_MAX) this.problem(`${instance.uid} was offered more than ${SENDS_MAX} times`)
    }
    const count = isSame ? before!.count + 1 : 1
    this.#sent.set(key, { generation: offer.generation, atMs: nowMs, connectionId, count })
  }

  /** A late joiner's failure moves nobody else: what was applied fails only when nobody live runs it. */
  failed(workload: Workload, push: Push): void {
    if (push.appliedAt === null) return
    for (const { uid, connection, reported } of workload.instances) {
      const runsIt = reported.isKnown && reported.hash === push.hash && reported.status === 'applied'
      if (connection !== null && runsIt)
        this.problem(`push ${push.pushId} was applied and failed while ${uid} runs it`)
    }
  }

  async afterStep(): Promise<void> {
    this.#checkTallies()
    if (this.frames.length > 0) await this.#checkFrames()
    if (++this.#steps % 40 === 0) await this.checkPushes()
  }

  /** What a workload counts of its live instances is what they are. */
  #checkTallies(): void {
    const workloads = this.#world.service()?.fleet.state.workloads.values() ?? []
    for (const { id, live, instances, activeHash } of workloads) {
      const there = [...instances].filter(({ connection }) => connection !== null)
      const fault = tallyFault(live, there, activeHash ?? '')
      if (fault !== '') this.problem(`the tally of ${id}: ${fault}`)
    }
  }

  /** Every config frame has its stored offer, and none is of a config that failed. */
  async #checkFrames(): Promise<void> {
    for (const { uid, hash } of this.frames.splice(0)) {
      const rows = await this.#database.query<{ has_offer: boolean; is_quarantined: boolean }>(
        `select exists (select from push_targets t join pushes p using (push_id)
                        where t.instance_uid = $1 and p.config_hash = $2) as has_offer,
                exists (select from quarantines q join workloads w on w.id = q.workload_id
                        join pushes p on p.push_id in (w.active_push_id, w.rollout_push_id)
                        join push_targets t on t.push_id = p.push_id and t.instance_uid = $1
                        where q.config_hash = $2 and q.instance_uid in ('', $1)) as is_quarantined`,
        [uid, hash],
      )
      if (!rows[0]!.has_offer) this.problem(`${uid} was offered ${hash} before the offer was stored`)
      if (rows[0]!.is_quarantined) this.problem(`${uid} was offered ${hash}, which is quarantined`)
    }
  }

  /** Statuses move only forward; one rollback a failed push. */
  async checkPushes(): Promise<PushRow[]> {
    const pushes = await this.#database.query<PushRow>(
      `select push_id, workload_id, seq, config_hash, kind, status, phase, rollback_of_push_id
       from pushes order by workload_id, seq`,
    )
    for (const { push_id, status } of pushes) {
      const before = this.#statuses.get(push_id)
      const now = status as keyof typeof ORDER
      if (before !== undefined && ORDER[now] < ORDER[before])
        this.problem(`push ${push_id} went from ${before} to ${now}`)
      this.#statuses.set(push_id, now)
    }
    for (const id of this.#statuses.keys())
      if (!pushes.some((push) => push.push_id === id)) this.problem(`push ${id} was lost`)
    return pushes
  }

  /** What must hold once the world has come to rest. */
  async checkAtRest(): Promise<void> {
    const pushes = await this.checkPushes()
    this.#checkRollbacks(pushes)
    await this.#checkAudit(pushes)
    await this.#checkRollouts()
    await this.#checkMemory()
    await this.#checkApprovals()
    await this.#checkAgents()
    await this.#checkCounts()
  }

  /** Each request that was pushed has its one push, and each push its one request. */
  async #checkApprovals(): Promise<void> {
    const wrong = await this.#database.query<{ id: string; status: string; pushes: number }>(
      `select a.id, a.status, count(p.*)::int as pushes from approvals a left join pushes p on p.approval_id = a.id
       group by a.id having count(p.*) <> (case a.status when 'pushed' then 1 else 0 end)
         or (a.status = 'pushed' and min(p.push_id::text) <> a.push_id::text)`,
    )
    for (const { id, status, pushes } of wrong)
      this.problem(`request ${id} is ${status} and has ${pushes} pushes`)
  }

  /** A rollout that ended left nothing assigned; one that is open has a push that is. */
  async #checkRollouts(): Promise<void> {
    const wrong = await this.#database.query<{ id: string; status: string }>(
      `select r.id, r.status from rollouts r join workloads w on w.id = r.workload_id
       where (r.status in ('running', 'halted', 'aborted')) <> (r.push_id is not distinct from w.rollout_push_id)
         and not (r.status = 'aborted' and w.rollout_push_id is distinct from r.push_id)`,
    )
    for (const { id, status } of wrong)
      this.problem(`rollout ${id} is ${status} and assigned the other way round`)
  }

  /** What the service goes by is what it has stored, whichever answers of the database were lost. */
  async #checkMemory(): Promise<void> {
    const fleet = this.#world.service()?.fleet
    if (fleet === undefined) return
    const stored = await this.#database.query<{
      id: string
      active_push_id: string | null
      generation: number
      push_seq: number
      rollout: string | null
      members: number
      phase: string | null
    }>(
      `select w.id, w.active_push_id, w.generation, w.push_seq, p.phase,
         r.id || ' ' || r.status || ' in stage ' || r.stage_index as rollout,
         (select count(*)::int from rollout_members m where m.rollout_id = r.id) as members
       from workloads w left join rollouts r on r.push_id = w.rollout_push_id
         left join pushes p on p.push_id = r.push_id`,
    )
    for (const { id, ...row } of stored) {
      const workload = fleet.workload(id)
      if (workload === null) continue
      const { rollout, activePushId, generation, pushSeq } = workload
      const held = {
        active_push_id: activePushId,
        generation,
        push_seq: pushSeq,
        phase: rollout?.followed.push.phase ?? null,
        rollout:
          rollout === null
            ? null
            : `${rollout.stored.id} ${rollout.stored.status} in stage ${rollout.stored.stageIndex}`,
        members: rollout?.members.size ?? 0,
      }
      const [inMemory, inDatabase] = [JSON.stringify(held), JSON.stringify(row, Object.keys(held))]
      if (inMemory !== inDatabase)
        this.problem(`workload ${id} is held as ${inMemory} and stored as ${inDatabase}`)
    }
  }

  #checkRollbacks(pushes: readonly PushRow[]): void {
    for (const push of pushes) {
      if (push.kind !== 'auto-rollback') continue
      const failed = pushes.find((other) => other.push_id === push.rollback_of_push_id)
      if (failed?.status !== 'failed')
        this.problem(`rollback ${push.push_id} undoes a push that did not fail`)
      if (failed?.kind === 'auto-rollback') this.problem(`rollback ${push.push_id} undoes a rollback`)
      if (failed !== undefined && failed.config_hash === push.config_hash)
        this.problem(`rollback ${push.push_id} goes back to the config that failed`)
    }
  }

  async #checkAudit(pushes: readonly PushRow[]): Promise<void> {
    const rows = await this.#database.query<{ action: string; count: number }>(
      `select action, count(*)::int as count from audit_events group by action`,
    )
    const audited = (action: string) => rows.find((row) => row.action === action)?.count ?? 0
    for (const [kind, action] of [
      ['approval', 'config.approval.push'],
      ['auto-rollback', 'config.auto_rollback'],
      ['rollback', 'config.canary.rollback'],
    ] as const) {
      const count = pushes.filter((push) => push.kind === kind).length
      if (audited(action) !== count)
        this.problem(`${count} pushes of kind ${kind} have ${audited(action)} audit rows`)
    }
  }

  /** Every compatible live instance runs what it is assigned, unless there is a reason why it cannot. */
  async #checkAgents(): Promise<void> {
    const service = this.#world.service()
    if (service === null) return this.problem('no service is running at the end')
    for (const agent of this.#world.agents) {
      const instance = service.fleet.state.instances.get(agent.nature.uid)
      if (!agent.isSettled) continue
      if (instance?.connection == null || instance.workload === null) {
        this.problem(`${agent.nature.uid} is connected and not known`)
        continue
      }
      const followed = assignmentOf(instance)
      if (followed === null || !isCapable(instance)) continue
      const { hash } = followed.push
      const target = followed.targets.get(instance.uid)
      const body = this.#world.bodies.get(hash)!
      const isExcused =
        instance.workload.quarantinedHashes.has(hash) ||
        (instance.workload.quarantinedInstances.get(hash)?.has(instance.uid) ?? false) ||
        (instance.components !== null && followed.compatibility.get(instance.components) === false) ||
        agent.nature.fateOf(body) !== 'works'
      if (isExcused) continue
      if (agent.running !== hash)
        this.problem(
          `${agent.nature.uid} runs ${agent.running.slice(0, 6)}, is assigned ${hash.slice(0, 6)}; ` +
            `reported ${JSON.stringify(instance.reported)} offer ${JSON.stringify(instance.offer)} ` +
            `target ${target?.state} frozen ${instance.workload.isFrozen}`,
        )
      else if (canReport(instance) && target?.state !== 'applied' && followed.scope === null)
        this.problem(`${agent.nature.uid} runs ${hash.slice(0, 6)} and is counted as ${target?.state}`)
    }
  }

  /** The counters of every push are those of its rows. */
  async #checkCounts(): Promise<void> {
    const wrong = await this.#database.query<{ push_id: string; counts: string }>(
      `select p.push_id, row_to_json(p)::text || ' rows ' || count(t.*) filter (where t.is_target) as counts
       from pushes p left join push_targets t using (push_id)
       where p.phase <> 'superseded'
       group by p.push_id
       having p.target_count <> count(t.*) filter (where t.is_target)
         or p.applied_count <> count(t.*) filter (where t.is_target and t.state = 'applied')
         or p.failed_count <> count(t.*) filter (where t.is_target and t.state = 'failed')`,
    )
    for (const { counts } of wrong) this.problem(`counts differ from rows: ${counts}`)
  }
}
