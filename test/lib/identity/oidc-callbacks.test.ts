import { describe, expect, it } from 'vitest'
import type { CallbackOutcome, OnGone } from '../../../lib/identity/oidc/oidc.ts'
import { type CallbackRoom, openCallbackRoom } from '../../../lib/identity/oidc-callbacks.ts'
import { fakeClock } from '../../support/fakes.ts'

const FAILED: CallbackOutcome = { ok: false, refusal: { code: 'provider-refused' } }
const LIMITED: CallbackOutcome = { ok: false, refusal: { code: 'login-limited' } }

const SUCCEEDED: CallbackOutcome = { ok: true, token: 't', expiresAt: new Date(0), next: '/' }

const clock = fakeClock()

/** Callbacks that are under way until they are told to end. */
function openSlow() {
  const room = openCallbackRoom(clock)
  const ends: (() => void)[] = []
  const begin = (address: string, onGone?: OnGone) =>
    room(address, () => new Promise<CallbackOutcome>((resolve) => ends.push(() => resolve(FAILED))), onGone)
  const end = () => {
    for (const each of ends.splice(0)) each()
  }
  return { room, begin, end, asked: () => ends.length }
}

it('at most twenty callbacks of an address are asked about at once, and as many again once they are over', async () => {
  const { begin, end, room } = openSlow()
  const open = Array.from({ length: 20 }, () => begin('2001:db8::1'))
  // The others of the same network are the same sender; nobody else is.
  expect(await begin('2001:db8::2')).toEqual(LIMITED)
  expect(await room('192.0.2.1', async () => FAILED)).toEqual(FAILED)
  end()
  expect(await Promise.all(open)).toEqual(open.map(() => FAILED))
  for (let n = 0; n < 100; n++) expect(await room('2001:db8::1', async () => FAILED)).toEqual(FAILED)
})

describe('at most a hundred are asked about at once, whoever sends them', () => {
  /** A hundred that are asked about, one of each of a stranger's networks. */
  function strangers() {
    const slow = openSlow()
    return { ...slow, open: Array.from({ length: 100 }, (_, n) => slow.begin(`192.0.2.${n}`)) }
  }
  const settle = () => new Promise((resolve) => setImmediate(resolve))

  it('and who comes from elsewhere waits, and is asked about once each of their networks was, however many they send', async () => {
    const { begin, end, room, asked } = strangers()
    const more = Array.from({ length: 190 }, (_, n) => begin(`192.0.2.${n % 100}`))
    let isIn = false
    const honest = room('198.51.100.1', async () => SUCCEEDED).finally(() => {
      isIn = true
    })
    await settle()
    expect(asked()).toBe(100)
    for (let round = 0; round < 2; round++) {
      expect(isIn).toBe(false)
      end()
      await settle()
    }
    expect(isIn).toBe(true)
    expect(await honest).toEqual(SUCCEEDED)
    while (asked() > 0) {
      end()
      await settle()
    }
    expect(await Promise.all(more)).toEqual(more.map(() => FAILED))
  })

  it('and no more than two hundred wait: of whoever has the most there, the oldest gives way', async () => {
    const { begin, end, room, asked } = strangers()
    const busy = Array.from({ length: 200 }, (_, n) => begin(`192.0.2.${n % 20}`))
    const honest = room('198.51.100.1', async () => SUCCEEDED)
    expect(await busy[0]).toEqual(LIMITED)
    end()
    expect(await honest).toEqual(SUCCEEDED)
    while (asked() > 0) {
      end()
      await settle()
    }
    const ended = await Promise.all(busy)
    expect(ended.filter((one) => !one.ok && one.refusal.code === 'login-limited')).toHaveLength(1)
  })

  it('and who gave way, or left, has failed at nothing', async () => {
    const { begin, end, asked } = strangers()
    for (let n = 0; n < 40; n++) {
      const left: (() => void)[] = []
      void begin('198.51.100.1', (leave) => left.push(leave))
      for (const leave of left) leave()
    }
    end()
    await settle()
    // Asked about at once, and not one after the other.
    void begin('198.51.100.1')
    void begin('198.51.100.1')
    expect(asked()).toBe(2)
    end()
  })

  it('and who leaves waits no longer', async () => {
    const { end, room, open } = strangers()
    let leave = () => {}
    const left = room(
      '198.51.100.1',
      async () => SUCCEEDED,
      (listener) => {
        leave = listener
      },
    )
    leave()
    expect(await left).toEqual(LIMITED)
    end()
    await Promise.all(open)
    expect(await room('198.51.100.1', async () => SUCCEEDED)).toEqual(SUCCEEDED)
  })
})

it('one that breaks off leaves room', async () => {
  const { room } = openSlow()
  for (let n = 0; n < 25; n++)
    await expect(room('192.0.2.1', () => Promise.reject(new Error('gone')))).rejects.toThrow('gone')
})

