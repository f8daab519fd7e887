import { expect, it } from 'vitest'
import { SimFleet } from './sim-fleet.ts'
import type { SimProcess } from './sim-process.ts'

// Courses that once ended badly, or could: each as a reader of the code traced it, or the simulation found it.

const [A, B, C, D, E] = [0, 1, 2, 3, 4]

/** Start a process at each of these places, the first one first, and let them find each other. */
async function startAll(fleet: SimFleet, ...places: number[]): Promise<SimProcess[]> {
  const started: SimProcess[] = []
  for (const place of places) {
    started.push(fleet.start(place))
    await fleet.pass(1_500)
  }
  await fleet.pass(15_000)
  return started
}

async function stop(fleet: SimFleet, process: SimProcess): Promise<void> {
  const stopped = process.stop()
  while (!process.isDead) await fleet.pass(50)
  await stopped
}

/** Let time pass until this is so. */
async function until(fleet: SimFleet, isSo: () => boolean): Promise<void> {
  const sinceMs = fleet.time.nowMs
  while (!isSo()) {
    if (fleet.time.nowMs - sinceMs > 60_000)
      throw new Error(`not within a minute: ${JSON.stringify(fleet.events)}`)
    await fleet.pass(100)
  }
}

/** Let time pass until this one owns; how long that took. */
async function untilOwns(
  fleet: SimFleet,
  isMeant: (owner: SimProcess) => boolean,
  withinMs: number,
): Promise<number> {
  const sinceMs = fleet.time.nowMs
  while (fleet.owner === null || !isMeant(fleet.owner)) {
    if (fleet.time.nowMs - sinceMs > withinMs)
      throw new Error(`not within ${withinMs} ms: ${JSON.stringify(fleet.events)}`)
    await fleet.pass(50)
  }
  return fleet.time.nowMs - sinceMs
}

/** That the owner stays the same for so long. */
async function expectKept(fleet: SimFleet, ms: number): Promise<void> {
  const before = fleet.events.length
  await fleet.pass(ms)
  expect(fleet.events.slice(before)).toEqual([])
}

const isAt =
  (...places: number[]) =>
  ({ place }: SimProcess) =>
    places.includes(place)

it('of five, two that others do not reach are tried and a third owns', async () => {
  const fleet = new SimFleet()
  const [c] = await startAll(fleet, C, D, E, A, B)
  for (const place of [A, B]) fleet.waysTo(place, 5, false)
  fleet.kill(c!)
  await untilOwns(fleet, isAt(D, E), 40_000)
  await expectKept(fleet, 700_000)
})

it('a newcomer that only itself reaches is not ready, and the one of before that all reach owns at last', async () => {
  const fleet = new SimFleet()
  const [a, b, c] = await startAll(fleet, A, B, C)
  // The next build's processes are at other places, and nobody reaches them.
  for (const place of [D, E, 5]) fleet.waysTo(place, 6, false)
  const next = await startAll(fleet, D, E)
  expect(next.map(({ isReady }) => isReady)).toEqual([true, true])
  await stop(fleet, b!)
  await stop(fleet, a!)
  await fleet.pass(2_000)
  const newcomer = fleet.start(5)
  while (fleet.owner !== c) {
    if (fleet.time.nowMs > 200_000) throw new Error(JSON.stringify(fleet.events))
    expect(newcomer.isReady).toBe(false)
    await fleet.pass(500)
  }
  await expectKept(fleet, 60_000)
})

it('one look in which nobody was heard makes no owner stay', async () => {
  const fleet = new SimFleet()
  await startAll(fleet, A, B, C)
  const owner = fleet.owner!
  fleet.waysTo(owner.place, 3, false)
  await fleet.pass(6_000)
  fleet.rows.isAway = true
  await fleet.pass(4_500)
  fleet.rows.isAway = false
  await untilOwns(fleet, (one) => one !== owner, 60_000)
  await expectKept(fleet, 60_000)
})

