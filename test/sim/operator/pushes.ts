import { approveApproval } from '../../../lib/changes/approve-approval.ts'
import { endApproval } from '../../../lib/changes/close-approval.ts'
import { createApproval } from '../../../lib/changes/create-approval.ts'
import { rollBackToDefault, rollBackToHash } from '../../../lib/changes/perform-rollback.ts'
import { pushApproval } from '../../../lib/changes/push-approval.ts'
import type { StagePlan } from '../../../lib/store/rollouts.ts'
import { ROLLOUT_GATES } from '../../../lib/wire/values.ts'
import type { Troubles } from '../troubles.ts'
import { APPROVER, AUTHOR, ask, type OperatorWorld } from './operator-world.ts'

const RETRIES = 3

/** An operator who requests, approves and pushes as people do: sometimes twice, and again when no answer came. */
export class PushingOperator {
  readonly #world: OperatorWorld
  readonly #hasStages: boolean
  readonly #mayClose: boolean

  constructor(world: OperatorWorld, { stages, closedRequests }: Pick<Troubles, 'stages' | 'closedRequests'>) {
    this.#world = world
    this.#hasStages = stages
    this.#mayClose = closedRequests
  }

  /** Request, approve and push a config to a workload. */
  async push(workloadId: string, body: string): Promise<void> {
    const { dice, time } = this.#world
    const approvalId = await this.#approve(workloadId, body)
    if (approvalId === null) return
    const stages = this.#makeStages()
    void this.#attempt(workloadId, approvalId, stages, RETRIES)
    // Sometimes the button is pressed a second time.
    if (dice.chance(0.2))
      time.after(dice.between(0, 40), () => void this.#attempt(workloadId, approvalId, stages, 0))
  }

  async #approve(workloadId: string, draftYaml: string): Promise<string | null> {
    const words = draftYaml.slice(2, draftYaml.indexOf('\n'))
    // Two groups: a new request retires the one before it that waits in the same group.
    const targetGroup = this.#world.dice.pick(['', 'edge'])
    const created = await ask(this.#world, `request ${words} for ${workloadId.slice(0, 4)}`, ({ ctx }) =>
      createApproval(ctx, {
        workloadId,
        draftYaml,
        targetGroup,
        targetEnv: 'staging',
        comment: 'please',
        actor: AUTHOR,
        prodConfirmation: false,
        retryQuarantined: true,
      }),
    )
    if (created?.ok !== true) return null
    const approvalId = created.approval.id
    if (this.#mayClose) this.#closeSometimes(workloadId, approvalId)
    const approved = await ask(this.#world, `approve ${approvalId.slice(4, 8)}`, ({ ctx }) =>
      approveApproval(ctx, { workloadId, approvalId, comment: 'fine', actor: APPROVER }),
    )
    return approved?.ok === true ? approvalId : null
  }

  /** Sometimes reject or withdraw the request: while it waits, once it is approved, or during the push. */
  #closeSometimes(workloadId: string, approvalId: string): void {
    const { dice, time } = this.#world
    if (!dice.chance(0.3)) return
    const status = dice.pick(['rejected', 'withdrawn'] as const)
    const close = () =>
      ask(this.#world, `${status} ${approvalId.slice(4, 8)}`, ({ ctx }) =>
        endApproval(ctx, { workloadId, approvalId, status, comment: 'not today', actor: AUTHOR }),
      )
    time.after(dice.between(0, 120), () => void close())
  }

  async #attempt(
    workloadId: string,
    approvalId: string,
    stages: StagePlan[] | null,
    retries: number,
  ): Promise<void> {
    const { dice, time } = this.#world
    const answer = await ask(this.#world, `push ${approvalId.slice(4, 8)}`, ({ ctx }) =>
      pushApproval(ctx, {
        workloadId,
        approvalId,
        actor: AUTHOR,
        comment: '',
        stages,
        prodDoubleConfirmed: false,
        breakGlass: false,
        breakGlassReason: '',
        stillMay: async () => true,
      }),
    )
    // Without an answer the push may or may not stand: try again to find out.
    if (answer !== null || retries === 0) return
    time.after(
      dice.between(500, 5_000),
      () => void this.#attempt(workloadId, approvalId, stages, retries - 1),
    )
  }

  /** Sometimes push in stages; null for a push to all instances at once. */
  #makeStages(): StagePlan[] | null {
    const { dice } = this.#world
    if (!this.#hasStages || !dice.chance(0.4)) return null
    const gates = ROLLOUT_GATES.filter(() => dice.chance(0.8))
    const dwell = () => ({ dwellMs: dice.between(0, 30_000), gates })
    const stages: StagePlan[] = [{ count: 1, ...dwell() }]
    if (dice.chance(0.5)) stages.push({ percentage: 60, ...dwell() })
    if (dice.chance(0.9)) stages.push({ percentage: 100, ...dwell() })
    return stages
  }

  /** Roll back to the config with this hash, or with null to the one that the service chooses. */
  async rollBack(workloadId: string, hash: string | null): Promise<void> {
    const name = hash === null ? 'the default' : hash.slice(0, 6)
    const asked = { workloadId, comment: '', actor: AUTHOR, stillMay: async () => true }
    await ask(this.#world, `roll ${workloadId.slice(0, 4)} back to ${name}`, ({ ctx }) =>
      hash === null ? rollBackToDefault(ctx, asked) : rollBackToHash(ctx, { ...asked, hash }),
    )
  }

  /** Continue, abort or roll back one of the open rollouts, chosen at random. */
  async steer(): Promise<void> {
    const service = this.#world.service()
    if (service === null) return
    const open = [...service.fleet.state.rollingOut].filter((workload) => workload.rollout !== null)
    if (open.length === 0) return
    const workload = this.#world.dice.pick(open)
    const { id, status } = workload.rollout!.stored
    const act = this.#world.dice.pick(['continue', 'continue', 'abort', 'rollBack'] as const)
    await ask(this.#world, `${act} ${id} (${status})`, ({ fleet }) =>
      fleet.rollouts[act](workload.id, id, AUTHOR),
    )
  }
}