it('after thirty failures in a minute those of an address wait for their turn, and nobody is shut out', async () => {
  const { room, begin, end, asked } = openSlow()
  for (let n = 0; n < 30; n++) expect(await room('192.0.2.1', async () => FAILED)).toEqual(FAILED)
  const one = begin('192.0.2.1')
  const colleague = room('192.0.2.1', async () => SUCCEEDED)
  const two = begin('192.0.2.1')
  expect(await room('192.0.2.2', async () => FAILED)).toEqual(FAILED)
  expect(asked()).toBe(1)
  end()
  expect(await one).toEqual(FAILED)
  expect(await colleague).toEqual(SUCCEEDED)
  expect(asked()).toBe(1)
  end()
  expect(await two).toEqual(FAILED)
  clock.advance(61_000)
  const open = [begin('192.0.2.1'), begin('192.0.2.1')]
  expect(asked()).toBe(2)
  end()
  expect(await Promise.all(open)).toEqual([FAILED, FAILED])
})

describe('of callbacks that wait for their turn', () => {
  /** An address from which thirty failed, with one that is asked about and nineteen that wait. */
  async function full() {
    const slow = openSlow()
    for (let n = 0; n < 30; n++) await slow.room('192.0.2.1', async () => FAILED)
    const gone: (() => void)[] = []
    const begin = () =>
      slow.room(
        '192.0.2.1',
        async () => FAILED,
        (listener) => gone.push(listener),
      )
    const first = slow.begin('192.0.2.1')
    return { ...slow, first, waiting: Array.from({ length: 19 }, begin), gone }
  }

  it('the one that has waited longest gives way to who comes while no more may wait', async () => {
    const { room, end, first, waiting } = await full()
    const colleague = room('192.0.2.1', async () => SUCCEEDED)
    expect(await waiting[0]).toEqual(LIMITED)
    end()
    expect(await Promise.all([first, ...waiting.slice(1), colleague])).toEqual([
      ...waiting.map(() => FAILED),
      SUCCEEDED,
    ])
    expect(await room('192.0.2.1', async () => SUCCEEDED)).toEqual(SUCCEEDED)
  })

  it('those whose senders have left wait no longer, and take nobody the place', async () => {
    const { room, end, first, waiting, gone } = await full()
    for (const leave of gone.slice(1)) leave()
    expect(await Promise.all(waiting.slice(1))).toEqual(waiting.slice(1).map(() => LIMITED))
    const colleagues = Array.from({ length: 18 }, () => room('192.0.2.1', async () => SUCCEEDED))
    end()
    expect(await Promise.all([first, waiting[0], ...colleagues])).toEqual([
      FAILED,
      FAILED,
      ...colleagues.map(() => SUCCEEDED),
    ])
  })

  it('those that are asked about already give way to nobody', async () => {
    const { begin, end, room } = openSlow()
    const open = Array.from({ length: 20 }, () => begin('192.0.2.1'))
    expect(await room('192.0.2.1', async () => SUCCEEDED)).toEqual(LIMITED)
    end()
    expect(await Promise.all(open)).toEqual(open.map(() => FAILED))
  })

  /** Twenty of each of so many addresses from which thirty failed; how each ended. */
  async function crowd(addresses: number, meanwhile: (room: CallbackRoom) => Promise<void> = async () => {}) {
    const { room, begin, end } = openSlow()
    const hosts = Array.from({ length: addresses }, (_, n) => `192.0.2.${n}`)
    for (const host of hosts) for (let n = 0; n < 30; n++) await room(host, async () => FAILED)
    let left = hosts.length * 20
    const ended = Promise.all(
      hosts.flatMap((host) => Array.from({ length: 20 }, () => begin(host).finally(() => left--))),
    )
    await meanwhile(room)
    while (left > 0) {
      end()
      await Promise.resolve()
    }
    return ended
  }

  it('there are at most twenty of an address, which take no room from others', async () => {
    const ended = await crowd(6, async (room) => {
      expect(await room('198.51.100.1', async () => FAILED)).toEqual(FAILED)
    })
    expect(ended).toEqual(ended.map(() => FAILED))
  })

  it('there are at most four hundred, from however many addresses', async () => {
    const ended = await crowd(22)
    // Beside those of each address that were asked about at once.
    expect(ended.filter((one) => one === FAILED)).toHaveLength(22 + 400)
  })
})

it('one that breaks off gives its turn on', async () => {
  const { room } = openSlow()
  for (let n = 0; n < 30; n++) await room('192.0.2.1', async () => FAILED)
  const broken = room('192.0.2.1', () => Promise.reject(new Error('gone')))
  const next = room('192.0.2.1', async () => SUCCEEDED)
  await expect(broken).rejects.toThrow('gone')
  expect(await next).toEqual(SUCCEEDED)
})
