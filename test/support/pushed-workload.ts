import { configHash } from '../../lib/model/config-hash.ts'
import { listTargets } from '../../lib/store/push-targets.ts'
import { findPush } from '../../lib/store/pushes.ts'
import type { StagePlan } from '../../lib/store/rollouts.ts'
import { type FakeAgent, type FakeAgentOptions, type FleetTestContext, fakeAgent } from './fleet.ts'
import { configYaml, pushConfig } from './push-config.ts'

/** The text and the hash of one of a test's configs. */
export const config = (number: number) => ({
  body: configYaml(number),
  hash: configHash(configYaml(number)),
})

/** A workload of a few instances, the first of which is pod-a, with ways to push to it. */
export class PushedWorkload {
  readonly ctx: FleetTestContext
  readonly agents: FakeAgent[]
  readonly id: string

  constructor(ctx: FleetTestContext, pods: string, options: FakeAgentOptions = {}) {
    this.ctx = ctx
    this.agents = [...pods].map((pod) => fakeAgent(ctx.fleet, { host: 'vm', pod: `pod-${pod}`, ...options }))
    this.id = this.agents[0]?.workloadId ?? ''
  }

  get live() {
    return this.ctx.fleet.workload(this.id)!
  }

  /** A new instance of the same workload. */
  join(pod: string, options: FakeAgentOptions = {}): FakeAgent {
    const agent = fakeAgent(this.ctx.fleet, { host: 'vm', pod: `pod-${pod}`, ...options })
    this.agents.push(agent)
    return agent
  }

  /** Push a config to everyone; answers the push's id. */
  async push(number: number): Promise<string> {
    const { pushId } = await pushConfig(this.ctx.fleet, this.id, configYaml(number))
    await this.ctx.advance(500)
    return pushId
  }

  /** Push a config that everyone applies. */
  async settle(number: number): Promise<string> {
    const pushId = await this.push(number)
    for (const agent of this.agents) agent.apply()
    await this.ctx.advance(500)
    return pushId
  }

  /** Push a config in stages; answers what the push answered. */
  async stage(number: number, stages: readonly StagePlan[]) {
    const outcome = await this.ctx.fleet.push(
      {
        workloadId: this.id,
        ...config(number),
        used: [],
        stages,
        path: 'request',
        actor: { userId: 'u1', email: 'pusher@example.com', askAgain: null },
        approvalId: null,
        rollbackTargetKind: null,
      },
      async () => ({ ok: true }),
    )
    await this.ctx.advance(500)
    return outcome
  }

  /** A push as it is stored. */
  async stored(pushId: string) {
    await this.ctx.fleet.writer.flush()
    return (await findPush(this.ctx.db, pushId))!
  }

  /** The stored state of each target of a push, by pod. */
  async ends(pushId: string): Promise<Record<string, string>> {
    await this.ctx.fleet.writer.flush()
    const rows = await listTargets(this.ctx.db, [pushId])
    return Object.fromEntries(
      rows.map(({ target: { podName, state, error } }) => [
        podName.replace('pod-', ''),
        error === null ? state : `${state}: ${error.cause}`,
      ]),
    )
  }

  /** Which of the configs up to 9 each instance was offered last. */
  get offered(): (number | null)[] {
    return this.agents.map((agent) => {
      const hash = agent.offered().at(-1)
      return [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].find((number) => config(number).hash === hash) ?? null
    })
  }
}
