import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type WorkloadFacts as CountedFacts,
  countInstance,
  countNone,
  decideAlerts as decideCounted,
  type Fault,
  type InstanceFacts,
  judgeWorkload as judgeCounted,
  minAgentVersionProblem,
  type PushFacts,
  type RuleSettings,
} from '../../../lib/alerts/rules.ts'
import type { ReportedConfig } from '../../../lib/fleet/decide/standing.ts'
import { isVersionOutdated } from '../../../lib/model/versions.ts'
import type { CurrentAlert } from '../../../lib/store/alerts.ts'
import { ALERT_RULES } from '../../../lib/wire/values.ts'

const HASH = 'a'.repeat(64)
const OTHER = 'b'.repeat(64)
const off: RuleSettings = { minAgentVersion: '', disconnectGraceSeconds: 120 }

/** The facts of a workload with its instances as they are before they are counted. */
type WorkloadFacts = Omit<CountedFacts, 'instances'> & { instances: readonly InstanceFacts[] }

function count({ instances, ...facts }: WorkloadFacts, nowMs: number): CountedFacts {
  const counts = countNone()
  for (const one of instances) countInstance(counts, one, nowMs)
  return { ...facts, instances: counts }
}

const judgeWorkload = (facts: WorkloadFacts, settings: RuleSettings, nowMs: number) =>
  judgeCounted(count(facts, nowMs), settings)

const decideAlerts = (
  facts: WorkloadFacts,
  current: readonly CurrentAlert[],
  settings: RuleSettings,
  nowMs: number,
) => decideCounted(count(facts, nowMs), current, settings)

const workload = (overrides: Partial<WorkloadFacts> = {}): WorkloadFacts => ({
  workloadId: 'w1',
  displayName: 'checkout',
  status: 'connected',
  isProduction: false,
  version: '0.120.0',
  instances: [],
  push: { kind: 'without-failure' },
  halted: null,
  ...overrides,
})

const instance = (overrides: Partial<InstanceFacts> = {}): InstanceFacts => ({
  uid: '0',
  isCompatible: true,
  canReport: true,
  assignedHash: HASH,
  reported: { kind: 'status', status: 'applied', hash: HASH },
  assignedSinceMs: 0,
  health: 'healthy',
  unhealthySinceMs: null,
  name: 'pod-a',
  fault: () => null,
  driftFault: () => null,
  ...overrides,
})

const status = (status: 'applied' | 'applying' | 'failed', hash = HASH): ReportedConfig => ({
  kind: 'status',
  status,
  hash,
})

const stored = (rule: CurrentAlert['rule'], state: CurrentAlert['state']): CurrentAlert => ({
  id: `alert-${rule}`,
  workloadId: 'w1',
  rule,
  state,
  subject: '',
  message: '',
})

const driftAt = (nowMs: number, ...instances: InstanceFacts[]) =>
  judgeWorkload(workload({ instances }), off, nowMs).config_drift.kind

describe('workload_down', () => {
  it('is there while the workload is disconnected, and gone as soon as it is not', () => {
    const causeOf = (facts: WorkloadFacts) => judgeWorkload(facts, off, 0).workload_down
    expect(causeOf(workload({ status: 'disconnected' }))).toEqual({
      kind: 'present',
      message: 'Workload w1 (checkout) is disconnected: no instance came back within 120 s',
    })
    expect(causeOf(workload({ status: 'connected' })).kind).toBe('absent')
    expect(causeOf(workload({ status: 'degraded' })).kind).toBe('absent')
  })

  it('cuts a long name in its message', () => {
    const facts = workload({ status: 'disconnected', displayName: '𝒳'.repeat(500) })
    const cause = judgeWorkload(facts, off, 0).workload_down
    expect(cause.kind === 'present' && [...cause.message].length).toBeLessThan(250)
  })
})

