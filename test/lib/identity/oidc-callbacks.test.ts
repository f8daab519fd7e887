import { expect, it } from 'vitest'
import type { CallbackOutcome } from '../../../lib/identity/oidc/oidc.ts'
import { openCallbackRoom } from '../../../lib/identity/oidc-callbacks.ts'
import { fakeClock } from '../../support/fakes.ts'

const FAILED: CallbackOutcome = { ok: false, refusal: { code: 'provider-refused' } }
const LIMITED: CallbackOutcome = { ok: false, refusal: { code: 'login-limited' } }

const clock = fakeClock()

/** Callbacks that are under way until they are told to end. */
function openSlow() {
  const room = openCallbackRoom(clock)
  const ends: (() => void)[] = []
  const begin = (address: string) =>
    room(address, () => new Promise<CallbackOutcome>((resolve) => ends.push(() => resolve(FAILED))))
  const end = () => {
    for (const each of ends.splice(0)) each()
  }
  return { room, begin, end }
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

it('at most a hundred are asked about at once, whoever sends them', async () => {
  const { begin, end, room } = openSlow()
  const open = Array.from({ length: 100 }, (_, n) => begin(`192.0.2.${n}`))
  expect(await begin('192.0.2.200')).toEqual(LIMITED)
  end()
  await Promise.all(open)
  expect(await room('192.0.2.200', async () => FAILED)).toEqual(FAILED)
})

it('one that breaks off leaves room', async () => {
  const { room } = openSlow()
  for (let n = 0; n < 25; n++)
    await expect(room('192.0.2.1', () => Promise.reject(new Error('gone')))).rejects.toThrow('gone')
})

it('after thirty failures in a minute those of an address take turns, and nobody is shut out', async () => {
  const { room, begin, end } = openSlow()
  for (let n = 0; n < 30; n++) expect(await room('192.0.2.1', async () => FAILED)).toEqual(FAILED)
  const one = begin('192.0.2.1')
  expect(await begin('192.0.2.1')).toEqual(LIMITED)
  expect(await room('192.0.2.2', async () => FAILED)).toEqual(FAILED)
  end()
  await one
  expect(await room('192.0.2.1', async () => FAILED)).toEqual(FAILED)
  clock.advance(61_000)
  const open = [begin('192.0.2.1'), begin('192.0.2.1')]
  end()
  expect(await Promise.all(open)).toEqual([FAILED, FAILED])
})
