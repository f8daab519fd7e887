import { describe, expect, it } from 'vitest'
import { APPLYING_MS, type Offer } from '../../../lib/fleet/decide/offer.ts'
import type { Instance, Workload } from '../../../lib/fleet/state/model.ts'
import type { Connection } from '../../../lib/store/connection.ts'
import { Placements } from '../agents/placements.ts'
import { OfferPromises } from './offers.ts'

const UID = '02af'
const WATCHER = {} as Connection
const instance = {
  uid: UID,
  workload: { id: 'a' },
  connection: { id: 3, transport: 'ws' },
  connectedAt: new Date(0),
} as unknown as Instance
const offer = { pushId: 'p1', generation: 1 } as Offer

/** What is found where a config is offered twice over one socket, and `meanwhile` in between. */
function findAfter(
  meanwhile: (placements: Placements, promises: OfferPromises, nowMs: number) => void,
): string[] {
  const problems: string[] = []
  const promises = new OfferPromises(WATCHER, (problem) => problems.push(problem))
  const placements = new Placements()
  placements.described(UID, 'host-1', 1_000)
  for (const nowMs of [10_000, 20_000]) {
    promises.sent('service 1', instance, offer, 'assigned', {
      nowMs,
      linkedAtMs: 1_000,
      placedAtMs: placements.movedAtMs(UID),
      isShared: true,
      returns: 0,
    })
    meanwhile(placements, promises, nowMs)
  }
  return problems
}

describe('a config that is offered over one socket as if it was for the first time', () => {
  it('is offered once for each generation', () => {
    expect(findAfter(() => {})).toEqual([`${UID} was offered generation 1 again: assigned`])
  })

  it('may be offered again where another agent under the uid had taken it to its own workload and back', () => {
    const toAndFro = (placements: Placements) => {
      placements.described(UID, 'host-2', 12_000)
      placements.described(UID, 'host-1', 14_000)
    }
    expect(findAfter(toAndFro)).toEqual([])
  })

  it('may be offered again where the offer before was not sent, though the one before that was', () => {
    // On the socket that it has restarted on: each of the last two is the first to the new process.
    const restarted = (_: Placements, promises: OfferPromises, nowMs: number) => {
      for (const atMs of [1, 2]) {
        if (nowMs !== 20_000) continue
        promises.sent('service 1', instance, offer, 'new-connection', {
          nowMs: nowMs + atMs * 10_000,
          linkedAtMs: 25_000,
          placedAtMs: 0,
          isShared: true,
          returns: 0,
        })
        if (atMs === 1) promises.notSent('service 1', instance)
      }
    }
    expect(findAfter(restarted)).toEqual(findAfter(() => {}))
  })

  it('may be offered as to a new connection where another agent under the uid answered meanwhile, and not to one that has its uid alone', () => {
    const find = (isShared: boolean) => {
      const problems: string[] = []
      const promises = new OfferPromises(WATCHER, (problem) => problems.push(problem))
      for (const nowMs of [10_000, 20_000]) {
        const about = { nowMs, linkedAtMs: 1_000, placedAtMs: 0, isShared, returns: 0 }
        promises.sent('service 1', instance, offer, 'new-connection', about)
      }
      return problems
    }
    expect(find(true)).toEqual([])
    expect(find(false)).toEqual([`${UID} was offered generation 1 again: new-connection`])
  })

  it('may be offered again where another push was assigned meanwhile of which nothing was sent, and not where none was', () => {
    const assigned = (active: string, between: string | null) => (_: Placements, promises: OfferPromises) => {
      for (const pushId of [between ?? active, active]) {
        const followed = { push: { pushId }, scope: null }
        const workload = {
          id: 'a',
          instances: new Set([instance]),
          rollout: null,
          takenBack: null,
          active: followed,
        }
        promises.pushChanged('service 1', workload as unknown as Workload)
      }
    }
    expect(findAfter(assigned('p1', 'p2'))).toEqual([])
    expect(findAfter(assigned('p1', null))).toEqual([`${UID} was offered generation 1 again: assigned`])
  })

  it('may not be where the agent only described itself again', () => {
    const again = (placements: Placements) => placements.described(UID, 'host-1', 12_000)
    expect(findAfter(again)).toHaveLength(1)
  })

  it('may go out three times to each process of an agent that starts anew behind a socket that stays open, and not four times', () => {
    const find = (restartedAtMs: number) => {
      const problems: string[] = []
      const promises = new OfferPromises(WATCHER, (problem) => problems.push(problem))
      for (const turn of [1, 2, 3, 4]) {
        const nowMs = turn * APPLYING_MS
        const linkedAtMs = nowMs > restartedAtMs ? restartedAtMs : 0
        const about = { nowMs, linkedAtMs, placedAtMs: 0, isShared: false, returns: 0 }
        promises.sent('service 1', instance, offer, turn === 1 ? 'assigned' : 'applying-too-long', about)
      }
      return problems
    }
    expect(find(APPLYING_MS + 1)).toEqual([])
    expect(find(0)).toEqual([`${UID} was offered more than 3 times`])
  })
})