describe('workload_unhealthy', () => {
  const healths = (nowMs: number, ...all: Partial<InstanceFacts>[]) =>
    judgeWorkload(workload({ instances: all.map((one) => instance(one)) }), off, nowMs).workload_unhealthy
  const sick = (sinceMs: number): Partial<InstanceFacts> => ({
    health: 'unhealthy',
    unhealthySinceMs: sinceMs,
  })

  it('is there once half of the live instances have been unhealthy for a minute', () => {
    expect(healths(59_999, sick(0), {}).kind).toBe('unknown')
    expect(healths(60_000, sick(0), {})).toEqual({
      kind: 'present',
      message: 'Workload w1 (checkout) has been unhealthy on 1 of 2 live instances for a minute or longer',
      details: { unhealthy: 1, total: 2, instances: 'pod-a' },
    })
    expect(healths(60_000, sick(0), {}, {}).kind).toBe('absent')
    expect(healths(60_000, sick(0), sick(30_000)).kind).toBe('present')
    // One unhealthy instance of three is too few, and the second has been unhealthy for less than a minute: neither a
    // cause nor the end of one.
    expect(healths(60_000, sick(0), sick(30_000), {}).kind).toBe('unknown')
  })

  it('is not gone while those who have not spoken since the start could be unhealthy, nor while nobody lives', () => {
    const silent: Partial<InstanceFacts> = { health: 'unknown' }
    expect(healths(0, silent, {}).kind).toBe('unknown')
    expect(healths(0, silent, {}, {}).kind).toBe('absent')
    expect(healths(0).kind).toBe('unknown')
  })
})

describe('rollout_halted', () => {
  const at = '2026-01-01T00:00:00.000Z'
  const halted = {
    rolloutId: 'r1',
    pushId: 'p1',
    hash: HASH,
    gate: 'health',
    value: 2,
    limit: 0,
    hold: null,
    stage: 1,
    at,
    fault: null,
  }
  const judge = (of: WorkloadFacts['halted']) =>
    judgeWorkload(workload({ halted: of }), off, 0).rollout_halted

  it('is there while a rollout waits for an operator, and fires anew where it stops again', () => {
    expect(judge(null).kind).toBe('absent')
    expect(judge(halted)).toMatchObject({
      kind: 'present',
      message: `Workload w1 (checkout): the rollout of config ${HASH.slice(0, 12)} halted in stage 2: health is 2, allowed is 0`,
      subject: `r1/1/${at}`,
      details: { rollout_id: 'r1', config_hash: HASH, gate: 'health', value: 2, limit: 0, stage: 2 },
    })
    const fault = { cause: 'connection_failed', title: 'A backend cannot be reached' }
    expect(judge({ ...halted, fault })).toMatchObject({
      message: expect.stringMatching(/health is 2, allowed is 0 \(A backend cannot be reached\)$/),
      details: { cause: 'connection_failed', cause_title: 'A backend cannot be reached' },
    })
    const current = { ...stored('rollout_halted', 'open'), subject: 'r1/1/2025-12-31T23:59:59.000Z' }
    expect(decideAlerts(workload({ halted }), [current], off, 0)).toMatchObject([
      { kind: 'resolve', alertId: current.id },
      { kind: 'fire', rule: 'rollout_halted', subject: `r1/1/${at}` },
    ])
    expect(decideAlerts(workload(), [current], off, 0)).toMatchObject([{ kind: 'resolve' }])
  })

  it('says why as soon as that is known, and that it is another cause, without calling anybody again', () => {
    const fault = { cause: 'connection_failed', title: 'A backend cannot be reached' }
    const current = { ...stored('rollout_halted', 'open'), subject: `r1/1/${at}`, message: 'without a cause' }
    expect(decideAlerts(workload({ halted: { ...halted, fault } }), [current], off, 0)).toMatchObject([
      { kind: 'restate', alertId: current.id, message: expect.stringMatching(/A backend cannot be reached/) },
    ])
  })

  it('that was for health says that all are healthy again, and not while one is sick or silent', () => {
    const judgeWith = (gate: string, ...instances: InstanceFacts[]) =>
      judgeWorkload(workload({ halted: { ...halted, gate }, instances }), off, 0).rollout_halted
    const well = judgeWith('health', instance(), instance())
    expect(well).toMatchObject({
      message: expect.stringMatching(/health is 2, allowed is 0; all 2 live instances are healthy again$/),
      details: { recovered: 2 },
    })
    for (const health of ['unhealthy', 'unknown'] as const)
      expect(judgeWith('health', instance(), instance({ health }))).not.toHaveProperty('details.recovered')
    expect(judgeWith('drift', instance())).not.toHaveProperty('details.recovered')
    expect(judgeWith('health')).not.toHaveProperty('details.recovered')
    const current = { ...stored('rollout_halted', 'open'), subject: `r1/1/${at}`, message: 'sick' }
    expect(decideAlerts(workload({ halted, instances: [instance()] }), [current], off, 0)).toMatchObject([
      { kind: 'restate', message: expect.stringMatching(/its one live instance is healthy again$/) },
    ])
  })
})