it('of three, an owner that is not reached stays not, also where the one before was killed and came back', async () => {
  for (const bad of [[A], [A, B]]) {
    const fleet = new SimFleet()
    // The one that owns started first, so that a bad one follows it.
    const [c] = await startAll(fleet, C, B, A)
    for (const place of bad) fleet.waysTo(place, 3, false)
    await fleet.pass(6_000)
    fleet.kill(c!)
    await fleet.pass(3_000)
    fleet.start(C)
    await untilOwns(fleet, (owner) => !bad.includes(owner.place), 60_000)
    await expectKept(fleet, 60_000)
  }
})

it('the sound one that was restarted in place owns, though the others were tried', async () => {
  const fleet = new SimFleet()
  await startAll(fleet, C, B, A)
  for (const place of [A, B]) fleet.waysTo(place, 3, false)
  fleet.kill(fleet.owner!)
  await fleet.pass(3_000)
  fleet.start(C)
  await untilOwns(fleet, isAt(C), 60_000)
  fleet.kill(fleet.owner!)
  await fleet.pass(3_000)
  fleet.start(C)
  await untilOwns(fleet, isAt(C), 15_000)
  await expectKept(fleet, 60_000)
})

it('after a fault of all links a killed owner is followed at once: those that were tried do not wait for each other', async () => {
  const fleet = new SimFleet()
  await startAll(fleet, A, B, C)
  for (const place of [A, B, C]) fleet.waysTo(place, 3, false)
  await fleet.pass(60_000)
  for (const place of [A, B, C]) fleet.waysTo(place, 3, true)
  await fleet.pass(20_000)
  fleet.kill(fleet.owner!)
  expect(await untilOwns(fleet, () => true, 20_000)).toBeLessThan(3_000)
})

it('whoever waits for one that cannot load owns at last', async () => {
  const fleet = new SimFleet()
  const [a, b] = await startAll(fleet, A, B)
  fleet.way(C, A, false)
  fleet.way(C, B, false)
  fleet.start(C)
  await fleet.pass(15_000)
  b!.loading = { ms: 1_000, fails: true }
  fleet.kill(a!)
  await untilOwns(fleet, isAt(C), 120_000)
})

it('processes that never had a link do not wait for each other, nor for one that is gone', async () => {
  const fleet = new SimFleet()
  for (const from of [B, C]) fleet.way(from, A, false)
  for (const to of [B, C]) fleet.way(A, to, false)
  const [a] = await startAll(fleet, A, B, C)
  expect(fleet.owner).toBe(a)
  fleet.kill(a!)
  expect(await untilOwns(fleet, () => true, 20_000)).toBeLessThan(3_000)
})

it('newcomers without a link cost those that wait to own no time', async () => {
  const fleet = new SimFleet()
  const [a] = await startAll(fleet, A, B)
  for (const from of [C, D, E]) {
    fleet.way(from, A, false)
    fleet.way(from, B, false)
  }
  await startAll(fleet, C, D, E)
  fleet.kill(a!)
  expect(await untilOwns(fleet, isAt(B), 20_000)).toBeLessThan(1_200)
})

it('one that has left costs the next one no time', async () => {
  const fleet = new SimFleet()
  const [, , c] = await startAll(fleet, A, B, C)
  fleet.kill(fleet.owner!)
  await untilOwns(fleet, isAt(C), 3_000)
  fleet.waysTo(C, 3, false)
  await until(fleet, () => fleet.events.at(-1)!.kind === 'left')
  expect(c!.isDead).toBe(false)
  fleet.start(A)
  expect(await untilOwns(fleet, (owner) => owner !== c, 20_000)).toBeLessThan(1_500)
})

it.each([
  ['', 3_000],
  [', however long that took,', 12_000],
])('one failed claim of the only one that was not tried%s gives the fleet to no other one', async (_, ms) => {
  const fleet = new SimFleet()
  const [, , c] = await startAll(fleet, A, B, C)
  c!.loading = { ms, fails: true }
  for (const place of [A, B]) fleet.waysTo(place, 3, false)
  // A owns, nobody follows it, and C is the first to claim.
  await until(fleet, () => fleet.holder === c)
  await fleet.pass(ms + 100)
  c!.loading = { ms: 200, fails: false }
  await untilOwns(fleet, isAt(C), 60_000)
  await expectKept(fleet, 60_000)
})

