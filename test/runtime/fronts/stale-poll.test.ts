import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import { findPush } from '../../../lib/store/pushes.ts'
import { DEFAULT_CONFIG } from '../../../runtime/quickstart/simulated-agent.ts'
import { postAgent } from '../../support/agent-wire.ts'
import { eventually } from '../../support/eventually.ts'
import { startTestMember, untilOwner } from '../../support/members.ts'
import { keyValues, type PlainMessage, uidBytes } from '../../support/opamp-messages.ts'
import { offerOf, statusOf } from '../../support/opamp-scene.ts'
import { createTestDatabase } from '../../support/postgres.ts'

// An agent polls a front, whose owner's answer is late until another process is the owner.

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const FULL = {
  agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'poller' }) },
  remoteConfigStatus: { status: 0 },
}

/** A way to the port that `target` names, on which what comes back can be held. */
async function startWay(target: () => number) {
  let isHeld = false
  const held: (() => void)[] = []
  const sockets = new Set<Socket>()
  const server = createServer((caller) => {
    const onward = connect(target(), '127.0.0.1')
    for (const socket of [caller, onward]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
    }
    const bring = (act: () => void) => void (isHeld ? held.push(act) : act())
    caller.pipe(onward)
    onward.on('data', (data) => bring(() => void caller.write(data)))
    onward.on('close', () => bring(() => void caller.destroy()))
    caller.on('close', () => onward.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold() {
      isHeld = true
    },
    heldCount: () => held.length,
    goOn() {
      isHeld = false
      for (const act of held.splice(0)) act()
    },
  }
}

it('an offer with which a former owner has answered a poll reaches nobody, and the next owner offers it anew', {
  timeout: 120_000,
}, async () => {
  const database = await createTestDatabase()
  cleanups.push(() => database.drop())
  let port = 0
  const way = await startWay(() => port)
  const former = await startTestMember(database, { cluster: { advertiseAddress: way.address } as never })
  cleanups.push(() => former.stop())
  port = Number(former.internalAddress.split(':')[1])
  await untilOwner(former)
  const front = await startTestMember(database)
  cleanups.push(() => front.stop())
  let sequenceNum = 0
  const offers: string[] = []
  const poll = async (more: PlainMessage = {}) => {
    const reply = await postAgent(`127.0.0.1:${front.member.opampPort}/v1/opamp`, {
      instanceUid: uidBytes(7),
      sequenceNum: ++sequenceNum,
      capabilities: 0x1807,
      ...more,
    })
    expect(reply.status).toBe(200)
    const offer = offerOf(reply.message())
    if (offer !== undefined) offers.push(offer.hash)
  }
  const { fleet } = former.member.owner()!.ctx
  await eventually('it is known', async () => {
    await poll(FULL)
    return [...fleet.state.workloads.values()].some(({ live }) => live.count === 1)
  })
  const [workloadId] = fleet.state.workloads.keys()
  const hash = configHash(DEFAULT_CONFIG)
  const asked = { workloadId: workloadId!, body: DEFAULT_CONFIG, hash, used: [], path: 'request' as const }
  const by = { approvalId: null, rollbackTargetKind: null }
  const actor = { userId: 'u1', email: 'a@example.com', askAgain: null }
  const pushed = await fleet.push({ ...asked, ...by, actor }, async () => ({ ok: true }))
  if (!pushed.ok) throw new Error(pushed.code)

  way.hold()
  await poll()
  expect([offers, way.heldCount() > 0]).toEqual([[], true])
  await former.stop()
  await untilOwner(front)
  way.goOn()
  await eventually('it is offered the config', async () => {
    // The next owner asks for all of it.
    await poll(FULL)
    return offers.length > 0
  })
  await poll(statusOf(hash, 1))
  await eventually('it has applied it', async () => {
    const row = await findPush(database.pool, pushed.push.pushId)
    return row?.status === 'applied' && row.counts.applied === 1
  })
  expect(offers).toEqual([hash])
})