describe('push_failed', () => {
  const failed = (overrides: Partial<Extract<PushFacts, { kind: 'failed' }>> = {}): PushFacts => ({
    kind: 'failed',
    pushId: 'p1',
    hash: HASH,
    aftermath: { kind: 'nowhere_to_go', running_count: 70 },
    counts: { failed: 2, target: 72 },
    fault: null,
    isOfCampaign: false,
    ...overrides,
  })
  const judge = (push: PushFacts) => judgeWorkload(workload({ push }), off, 0).push_failed
  it('is critical where production has no way back: nothing puts it right by itself', () => {
    const severityOf = (isProduction: boolean, push = failed()) =>
      decideAlerts(workload({ push, isProduction }), [], off, 0).map((one) =>
        one.kind === 'fire' ? [one.rule, one.severity] : [],
      )
    expect(severityOf(true)).toEqual([['push_failed', 'critical']])
    expect(severityOf(false)).toEqual([['push_failed', 'warning']])
    const aftermath = { kind: 'went_back', config_hash: HASH } as never
    expect(severityOf(true, failed({ aftermath }))).toEqual([['push_failed', 'warning']])
  })
  const sayOf = (push: PushFacts) => {
    const cause = judge(push)
    return cause.kind === 'present' ? cause.message : cause.kind
  }

  it('says what was done about it', () => {
    const start = `Workload w1 (checkout): config ${HASH.slice(0, 12)} failed`
    expect(sayOf(failed())).toBe(
      `${start} on 2 of 72 instances; there was no earlier config to go back to, 70 instances run it still`,
    )
    const back = { kind: 'going_back', config_hash: OTHER, running_count: 0 } as const
    expect(sayOf(failed({ counts: null, aftermath: back }))).toBe(
      `${start}; it is being rolled back to ${OTHER.slice(0, 12)}`,
    )
    const inPart = { target_count: 4, applied_count: 2, failed_count: 1, no_status_count: 1 }
    expect(
      sayOf(failed({ counts: null, aftermath: { ...back, ...inPart, kind: 'went_back_in_part' } })),
    ).toBe(
      `${start}; the rollback to ${OTHER.slice(0, 12)} was applied on 2 of 4 instances; 1 failed, 1 has not answered`,
    )
    expect(sayOf(failed({ aftermath: { ...back, kind: 'rollback_failed', running_count: 1 } }))).toMatch(
      /the rollback to b{12} failed as well, 1 instance runs it still$/,
    )
  })

  it('says why, where that is known', () => {
    const cause = judge(failed({ fault: { cause: 'port_in_use', title: 'A port is already in use' } }))
    expect(cause).toMatchObject({
      message: expect.stringContaining(
        'failed on 2 of 72 instances (A port is already in use); there was no',
      ),
      details: { cause: 'port_in_use', cause_title: 'A port is already in use' },
    })
  })

  it('is gone once the newest push was applied, and stays as it is while that is undecided', () => {
    expect(sayOf({ kind: 'without-failure' })).toBe('absent')
    expect(sayOf({ kind: 'undecided' })).toBe('unknown')
  })

  it('gives way to the failure of another push, and speaks of it though an operator had silenced the first', () => {
    const current = { ...stored('push_failed', 'quiet'), subject: 'p1' }
    const decideOn = (push: PushFacts) => decideAlerts(workload({ push }), [current], off, 0)
    expect(decideOn(failed())).toEqual([])
    expect(decideOn(failed({ pushId: 'p2' }))).toMatchObject([
      { kind: 'end-quiet', alertId: current.id },
      { kind: 'fire', rule: 'push_failed', subject: 'p2' },
    ])
    // A rollback that fails as well is a new alert.
    const worse = { kind: 'rollback_failed', config_hash: OTHER, running_count: 3 } as const
    expect(decideOn(failed({ aftermath: worse })).map(({ kind }) => kind)).toEqual(['end-quiet', 'fire'])
  })
})