it('a newcomer that owns and reaches only itself is not ready beside others that had links', async () => {
  const fleet = new SimFleet()
  const [a, b, c] = await startAll(fleet, A, B, C)
  for (const place of [A, B, C]) fleet.way(D, place, false)
  fleet.waysTo(D, 4, false)
  const [newcomer] = await startAll(fleet, D)
  for (const process of [b!, c!]) process.loading = { ms: 200, fails: true }
  fleet.kill(a!)
  await untilOwns(fleet, isAt(D), 120_000)
  for (let seconds = 0; seconds < 8; seconds++) {
    await fleet.pass(1_000)
    expect([newcomer!.link?.to, newcomer!.isReady]).toEqual([newcomer, false])
  }
})

it('one that cannot load once is waited for by those that were tried, also just after', async () => {
  const fleet = new SimFleet()
  await startAll(fleet, A, B, C)
  for (const place of [A, B]) fleet.waysTo(place, 3, false)
  await untilOwns(fleet, isAt(C), 60_000)
  fleet.kill(fleet.owner!)
  fleet.waysTo(C, 3, true)
  await fleet.pass(100)
  const next = fleet.start(C)
  next.loading = { ms: 1_500, fails: true }
  await until(fleet, () => fleet.holder === next)
  await fleet.pass(1_600)
  next.loading = { ms: 200, fails: false }
  await untilOwns(fleet, () => true, 60_000)
  expect(fleet.owner).toBe(next)
})

it('where none reaches any, itself as well, each is tried once and the last one stays', async () => {
  const fleet = new SimFleet()
  const [a] = await startAll(fleet, A, B, C, D)
  for (const from of [A, B, C, D]) for (const to of [A, B, C, D]) fleet.way(from, to, false)
  fleet.kill(a!)
  await fleet.pass(120_000)
  expect(fleet.events.filter(({ kind }) => kind === 'left').length).toBeLessThanOrEqual(2)
  await expectKept(fleet, 300_000)
})

it('where none reaches another one, there are as many hand-overs as others in ten minutes', async () => {
  const fleet = new SimFleet()
  await startAll(fleet, A, B, C, D)
  for (const from of [A, B, C, D]) fleet.waysTo(from, 4, false)
  for (let count = 0; count < 3; count++) {
    const before = fleet.events.length
    await fleet.pass(600_000)
    expect(fleet.events.slice(before).filter(({ kind }) => kind === 'left').length).toBeLessThanOrEqual(4)
  }
})

it('whoever ends the sessions of an owner whose host is gone leaves the lock to one that is reached', async () => {
  for (let offset = 0; offset < 300; offset += 50) {
    const fleet = new SimFleet()
    const [c] = await startAll(fleet, C, B)
    for (let from = 0; from < 3; from++) fleet.way(from, A, false)
    await fleet.pass(offset)
    await startAll(fleet, A)
    fleet.vanish(c!)
    await untilOwns(fleet, () => true, 8_000)
    expect(fleet.owner!.place).toBe(B)
  }
})

it('an owner that is cut off both ways leaves the fleet to those that reach each other', async () => {
  const fleet = new SimFleet()
  const [a] = await startAll(fleet, A, B, C)
  for (const place of [B, C]) {
    fleet.way(A, place, false)
    fleet.way(place, A, false)
  }
  await untilOwns(fleet, (owner) => owner !== a, 30_000)
  await expectKept(fleet, 60_000)
})

it('of two, an owner that the other one does not reach leaves where it reaches that one, and stays where not', async () => {
  for (const isReached of [true, false]) {
    const fleet = new SimFleet()
    const [a, b] = await startAll(fleet, A, B)
    fleet.way(B, A, false)
    fleet.way(A, B, isReached)
    await fleet.pass(60_000)
    expect(fleet.owner).toBe(isReached ? b : a)
    await expectKept(fleet, 700_000)
  }
})

