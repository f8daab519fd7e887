import { describe, expect, it } from 'vitest'
import { type ConfigEngine, openConfigEngine } from '../../../lib/configs/engine.ts'
import { type ConfigJob, type ConfigJobResult, runConfigJob } from '../../../lib/configs/jobs.ts'
import { buildCheck } from '../../../lib/configs/validation-messages.ts'
import type { WorkerOutcome } from '../../../lib/workers/pool.ts'

const SMALL =
  'receivers: {otlp: }\nexporters: {debug: }\nservice: {pipelines: {logs: {receivers: [otlp], exporters: [debug]}}}\n'
const LARGE = `${SMALL}# ${'x'.repeat(20_000)}\n`
const about = { target: null, requestedVersion: '', minimumVersion: '', validatedAt: new Date(0) }

/** An engine whose worker threads are this one, or always taken, with the jobs that they were given. */
function engineOver(answer: 'done' | 'busy'): { engine: ConfigEngine; jobs: ConfigJob[] } {
  const jobs: ConfigJob[] = []
  const run = async (job: ConfigJob): Promise<WorkerOutcome<ConfigJobResult>> => {
    jobs.push(job)
    if (answer === 'busy') return { ok: false, code: 'worker-busy', cause: 'all taken' }
    return { ok: true, value: runConfigJob(structuredClone(job)) }
  }
  const workers = { run, load: () => ({ threads: 0, queued: 0 }), close: async () => {} }
  const runtimeCheck = async () => buildCheck('otelcol_runtime', [], {}, 'skipped')
  return { engine: openConfigEngine({ workers, runtimeCheck }), jobs }
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
    expect(await engine.normalForm(LARGE)).toMatchObject({ runsPipelines: true })
    expect(await engine.effectiveMatch(SMALL, LARGE)).toEqual({ verdict: true, paths: [] })
    expect(jobs.map(({ kind }) => kind)).toEqual(['policy', 'diff', 'normal-form', 'effective-match'])
  })

  it('says that it is busy, and takes a report that it could not read for none', async () => {
    const { engine } = engineOver('busy')
    expect(await engine.validate(LARGE, about)).toEqual({ ok: false, code: 'server-busy' })
    expect(await engine.normalForm(LARGE)).toBeNull()
    expect(await engine.effectiveMatch(LARGE, LARGE)).toEqual({ verdict: 'unknown', paths: [] })
  })
})