describe('one failure', () => {
  const PORT = { cause: 'port_in_use', title: 'A port is already in use' }
  const failed = (overrides: Partial<Extract<PushFacts, { kind: 'failed' }>> = {}): PushFacts => ({
    kind: 'failed',
    pushId: 'p1',
    hash: HASH,
    aftermath: { kind: 'nowhere_to_go', running_count: 0 },
    counts: { failed: 2, target: 2 },
    fault: PORT,
    isOfCampaign: false,
    ...overrides,
  })
  const bad = (fault: Fault | null = PORT) =>
    instance({ reported: status('failed'), health: 'unhealthy', unhealthySinceMs: 0, fault: () => fault })
  const open = (facts: Partial<WorkloadFacts>, nowMs = 100_000) =>
    Object.entries(judgeWorkload(workload(facts), off, nowMs)).flatMap(([rule, cause]) =>
      cause.kind === 'present' ? [rule] : [],
    )

  it('is one alert, of the push: that its instances drift and are unhealthy for it makes that worse', () => {
    const facts = { push: failed(), instances: [bad(), bad()] }
    expect(open(facts)).toEqual(['push_failed'])
    expect(judgeWorkload(workload(facts), off, 100_000).push_failed).toMatchObject({
      subject: 'p1/unhealthy',
      severity: 'critical',
      message: expect.stringMatching(/; 2 of 2 live instances unhealthy for a minute or longer$/),
      details: { unhealthy: 2, total: 2, cause: 'port_in_use' },
    })
    // Also where health only says that the collector stopped.
    const vague = { cause: 'agent_exited', title: 'stopped' }
    expect(open({ push: failed(), instances: [bad(vague), bad(vague)] })).toEqual(['push_failed'])
  })

  it('is told apart from another: another cause, another config, and what goes wrong once all are back', () => {
    const away = { cause: 'connection_failed', title: 'A backend cannot be reached' }
    expect(open({ push: failed(), instances: [bad(away), bad(away)] })).toEqual([
      'workload_unhealthy',
      'push_failed',
    ])
    const back = { kind: 'went_back', config_hash: HASH, running_count: 0 } as const
    const all = ['workload_unhealthy', 'push_failed', 'config_drift']
    expect(open({ push: failed({ hash: OTHER, aftermath: back }), instances: [bad(), bad()] })).toEqual(all)
    const inPart = { ...back, kind: 'went_back_in_part' } as const
    const push = failed({ hash: OTHER, aftermath: inPart })
    expect(open({ push, instances: [bad(), bad()] })).toEqual(['push_failed'])
    const elsewhere = instance({ assignedHash: 'c'.repeat(64), reported: { kind: 'none' } })
    expect(open({ push, instances: [elsewhere] }, 400_000)).toEqual(['push_failed', 'config_drift'])
  })

  it('of a campaign is told by the campaign, and by no drift; one that makes most unhealthy is told all the same', () => {
    const push = failed({ isOfCampaign: true })
    expect(open({ push, instances: [bad(), instance(), instance()] })).toEqual([])
    const judged = judgeWorkload(workload({ push, instances: [bad(), bad()] }), off, 100_000)
    // No component is to be looked for: the config is.
    expect(open({ push, instances: [bad(), bad()] })).toEqual(['push_failed'])
    expect(judged.push_failed).toMatchObject({ subject: 'p1/unhealthy', severity: 'critical' })
    const unsure = [bad(), instance({ health: 'unknown' })]
    expect(judgeWorkload(workload({ push, instances: unsure }), off, 50_000).push_failed.kind).toBe('unknown')
    const away = { cause: 'connection_failed', title: 'A backend cannot be reached' }
    expect(open({ push, instances: [bad(away), bad(away)] })).toEqual(['workload_unhealthy'])
  })

  it('that halts a rollout by its health is told by the rollout', () => {
    const place = { rolloutId: 'r', pushId: 'p', hash: HASH, stage: 0, at: '' }
    const halted = { ...place, value: 2, limit: 0, fault: null, hold: null }
    const facts = (gate: string) => ({
      push: { kind: 'undecided' } as const,
      halted: { ...halted, gate },
      instances: [bad(), bad()],
    })
    expect(open(facts('health'))).toEqual(['rollout_halted'])
    expect(open(facts('drift'))).toEqual(['workload_unhealthy', 'rollout_halted'])
  })

  it('is told anew as it gets worse, and put right without a call as it gets better', () => {
    const decide = (current: CurrentAlert[], ...instances: InstanceFacts[]) =>
      decideAlerts(workload({ push: failed(), instances }), current, off, 100_000)
    const [fired] = decide([], instance())
    expect(fired).toMatchObject({ kind: 'fire', rule: 'push_failed', subject: 'p1', severity: 'warning' })
    const mild = { ...stored('push_failed', 'open'), subject: 'p1' }
    const worse = decide([mild], bad(), bad())
    expect(worse.map(({ kind }) => kind)).toEqual(['resolve', 'fire'])
    expect(worse[1]).toMatchObject({ subject: 'p1/unhealthy', severity: 'critical' })
    const told = { ...stored('push_failed', 'open'), subject: 'p1/unhealthy' }
    // Between half of them and none it is not known.
    expect(decide([told], bad(), instance({ health: 'unknown' }))).toMatchObject([{ kind: 'restate' }])
    expect(decide([told], instance({ health: 'unknown' }))).toEqual([])
    expect(decide([told], instance(), instance())).toMatchObject([
      { kind: 'restate', subject: 'p1', severity: 'warning' },
    ])
  })
})

