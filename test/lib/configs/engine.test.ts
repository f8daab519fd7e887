import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../lib/clock.ts'
import { buildCheck } from '../../../lib/configs/check/validation-messages.ts'
import {
  CONFIG_ROOMS,
  CONFIG_THREADS,
  type ConfigEngine,
  openConfigEngine,
} from '../../../lib/configs/engine.ts'
import { type ConfigJob, type ConfigJobResult, runConfigJob } from '../../../lib/configs/jobs.ts'
import type { WorkerOutcome } from '../../../lib/workers/pool.ts'

const SMALL =
  'receivers: {otlp: }\nexporters: {debug: }\nservice: {pipelines: {logs: {receivers: [otlp], exporters: [debug]}}}\n'
const LARGE = `${SMALL}# ${'x'.repeat(20_000)}\n`
const about = { target: null, requestedVersion: '', minimumVersion: '', validatedAt: new Date(0) }

/**
 * A config engine whose worker threads are replaced: they do the job in this thread, are always busy, or time out. Also
 * returns the jobs that they were given.
 */
function engineOver(answer: 'done' | 'worker-busy' | 'worker-timed-out', busyRooms: readonly string[] = []) {
  const jobs: ConfigJob[] = []
  const run = async (
    job: ConfigJob,
    _transfer: readonly ArrayBuffer[] = [],
    room = '',
  ): Promise<WorkerOutcome<ConfigJobResult>> => {
    jobs.push(job)
    if (busyRooms.includes(room)) return { ok: false, code: 'worker-busy', cause: 'this room is full' }
    if (answer !== 'done') return { ok: false, code: answer, cause: 'as the test wants it' }
    return { ok: true, value: runConfigJob(structuredClone(job)) }
  }
  const workers = {
    run,
    load: () => ({ threads: 0, queued: 0 }),
    heapBytes: async () => 0,
    close: async () => {},
  }
  const runtimeCheck = async () => buildCheck('otelcol_runtime', [], {}, 'skipped')
  const engine: ConfigEngine = openConfigEngine({ workers, runtimeCheck, clock: systemClock })
  return { engine, jobs }
}

describe('the engine', () => {
  it('reads small texts in place and large ones in a worker, to the same end', async () => {
    const { engine, jobs } = engineOver('done')
    const small = await engine.validate(SMALL, about)
    expect(jobs).toEqual([])
    const large = await engine.validate(LARGE, about)
    expect(jobs.map(({ kind }) => kind)).toEqual(['validate'])
    expect(small.ok && large.ok && large.required).toEqual(small.ok && small.required)
    expect(large.ok && large.result.valid).toBe(true)
  })

  it('sends every kind of large job away', async () => {
    const { engine, jobs } = engineOver('done')
    const policy = { candidate: LARGE, current: null, isProduction: false, target: {}, settings: {} }
    expect(await engine.policy(policy)).toMatchObject({ ok: true, evaluation: { decision: 'pass' } })
    const input = { baseText: SMALL, targetText: LARGE, workload: null, peers: [] }
    expect(await engine.diff(input)).toMatchObject({ ok: true, diff: { valid: true, components: [] } })
    expect(await engine.normalForm(LARGE)).toMatchObject({ ok: true, form: { runsPipelines: true } })
    expect(await engine.effectiveMatch(SMALL, LARGE)).toEqual({
      ok: true,
      match: { verdict: true, paths: [] },
    })
    expect(jobs.map(({ kind }) => kind)).toEqual(['policy', 'diff', 'normal-form', 'effective-match'])
  })

  it('sends a job away whose text is short and what is done to it long', async () => {
    const { engine, jobs } = engineOver('done')
    const names = Array.from({ length: 200 }, (_, n) => `debug/${n}`)
    const exporters = Object.fromEntries(names.map((name) => [name, null]))
    expect(await engine.patch(SMALL, { merge: { exporters } })).toMatchObject({ ok: true })
    const values = Object.fromEntries(names.map((name) => [name, `value of ${name}`]))
    expect(await engine.changeKey('a: 1\n', 'a: 2\n', values)).toMatchObject({ ok: true })
    expect(jobs.map(({ kind }) => kind)).toEqual(['patch', 'change-key'])
  })

  it('sends a short text away that holds an alias: it may stand for a long one', async () => {
    const { engine, jobs } = engineOver('done')
    const aliased = 'exporters: {debug: &a {verbosity: basic}, debug/b: *a}\n'
    expect(await engine.normalForm(aliased)).toMatchObject({ ok: true, form: { runsPipelines: false } })
    expect(await engine.effectiveMatch(aliased, SMALL)).toMatchObject({ ok: true })
    expect(await engine.check(aliased, about)).toMatchObject({ ok: true })
    expect(jobs.map(({ kind }) => kind)).toEqual(['normal-form', 'effective-match', 'validate'])
  })

  it('sends a long report away, whoever it is looked at for', async () => {
    const { engine, jobs } = engineOver('done')
    expect(await engine.reportKeys(LARGE, [])).toEqual({ ok: true, keys: [] })
    expect(await engine.reportKeys(SMALL, [{ host: 'h'.repeat(2_000) }])).toMatchObject({ ok: true })
    expect(jobs.map(({ kind }) => kind)).toEqual(['report-keys', 'report-keys'])
  })

  it('says that it is busy, which tells nothing of the text', async () => {
    const { engine } = engineOver('worker-busy')
    const busy = { ok: false, code: 'server-busy' }
    expect(await engine.validate(LARGE, about)).toEqual(busy)
    expect(await engine.normalForm(LARGE)).toEqual(busy)
    expect(await engine.effectiveMatch(LARGE, LARGE)).toEqual(busy)
  })

  it('says that a thread gave a report up, which does not tell that it cannot be read', async () => {
    const { engine } = engineOver('worker-timed-out')
    expect(await engine.normalForm(LARGE)).toEqual({ ok: false, code: 'server-busy', gaveUp: true })
    const unreadable = await engineOver('done').engine.normalForm(`[${'x'.repeat(20_000)}`)
    expect(unreadable).toEqual({ ok: true, form: null })
    expect(await engine.check(LARGE, about)).toEqual({ ok: false, code: 'server-busy', gaveUp: true })
    expect(await engine.effectiveMatch(LARGE, LARGE)).toEqual({
      ok: true,
      match: { verdict: 'unknown', paths: [] },
    })
  })

  it('answers operators while agents and viewers have filled their rooms', async () => {
    const { engine } = engineOver('done', ['agents', 'viewers'])
    const input = { baseText: SMALL, targetText: LARGE, workload: null, peers: [] }
    expect(await engine.normalForm(LARGE)).toMatchObject({ ok: false })
    expect(await engine.diffText({ ...input, peersText: '[]' })).toMatchObject({ ok: false })
    expect(await engine.validate(LARGE, about)).toMatchObject({ ok: true })
    const policy = { candidate: LARGE, current: null, isProduction: false, target: {}, settings: {} }
    expect(await engine.policy(policy)).toMatchObject({ ok: true })
    expect(await engine.diff(input)).toMatchObject({ ok: true })
  })

  it('has a thread left for operators whatever the others hold', () => {
    const { agents, viewers, operators } = CONFIG_ROOMS
    expect(agents.maxThreads + viewers.maxThreads).toBeLessThan(CONFIG_THREADS)
    expect(operators.maxThreads).toBeGreaterThan(0)
  })
})