it('an owner stays where newcomers that it does not reach never had a link', async () => {
  const fleet = new SimFleet()
  const [a] = await startAll(fleet, A)
  for (const place of [B, C]) {
    fleet.waysTo(place, 3, false)
    fleet.way(place, A, false)
  }
  await startAll(fleet, B, C)
  await expectKept(fleet, 700_000)
  expect(fleet.processes.map(({ isReady }) => isReady)).toEqual([true, false, false])
  expect(fleet.owner).toBe(a)
})

it('at a cold start the one that all reach owns, be it the first or the last', async () => {
  for (const sound of [A, B, C]) {
    const fleet = new SimFleet()
    for (const place of [A, B, C]) if (place !== sound) fleet.waysTo(place, 3, false)
    for (const place of [A, B, C]) fleet.start(place)
    await untilOwns(fleet, isAt(sound), 60_000)
    await expectKept(fleet, 60_000)
  }
})

it('while one after the other is replaced, nobody leaves and all are ready', async () => {
  const fleet = new SimFleet()
  const former = await startAll(fleet, A, B, C)
  for (const process of former) {
    const next = fleet.start(process.place)
    await until(fleet, () => next.isReady)
    await stop(fleet, process)
    expect(await untilOwns(fleet, () => true, 5_000)).toBeLessThan(1_000)
  }
  await fleet.pass(30_000)
  expect(fleet.events.filter(({ kind }) => kind === 'left')).toEqual([])
  expect(fleet.processes.map(({ isReady }) => isReady)).toEqual([true, true, true])
})

it('two that fail over and over to load do not keep a third one out that others do not reach', async () => {
  for (const [fast, slow] of [
    [500, 3_000],
    [2_000, 9_000],
    [6_000, 7_000],
  ] as const) {
    const fleet = new SimFleet()
    const [a, b, c] = await startAll(fleet, A, B, C)
    b!.loading = { ms: fast, fails: true }
    c!.loading = { ms: slow, fails: true }
    fleet.waysTo(A, 3, false)
    await until(fleet, () => fleet.owner === null)
    await untilOwns(fleet, (owner) => owner === a, 45_000)
    await expectKept(fleet, 300_000)
  }
})

it('a newcomer that cannot own and gets no link takes the fleet less and less often', {
  timeout: 60_000,
}, async () => {
  const fleet = new SimFleet()
  const [a] = await startAll(fleet, A)
  fleet.way(B, A, false)
  fleet.start(B).loading = { ms: 500, fails: true }
  await fleet.pass(3_600_000)
  expect(fleet.owner).toBe(a)
  expect(fleet.events.filter(({ kind }) => kind === 'left').length).toBe(3)
  // What was restarted may be able to.
  fleet.kill(fleet.processes.find(isAt(B))!)
  const next = fleet.start(B)
  await untilOwns(fleet, (owner) => owner === next, 900_000)
})

it('processes whose clocks differ by minutes follow each other, and an owner that is killed is followed at once', async () => {
  const fleet = new SimFleet()
  for (const [place, aheadMs] of [
    [A, -90_000],
    [B, 0],
    [C, 90_000],
  ] as const)
    fleet.aheadMs.set(place, aheadMs)
  await startAll(fleet, A, B, C)
  for (let killed = 0; killed < 3; killed++) {
    expect(fleet.owner!.followers.length).toBe(2)
    const { place } = fleet.owner!
    fleet.kill(fleet.owner!)
    expect(await untilOwns(fleet, () => true, 20_000)).toBeLessThan(3_000)
    fleet.start(place)
    await fleet.pass(20_000)
  }
  expect(fleet.events.filter(({ kind }) => kind === 'left')).toEqual([])
  expect(fleet.processes.filter(({ isReady }) => isReady).map(({ place }) => place)).toEqual([B])
})
