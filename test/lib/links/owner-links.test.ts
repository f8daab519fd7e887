import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { UNSTORED_NUMBERS_MAX } from '../../../lib/fleet/state/unstored-numbers.ts'
import {
  type FrontEntry,
  LINK_MESSAGE_BYTES_MAX,
  type OwnerEntry,
  readOwnerBatch,
  writeBatch,
} from '../../../lib/links/frames.ts'
import { OwnerLinks } from '../../../lib/links/owner-links.ts'
import { silentLog } from '../../../lib/log.ts'
import { createOpampExchange } from '../../../lib/opamp/exchange.ts'
import { takeAway } from '../../support/away-database.ts'
import { createFleetContext, type FleetTestContext } from '../../support/fleet.ts'
import { agentBody, keyValues, type PlainMessage, uidBytes } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const EPOCH = 4
const UID = Buffer.from(uidBytes(1)).toString('hex')
const CONN = 7

const database = await useTestDatabase()
let ctx: FleetTestContext
beforeEach(async () => {
  ctx = await createFleetContext(database)
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

function openLinks(): OwnerLinks {
  const { clock, timers, fleet } = ctx
  const exchange = createOpampExchange({ fleet, clock, log: silentLog, messageBytesMax: 1_048_576 })
  return new OwnerLinks({ fleet, exchange, epoch: EPOCH, mayAct: () => true, clock, timers, log: silentLog })
}

/** A link of a front, with what the owner said on it. */
function openLink({ links = openLinks(), memberId = 'front' } = {}) {
  const { clock } = ctx
  const told: OwnerEntry[] = []
  let isCut = false
  const link = links.open(
    {
      send: (text) => told.push(...readOwnerBatch(text).entries) >= 0,
      drop() {
        isCut = true
      },
    },
    memberId,
  )
  const say = (entry: FrontEntry, { cell = 0, epoch = EPOCH, atMs = clock.monotonicMs() } = {}) =>
    link.take(writeBatch({ cell, epoch, atMs, entries: [entry] }))
  const report = (more: PlainMessage, of?: { cell?: number; epoch?: number }) => {
    const message = agentBody({ instanceUid: uidBytes(1), sequenceNum: 1, capabilities: 0x1003, ...more })
    say(['report', 1, CONN, false, Buffer.from(message).toString('base64'), null], of)
  }
  const poll = async (more: PlainMessage, of?: { atMs?: number }) => {
    const message = agentBody({ instanceUid: uidBytes(1), capabilities: 0x1003, ...more })
    say(['poll', 1, '10.0.0.1', String(more['sequenceNum']), Buffer.from(message).toString('base64')], of)
    await ctx.advance(1)
    await ctx.advance(1)
  }
  return {
    say,
    report,
    poll,
    told,
    isCut: () => isCut,
    offers: () => told.filter((entry): entry is OwnerEntry & { 0: 'tell' } => entry[0] === 'tell'),
  }
}

const DESCRIBED = { agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'edge' }) } }

describe('an offer over a link', () => {
  it('says the generation of its workload, and is made again where the front could not send it', async () => {
    const { say, report, offers } = openLink()
    report(DESCRIBED)
    const [workload] = ctx.fleet.state.workloads.values()
    await pushConfig(ctx.fleet, workload!.id, configYaml(1))
    await ctx.advance(1_000)
    const [first] = offers()
    const { id: workloadId, generation } = workload!
    expect(first![3].offer).toEqual({ hash: expect.any(String), workloadId, generation })
    say(['not-sent', CONN, UID, first![3].offer!.hash, first![4]])
    await ctx.advance(2_000)
    expect(offers()).toHaveLength(2)
    expect(offers()[1]![4]).not.toBe(first![4])
  })

  it('is not made again because the front could not send an earlier one of the same config', async () => {
    const { say, report, offers } = openLink()
    report(DESCRIBED)
    const [workload] = ctx.fleet.state.workloads.values()
    await pushConfig(ctx.fleet, workload!.id, configYaml(1))
    await ctx.advance(1_000)
    const [first] = offers()
    const notSent: FrontEntry = ['not-sent', CONN, UID, first![3].offer!.hash, first![4]]
    say(notSent)
    await ctx.advance(2_000)
    say(notSent)
    await ctx.advance(5_000)
    expect(offers()).toHaveLength(2)
  })
})