describe('config_drift', () => {
  it('says why as soon as that is known, without calling anybody again', () => {
    const ill = (fault: InstanceFacts['driftFault']) =>
      workload({ instances: [instance({ reported: status('applying'), driftFault: fault })] })
    const fired = decideAlerts(
      ill(() => null),
      [],
      off,
      1e9,
    )
    expect(fired).toMatchObject([{ kind: 'fire', rule: 'config_drift' }])
    const open = { ...stored('config_drift', 'open'), ...fired[0], id: 'a1', subject: '' }
    expect(
      decideAlerts(
        ill(() => null),
        [open],
        off,
        1e9,
      ),
    ).toEqual([])
    const fault = { cause: 'no_answer' as const, title: 'Did not answer any of the offers' }
    expect(
      decideAlerts(
        ill(() => fault),
        [open],
        off,
        1e9,
      ),
    ).toMatchObject([
      { kind: 'restate', message: expect.stringMatching(/: Did not answer any of the offers$/) },
    ])
  })

  it.each([
    ['nothing applied', { kind: 'none' } as const, 180_000],
    ['another config applied', status('applied', OTHER), 180_000],
    ['another config failed', status('failed', OTHER), 180_000],
    ['the assigned config failed', status('failed'), 60_000],
    ['the assigned config applying', status('applying'), 300_000],
  ])('with %s it begins after its delay and not before', (_, reported, delayMs) => {
    expect(driftAt(delayMs - 1, instance({ reported }))).toBe('unknown')
    expect(driftAt(delayMs, instance({ reported }))).toBe('present')
  })

  it('counts from when the instance has had its assignment', () => {
    const late = instance({ reported: { kind: 'none' }, assignedSinceMs: 100_000 })
    expect(driftAt(279_999, late)).toBe('unknown')
    expect(driftAt(280_000, late)).toBe('present')
  })

  it('does not count instances that are incompatible or cannot report', () => {
    const late = { reported: { kind: 'none' } } as const
    expect(driftAt(1e9, instance({ ...late, isCompatible: false }))).toBe('absent')
    expect(driftAt(1e9, instance({ ...late, canReport: false }))).toBe('absent')
  })

  it('is gone only when every live instance that counts agrees', () => {
    expect(driftAt(1e9, instance(), instance())).toBe('absent')
    expect(driftAt(1e9, instance(), instance({ reported: { kind: 'unknown' } }))).toBe('unknown')
    expect(driftAt(1000, instance(), instance({ reported: status('applying') }))).toBe('unknown')
    expect(driftAt(1e9, instance(), instance({ reported: status('failed') }))).toBe('present')
  })

  it('says nothing after a restart until somebody has reported', () => {
    expect(driftAt(1e9)).toBe('unknown')
    expect(driftAt(1e9, instance({ reported: { kind: 'unknown' } }))).toBe('unknown')
  })

  it('is gone when nothing is assigned any more', () => {
    expect(driftAt(1e9, instance({ assignedHash: null, reported: status('failed', OTHER) }))).toBe('absent')
  })

  it('says which config, on how many instances, and how many of them failed', () => {
    const instances = [
      instance(),
      instance({ reported: { kind: 'none' } }),
      instance({ reported: status('failed') }),
    ]
    expect(judgeWorkload(workload({ instances }), off, 1e9).config_drift).toEqual({
      kind: 'present',
      isRestated: true,
      message: 'Workload w1 (checkout) has not applied config aaaaaaaaaaaa on 2 of 3 instances (1 failed)',
      details: { config_hash: HASH, overdue: 2, judged: 3, failed: 1, instances: 'pod-a, pod-a' },
    })
  })

  it('says why, where the first instances that have not applied it say so', () => {
    const fault = { cause: 'port_in_use', title: 'A port is already in use' }
    const instances = [instance({ reported: status('failed'), driftFault: () => fault })]
    expect(judgeWorkload(workload({ instances }), off, 1e9).config_drift).toMatchObject({
      message:
        'Workload w1 (checkout) has not applied config aaaaaaaaaaaa on 1 of 1 instances (1 failed): A port is already in use',
      details: { cause: 'port_in_use', cause_title: 'A port is already in use' },
    })
  })
})

