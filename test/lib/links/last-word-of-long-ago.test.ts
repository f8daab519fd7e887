import { expect, it } from 'vitest'
import { useLinkedFleet } from '../../support/linked-fleet.ts'
import { keyValues } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// What an agent said of its config last counts unless it was heard of since. A new owner is told of agents that are back at
// other fronts a moment later.

const database = await useTestDatabase()
const fleet = useLinkedFleet(database)
const { instanceOf, openFront, openOwner, takeOver } = fleet
const DESCRIBED = {
  agentDescription: {
    identifyingAttributes: keyValues({
      'service.name': 'edge',
      'k8s.namespace.name': 'x',
      'k8s.deployment.name': 'edge',
    }),
  },
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.alloc(32), status: 1 },
}
const statusOf = (hash: string, status: number) => ({
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.from(hash, 'hex'), status },
})

it.each([
  ['cut off', null],
  ['linked to an owner of the version before', 7],
] as const)(
  'what an agent failed at a front that is %s, and applied elsewhere since, fails nothing at the next owner',
  async (_, version) => {
    const owner = openOwner()
    const [front, other] = [openFront('a front'), openFront('another')]
    const link = front.link(owner)
    const otherLink = other.link(owner)
    front.say(1, 1, 1, DESCRIBED)
    await fleet.ctx.advance(100)
    const { id } = instanceOf(1)!.workload!
    const workload = () => fleet.ctx.fleet.workload(id)!
    const before = await pushConfig(fleet.ctx.fleet, id, configYaml(1))
    await fleet.ctx.advance(1_000)
    front.say(1, 1, 2, statusOf(before.hash, 1))
    await fleet.ctx.advance(1_000)
    const push = await pushConfig(fleet.ctx.fleet, id, configYaml(2))
    await fleet.ctx.advance(1_000)
    expect(instanceOf(1)!.offer).toMatchObject({ pushId: push.pushId, hasLeft: true })
    // Its front is cut off. The agent fails the config, as a port is taken, and goes on at another front, where it applies it.
    link.break()
    front.say(1, 1, 3, statusOf(push.hash, 3))
    front.close(1)
    if (version !== null) front.link(owner, version)
    await fleet.ctx.advance(1_000)
    other.say(7, 1, 1, { ...DESCRIBED, ...statusOf(push.hash, 1) })
    await fleet.ctx.advance(2_000)
    expect(workload().newestPush).toMatchObject({ pushId: push.pushId, status: 'applied' })
    // An hour later another process takes over, and the first front finds it half a second before the other one does.
    for (let n = 2; n < 720; n++) {
      other.say(7, 1, n)
      await fleet.ctx.advance(5_000)
    }
    otherLink.break()
    const next = await takeOver(2)
    front.link(next)
    await fleet.ctx.advance(500)
    other.link(next)
    await fleet.ctx.advance(3_000)
    expect({
      newest: { kind: workload().newestPush!.kind, status: workload().active!.push.status },
      quarantined: [...workload().quarantinedHashes],
      place: instanceOf(1)?.connection?.place,
    }).toEqual({ newest: { kind: 'approval', status: 'applied' }, quarantined: [], place: 'another/7' })
  },
)
