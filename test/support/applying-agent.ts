import { expect } from 'vitest'
import { uidOf, type useLinkedFleet } from './linked-fleet.ts'
import { keyValues, type PlainMessage } from './opamp-messages.ts'
import { configYaml, pushConfig } from './push-config.ts'

/** An agent of this workload describes itself. */
export const described = (name: string) => ({
  agentDescription: {
    identifyingAttributes: keyValues({
      'service.name': name,
      'k8s.namespace.name': 'x',
      'k8s.deployment.name': name,
    }),
  },
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.alloc(32), status: 1 },
})
export const [APPLIED, APPLYING, FAILED] = [1, 2, 3] as const
export const statusOf = (hash: string, status: number) => ({
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.from(hash, 'hex'), status },
})
export const GOODBYE = { agentDisconnect: {} }

/** Agent 1, on a socket or polling, applies config 2, which agent 2 has applied; config 1 was applied by both before. */
export async function applyingAgent(
  fleet: ReturnType<typeof useLinkedFleet>,
  how: 'on a socket' | 'in polls',
) {
  const owner = fleet.openOwner()
  const front = fleet.openFront('a front')
  const other = fleet.openFront('another')
  const [link, otherLink] = [front.link(owner), other.link(owner)]
  let sequenceNum = 0
  const say = (more: PlainMessage = {}, at = front) => {
    sequenceNum++
    if (how === 'in polls') void at.poll(1, sequenceNum, more)
    else at.say(1, 1, sequenceNum, more)
  }
  const hears = async () => {
    await fleet.ctx.advance(500)
    if (how === 'in polls') say()
    await fleet.ctx.advance(500)
  }
  say(described('edge'))
  front.say(3, 2, 1, described('edge'))
  await fleet.ctx.advance(100)
  const { id } = fleet.instanceOf(1)!.workload!
  const before = await pushConfig(fleet.ctx.fleet, id, configYaml(1))
  await hears()
  say(statusOf(before.hash, APPLIED))
  front.say(3, 2, 2, statusOf(before.hash, APPLIED))
  await fleet.ctx.advance(1_000)
  const push = await pushConfig(fleet.ctx.fleet, id, configYaml(2))
  await hears()
  say(statusOf(push.hash, APPLYING))
  front.say(3, 2, 3, statusOf(push.hash, APPLIED))
  await fleet.ctx.advance(500)
  await fleet.ctx.advance(500)
  const workload = () => fleet.ctx.fleet.workload(id)!
  expect(workload().active!.targets.get(uidOf(1))!.state).toBe('applying')
  return { owner, front, other, link, otherLink, say, workload, hash: push.hash }
}