describe('what an alert says of its instances', () => {
  const fault = (cause: string): Fault => ({ cause, title: `It is ${cause}` })
  const all = ['pod-d', 'pod-b', 'pod-a', 'pod-e', 'pod-c'].map((name) =>
    instance({
      name,
      assignedHash: name === 'pod-a' ? HASH : OTHER,
      reported: status('failed', name === 'pod-a' ? HASH : OTHER),
      health: 'unhealthy',
      unhealthySinceMs: 0,
      fault: () => (name === 'pod-a' ? null : fault(`ill-${name}`)),
      driftFault: () => (name === 'pod-a' ? null : fault(`failed-${name}`)),
    }),
  )
  /** Two on one host, which have one name and run the same. */
  const twins = ['1', '2'].map((uid) =>
    instance({
      uid,
      name: 'host',
      reported: status('failed'),
      health: 'unhealthy',
      unhealthySinceMs: 0,
      fault: () => fault(`ill-${uid}`),
      driftFault: () => fault(`failed-${uid}`),
    }),
  )
  const judge = (instances: InstanceFacts[]) => {
    const { config_drift, workload_unhealthy } = judgeWorkload(workload({ instances }), off, 1e9)
    return { config_drift, workload_unhealthy }
  }

  it('is the same in whatever order they connected', () => {
    const one = judge(all)
    expect(one).toMatchObject({
      config_drift: {
        message: expect.stringContaining(
          'config aaaaaaaaaaaa on 5 of 5 instances (5 failed): It is failed-pod-b',
        ),
        details: { config_hash: HASH, instances: 'pod-a, pod-b, pod-c' },
      },
      workload_unhealthy: { details: { instances: 'pod-a, pod-b, pod-c', cause: 'ill-pod-b' } },
    })
    for (let n = 1; n < all.length; n++) expect(judge([...all.slice(n), ...all.slice(0, n)])).toEqual(one)
    expect(judge([...all].reverse())).toEqual(one)
    expect(judge([...twins].reverse())).toEqual(judge(twins))
  })
})

describe('version_outdated', () => {
  const at = (version: string, minAgentVersion: string) =>
    judgeWorkload(workload({ version }), { ...off, minAgentVersion }, 0).version_outdated

  it('is there below the minimum, gone at it and above', () => {
    expect(at('0.99.0', '0.100.0')).toEqual({
      kind: 'present',
      message: 'Workload w1 (checkout) version 0.99.0 is below minimum 0.100.0',
      details: { version: '0.99.0', minimum: '0.100.0' },
    })
    expect(at('0.100.0-rc.1', '0.100.0').kind).toBe('present')
    expect(at('0.100.0', '0.100.0').kind).toBe('absent')
    expect(at('1.0.0', 'v0.100.0').kind).toBe('absent')
  })

  it('is gone when the rule is off, and never there for a version that cannot be compared', () => {
    expect(at('0.1.0', '').kind).toBe('absent')
    expect(at('0.1.0', 'latest').kind).toBe('absent')
    expect(at('', '0.100.0').kind).toBe('absent')
    expect(at('unknown', '0.100.0').kind).toBe('absent')
    expect(isVersionOutdated('', '1.0.0')).toBe(false)
  })

  it('says at start why a minimum has no effect', () => {
    expect(minAgentVersionProblem('')).toBeNull()
    expect(minAgentVersionProblem('0.100.0')).toBeNull()
    expect(minAgentVersionProblem('0.100')).toContain('MIN_AGENT_VERSION "0.100"')
  })
})