describe('what a front says', () => {
  it('to the owner of another epoch is nothing to this one, and of another cell ends the link', () => {
    const { report, isCut } = openLink()
    report(DESCRIBED, { epoch: EPOCH - 1 })
    expect(ctx.fleet.state.instances.size).toBe(0)
    expect(isCut()).toBe(false)
    report(DESCRIBED, { cell: 1 })
    expect(ctx.fleet.state.instances.size).toBe(0)
    expect(isCut()).toBe(true)
  })

  it('is confirmed once it is stored, of so many that wait for an absent database the last', async () => {
    const { say, report, told } = openLink()
    const stored = () => told.flatMap((entry) => (entry[0] === 'stored' ? [entry[1]] : []))
    const giveBack = takeAway(database.pool)
    try {
      report(DESCRIBED)
      for (let n = 1; n <= UNSTORED_NUMBERS_MAX + 1; n++) say(['ended', n, CONN + 1, UID])
      await ctx.advance(2_000)
      expect(stored()).toEqual([])
    } finally {
      giveBack()
    }
    await ctx.advance(2_000)
    await ctx.fleet.writer.flush()
    await ctx.advance(1)
    const numbers = stored()
    expect(numbers.at(-1)).toBe(UNSTORED_NUMBERS_MAX + 1)
    expect(numbers.length).toBeLessThanOrEqual(UNSTORED_NUMBERS_MAX)
    expect(numbers.length).toBeGreaterThan(0.9 * UNSTORED_NUMBERS_MAX)
  })

  it('is confirmed by no write that had begun before it was said', async () => {
    const { say, report, told } = openLink()
    const stored = () => told.flatMap((entry) => (entry[0] === 'stored' ? [entry[1]] : []))
    const { pool } = database
    const transaction = pool.transaction.bind(pool)
    report(DESCRIBED)
    say(['ended', 1, CONN + 1, UID])
    pool.transaction = (name, work) => {
      pool.transaction = transaction
      // Said as the write is under way.
      say(['ended', 2, CONN + 1, UID])
      return transaction(name, work)
    }
    await ctx.fleet.writer.flush()
    await ctx.advance(1)
    expect(stored()).toEqual([1])
    await ctx.fleet.writer.flush()
    await ctx.advance(1)
    expect(stored()).toEqual([1, 2])
  })

  it('over a link that it has replaced is nothing any more, and that link is ended', () => {
    const links = openLinks()
    const former = openLink({ links })
    const other = openLink({ links, memberId: 'another front' })
    former.report(DESCRIBED)
    expect(links.list()).toHaveLength(2)
    openLink({ links })
    expect([former.isCut(), other.isCut()]).toEqual([true, false])
    expect(links.list()).toHaveLength(2)
    expect(ctx.fleet.state.instances.get(UID)?.connection).toBeNull()
    former.report({ ...DESCRIBED, sequenceNum: 2 })
    expect(ctx.fleet.state.instances.get(UID)).toMatchObject({ connection: null, sequenceNum: 1 })
  })

  it('of a poll that has long been answered is no new start where the agent has polled elsewhere since', async () => {
    const links = openLinks()
    const stalled = openLink({ links })
    const quick = openLink({ links, memberId: 'another front' })
    const atMs = ctx.clock.monotonicMs()
    await stalled.poll({ ...DESCRIBED, sequenceNum: 4 })
    const [workload] = ctx.fleet.state.workloads.values()
    await pushConfig(ctx.fleet, workload!.id, configYaml(1))
    await quick.poll({ ...DESCRIBED, sequenceNum: 6 })
    const { hash } = ctx.fleet.state.instances.get(UID)!.offer!
    const remoteConfigStatus = { lastRemoteConfigHash: Buffer.from(hash, 'hex'), status: 2 }
    await quick.poll({ sequenceNum: 7, remoteConfigStatus })
    await ctx.advance(3_000)
    await stalled.poll({ ...DESCRIBED, sequenceNum: 5 }, { atMs })
    expect(ctx.fleet.state.instances.get(UID)).toMatchObject({
      sequenceNum: 7,
      reported: { isKnown: true, hash, status: 'applying' },
    })
    expect(stalled.told.at(-1)).toEqual(['answer', 1, null])
    // What the owner has not heard counts however late it comes.
    await stalled.poll({ sequenceNum: 8 }, { atMs: atMs + 10 })
    expect(ctx.fleet.state.instances.get(UID)).toMatchObject({ sequenceNum: 8 })
  })
})

it('a goodbye, an end or a last word that the fleet breaks on ends no link, and is not said again on the next one', async () => {
  const { say, report, told, isCut } = openLink()
  report(DESCRIBED)
  const message = Buffer.from(agentBody({ instanceUid: uidBytes(1), sequenceNum: 2 })).toString('base64')
  ctx.fleet.hadSaidGoodbye = () => {
    throw new Error('a fault')
  }
  ctx.fleet.hadEnded = () => {
    throw new Error('a fault')
  }
  ctx.fleet.hadSaidOfConfig = () => {
    throw new Error('a fault')
  }
  say(['goodbye', 2, CONN, 10, message])
  say(['ended', 3, CONN, UID])
  say(['last-word', 4, CONN, 10, message])
  await ctx.advance(500)
  await ctx.advance(1)
  expect(isCut()).toBe(false)
  expect(told.flatMap((entry) => (entry[0] === 'stored' ? [entry[1]] : []))).toEqual([2, 3, 4])
})

it('however many texts were removed, fronts are told in messages that are no longer than those of a link may be', async () => {
  const links = openLinks()
  const sizes: number[] = []
  let told = 0
  links.open(
    {
      send(text) {
        sizes.push(text.length)
        for (const [kind, hashes] of readOwnerBatch(text).entries)
          if (kind === 'forget') told += String(hashes).split(',').length
        return true
      },
      drop() {},
    },
    'front',
  )
  const hashes = Array.from({ length: 300_000 }, (_, n) => String(n).padStart(64, '0'))
  links.forgetTexts(hashes)
  await ctx.advance(1)
  expect(told).toBe(hashes.length)
  expect(Math.max(...sizes)).toBeLessThan(LINK_MESSAGE_BYTES_MAX)
})
