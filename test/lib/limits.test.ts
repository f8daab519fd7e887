import { afterAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import { openConfigEngine } from '../../lib/configs/engine.ts'
import { isSecretKey } from '../../lib/configs/redact/redact.ts'
import { HOMES_MAX } from '../../lib/fleet/state/agent-limits.ts'
import type { FollowedPush, Instance } from '../../lib/fleet/state/model.ts'
import { EVENTS_MAX } from '../../lib/fleet/state/waiting-rows.ts'
import { EffectiveMatches } from '../../lib/fleet/views/effective-matches.ts'
import { shownLabel } from '../../lib/fleet/views/shown-labels.ts'
import { openAuthority } from '../../lib/identity/authority.ts'
import { openLoginLimit } from '../../lib/identity/login-limit.ts'
import { openTokens } from '../../lib/identity/sessions/tokens.ts'
import { formatApiToken, openTokenAuthority } from '../../lib/identity/token-authority.ts'
import { decodeBody } from '../../lib/opamp/codec.ts'
import { type Database, DatabaseUnavailable, type Db } from '../../lib/store/db.ts'
import { fakeClock } from '../support/fakes.ts'
import { createFleetContext, fakeAgent } from '../support/fleet.ts'
import { createTestContext } from '../support/invoke.ts'
import { agentBody, uidBytes } from '../support/opamp-messages.ts'
import { useTestDatabase } from '../support/postgres.ts'

// Bounds of kept collections that no other test reaches; test/keepings.test.ts lists all of them.

const database = await useTestDatabase()
const ctx = await createFleetContext(database)
afterAll(() => ctx.close())

describe('the fleet', () => {
  it('shares so many component lists among instances, the one made first goes', () => {
    const { componentLists } = ctx.fleet.state
    const agent = fakeAgent(ctx.fleet)
    for (let n = 0; n < 5_010; n++)
      agent.say({
        components: {
          hash: n.toString(16).padStart(4, '0'),
          components: new Map([['receivers', [`r${n}`]]]),
        },
      })
    expect(componentLists.size).toBe(5_000)
    expect(componentLists.has('0000')).toBe(false)
  })

  it('remembers the homes of so many agents, whoever described himself longest ago is forgotten', () => {
    const { homes } = ctx.fleet.state
    for (let n = 0; homes.size < HOMES_MAX; n++) homes.set(`agent ${n}`, 'a workload')
    const [oldest] = homes.keys()
    const { uid } = fakeAgent(ctx.fleet)
    expect(homes.size).toBe(HOMES_MAX)
    expect(homes.has(uid)).toBe(true)
    expect(homes.has(oldest!)).toBe(false)
    homes.clear()
  })

  it('lets so many events wait for the database, the oldest is lost and counted', async () => {
    const { writer } = ctx.fleet
    await writer.flush()
    const lostBefore = writer.stats.lostEvents
    const event = { instanceUid: '', podName: '', version: '', prevVersion: '', occurredAt: ctx.clock.now() }
    for (let n = 0; n < EVENTS_MAX + 3; n++)
      writer.event({ ...event, workloadId: 'nobody', eventType: 'connected' })
    expect(writer.stats.waitingEvents).toBe(EVENTS_MAX)
    expect(writer.stats.lostEvents - lostBefore).toBe(3)
    await writer.flush()
    expect(writer.stats.waitingEvents).toBe(0)
  })
})

describe('what was worked out once', () => {
  it('is remembered of so many pairs of configs', async () => {
    let compared = 0
    const db = { query: async () => [{ body: 'a: 1' }] } as unknown as Db
    const matches = new EffectiveMatches(db, async () => {
      compared++
      return { matches: true, paths: [] }
    })
    const assigned = { push: { hash: 'a' }, body: new Uint8Array() } as unknown as FollowedPush
    const look = (n: number) =>
      matches.prepare([{ reportedConfigHash: `r${n}` } as unknown as Instance], () => assigned)
    for (let n = 0; n <= 20_000; n++) await look(n)
    await look(20_000)
    expect(compared).toBe(20_001)
    await look(0)
    expect(compared).toBe(20_002)
  })

  it('is remembered of so many outlines', async () => {
    const workers = {
      run: () => Promise.reject(new Error('too long')),
      load: () => ({ threads: 0, queued: 0 }),
    }
    const engine = openConfigEngine({ workers, runtimeCheck: null, clock: systemClock } as never)
    let read = 0
    const look = (hashes: readonly string[]) =>
      engine.outlines(hashes, async (missing) => {
        read += missing.length
        return missing.map((hash) => ({ hash, body: 'receivers: {otlp: }' }))
      })
    await look(Array.from({ length: 5_001 }, (_, n) => `h${n}`))
    await look(['h5000'])
    expect(read).toBe(5_001)
    await look(['h0'])
    expect(read).toBe(5_002)
  })

  it('is remembered of so many bytes of what configs are, and of one that could not be read in time', async () => {
    let given = 0
    const run = async ({ text }: { text: string }) => {
      given++
      return text.startsWith('slow')
        ? { ok: false, code: 'worker-timed-out', cause: '' }
        : { ok: true, value: [{ address: 'x'.repeat(1_000_000) }] }
    }
    const engine = openConfigEngine({ workers: { run }, runtimeCheck: null, clock: systemClock } as never)
    const look = (...hashes: string[]) =>
      engine.destinations(hashes, async (missing) =>
        missing.map((hash) => ({ hash, body: hash.padEnd(2_000) })),
      )
    const all = Array.from({ length: 40 }, (_, n) => `h${n}`)
    expect((await look(...all)).size).toBe(40)
    expect((await look('h39', 'h20')).size).toBe(2)
    expect(given).toBe(40)
    await look('h0')
    expect(given).toBe(41)
    for (let n = 0; n < 3; n++) expect((await look('slow')).size).toBe(0)
    expect(given).toBe(42)
  })

  it('is asked for again where a thread gave it up, ever more rarely and few at once', async () => {
    let nowMs = 0
    let given: string[] = []
    let isSlow = true
    const run = async ({ text }: { text: string }) => {
      given.push(text.trim())
      return isSlow ? { ok: false, code: 'worker-timed-out', cause: '' } : { ok: true, value: [] }
    }
    const clock = { monotonicMs: () => nowMs }
    const engine = openConfigEngine({ workers: { run }, runtimeCheck: null, clock } as never)
    const look = async (...hashes: string[]) => {
      given = []
      const read = async (missing: readonly string[]) =>
        missing.map((hash) => ({ hash, body: hash.padEnd(2_000) }))
      const [first, second] = await Promise.all([
        engine.destinations(hashes, read),
        engine.destinations(hashes, read),
      ])
      expect(second.size).toBeLessThanOrEqual(first.size)
      return first.size
    }
    expect(await look('a')).toBe(0)
    for (const [afterMs, times] of [
      [59_999, 0],
      [1, 1],
      [119_999, 0],
      [1, 1],
      [239_999, 0],
      [1, 1],
    ] as const) {
      nowMs += afterMs
      expect(await look('a')).toBe(0)
      expect(given).toHaveLength(times)
    }
    nowMs += 3_600_000
    isSlow = false
    expect(await look('a')).toBe(1)
    expect(given).toEqual(['a'])
    expect(await look('a')).toBe(1)
    expect(given).toEqual([])
    // Of many only some are asked for in one look.
    isSlow = true
    const many = Array.from({ length: 10 }, (_, n) => `m${n}`)
    await look(...many)
    nowMs += 60_000
    await look(...many)
    expect(given.length).toBeGreaterThan(0)
    expect(given.length).toBeLessThan(many.length)
  })

  it('is remembered of so many keys, and is judged the same after', () => {
    for (let n = 0; n < 4_500; n++) {
      expect(isSecretKey(`plain_${n}`)).toBe(false)
      expect(isSecretKey(`password_${n}`)).toBe(isSecretKey('password_0'))
    }
    expect(isSecretKey('password')).toBe(true)
  })

  it('is remembered of so many labels, and they are shown the same after', () => {
    const line = (n: number) => `/bin/otelcol --number=${n} --header "authorization: Bearer abcdef0123456789"`
    const first = shownLabel('process.command_line', line(0))
    expect(first).not.toContain('abcdef0123456789')
    for (let n = 1; n < 2_010; n++) shownLabel('process.command_line', line(n))
    expect(shownLabel('process.command_line', line(0))).toBe(first)
  })

  it('is remembered of so many sessions', async () => {
    const clock = fakeClock()
    const tokens = openTokens('a-test-secret-of-at-least-32-characters', clock)
    let reads = 0
    const user = { user_id: 'u', email: 'a@x', groups: [], roles: [] }
    const db = {
      async query() {
        reads++
        return [{ ...user, expires_at: new Date(clock.now().getTime() + 1_000_000) }]
      },
    } as unknown as Database
    // The real check of tokens would be slow; here only the session and user of a token count.
    const authority = openAuthority({
      db,
      clock,
      tokens: { ...tokens, verify: async (sessionId: string) => ({ sessionId, userId: 'u' }) } as never,
    })
    for (let n = 0; n <= 10_000; n++) await authority.authenticate(`s${n}`)
    await authority.authenticate('s10000')
    expect(reads).toBe(10_001)
    await authority.authenticate('s0')
    expect(reads).toBe(10_002)
  })
})

describe('who an API token stands for', () => {
  it('is remembered of so many API tokens', async () => {
    const clock = fakeClock()
    let reads = 0
    const row = {
      id: 't',
      userId: 'u',
      email: 'a@x',
      permissions: [],
      groups: [],
      roles: [],
      holder: 'service',
    }
    const db = {
      async query() {
        reads++
        const expiresAt = new Date(clock.now().getTime() + 1_000_000)
        return [{ ...row, hasOwner: true, expiresAt, lastUsedAt: clock.now() }]
      },
    } as unknown as Database
    const authority = openTokenAuthority({ db, clock, limit: openLoginLimit({ clock }) })
    const token = (n: number) => formatApiToken(new Uint8Array(new Uint32Array(8).fill(n).buffer))
    for (let n = 0; n <= 10_000; n++) await authority.authenticate(token(n), '192.0.2.1')
    await authority.authenticate(token(10_000), '192.0.2.1')
    expect(reads).toBe(10_001)
    await authority.authenticate(token(0), '192.0.2.1')
    expect(reads).toBe(10_002)
  })
})

describe('pollers', () => {
  it('of the owner of several processes are as many as agents', async () => {
    const cluster = { internalAddress: '', advertiseAddress: '', tls: null }
    const owner = createTestContext(database, { config: { cluster } })
    owner.fleet.receive = () => ({ message: {}, pendingOffer: null })
    const intake = decodeBody(agentBody({ instanceUid: uidBytes(1), sequenceNum: 1 }))
    if (!intake.ok) throw new Error(intake.code)
    const poll = { digest: '', message: new Uint8Array() }
    for (let n = 0; n <= 100_000; n++)
      void owner.opamp.answerPoll({ ...intake.report, uid: String(n) }, { ...poll, source: `${n % 6}` })
    expect(owner.opamp.counts().pollers).toBe(100_001)
    await owner.close()
  })
})

describe('the pool of sessions', () => {
  it('lets so many callers wait for a session and refuses one more at once', async () => {
    const pool = database.openPool({ maxOpen: 4, maxIdle: 4 })
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const held = [1, 2, 3].map(() => pool.transaction('test', () => gate))
    const outcomes: Promise<unknown>[] = []
    let refused: unknown = null
    while (refused === null && outcomes.length < 20_000) {
      const asked = pool.query('select 1').catch((error: unknown) => {
        refused ??= error
      })
      outcomes.push(asked)
      if (outcomes.length % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(refused).toBeInstanceOf(DatabaseUnavailable)
    expect((refused as unknown as Error).message).toBe('too many callers wait for a database connection')
    release()
    await Promise.all([...held, ...outcomes])
    await pool.close()
  })
})