describe('decideAlerts', () => {
  const down = workload({ status: 'disconnected', instances: [] })
  const up = workload({ status: 'connected', instances: [instance()] })

  it('fires once, and resolves when the cause has gone', () => {
    expect(decideAlerts(down, [], off, 0)).toMatchObject([{ kind: 'fire', rule: 'workload_down' }])
    expect(decideAlerts(down, [stored('workload_down', 'open')], off, 0)).toEqual([])
    expect(decideAlerts(up, [stored('workload_down', 'open')], off, 0)).toEqual([
      { kind: 'resolve', alertId: 'alert-workload_down' },
    ])
    expect(decideAlerts(up, [], off, 0)).toEqual([])
  })

  it('stays quiet after an operator resolved it, until the cause has gone once', () => {
    expect(decideAlerts(down, [stored('workload_down', 'quiet')], off, 0)).toEqual([])
    expect(decideAlerts(up, [stored('workload_down', 'quiet')], off, 0)).toEqual([
      { kind: 'end-quiet', alertId: 'alert-workload_down' },
    ])
  })

  it('keeps the drift alert of a workload without live instances', () => {
    expect(decideAlerts(workload(), [stored('config_drift', 'open')], off, 1e9)).toEqual([])
    expect(decideAlerts(workload(), [stored('config_drift', 'quiet')], off, 1e9)).toEqual([])
  })

  it('resolves version alerts when the rule is switched off', () => {
    const actions = decideAlerts(workload({ version: '0.1.0' }), [stored('version_outdated', 'open')], off, 0)
    expect(actions).toEqual([{ kind: 'resolve', alertId: 'alert-version_outdated' }])
  })

  it('settles: after its actions are carried out, the same facts ask for nothing more', () => {
    const reported = fc.constantFrom<ReportedConfig>(
      { kind: 'unknown' },
      { kind: 'none' },
      status('applied'),
      status('failed'),
      status('applying'),
      status('applied', OTHER),
    )
    const live = fc.record({ isCompatible: fc.boolean(), canReport: fc.boolean(), reported })
    const facts = fc.record({
      status: fc.constantFrom('connected' as const, 'degraded' as const, 'disconnected' as const),
      version: fc.constantFrom('', '0.1.0', '0.100.0', '1.0.0', 'x'),
      instances: fc.array(live.map(instance), { maxLength: 4 }),
    })
    const state = fc.constantFrom('none' as const, 'open' as const, 'quiet' as const)
    const input = fc.tuple(facts, fc.tuple(state, state, state), fc.nat(400_000))
    fc.assert(
      fc.property(input, ([overrides, states, nowMs]) => {
        const current = ALERT_RULES.flatMap((rule, i) =>
          states[i] === 'none' ? [] : [stored(rule, states[i] as 'open' | 'quiet')],
        )
        const settings = { ...off, minAgentVersion: '0.100.0' }
        const actions = decideAlerts(workload(overrides), current, settings, nowMs)
        const gone = new Set(actions.flatMap((action) => ('alertId' in action ? [action.alertId] : [])))
        const fired = actions.flatMap((action) =>
          action.kind === 'fire' ? [stored(action.rule, 'open')] : [],
        )
        const after = [...current.filter((alert) => !gone.has(alert.id)), ...fired]
        expect(new Set(after.map((alert) => alert.rule)).size).toBe(after.length)
        expect(decideAlerts(workload(overrides), after, settings, nowMs)).toEqual([])
      }),
      { seed: 3, numRuns: 1000 },
    )
  })
})
