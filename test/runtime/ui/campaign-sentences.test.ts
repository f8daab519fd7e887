import { afterEach, describe, expect, test } from 'vitest'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type {
  CampaignHalt,
  CampaignMiss,
  CampaignRecord,
  CampaignTarget,
} from '../../../lib/wire/campaigns.ts'
import type { ExportDestination } from '../../../lib/wire/destinations.ts'
import { describeAlert } from '../../../runtime/ui/i18n/alerts.ts'
import { describeOwnDetail, describeWho } from '../../../runtime/ui/i18n/audit.ts'
import {
  describeCampaign,
  describeDeadEnd,
  describeFailedSince,
  describeFailingThere,
  describeFate,
  describeHalt,
  describeHaltNext,
  describeLeftOut,
  describeReach,
  describeScale,
  describeState,
  describeTarget,
  describeUndone,
  describeUnwellNow,
  describeVerdict,
  describeWait,
} from '../../../runtime/ui/i18n/campaign-sentences.ts'
import { campaignStatusTexts, nameStatus } from '../../../runtime/ui/i18n/campaign-status.ts'
import { changeTexts } from '../../../runtime/ui/i18n/change.ts'
import { language, say } from '../../../runtime/ui/i18n/define.ts'
import { tick } from '../../../runtime/ui/i18n/format.ts'
import { readDetail } from '../../../runtime/ui/logic/audit-detail.ts'
import {
  inOrder,
  isUrged,
  listFailingThere,
  lookOf,
  passedBy,
  rolledBackToo,
  shapeOfTarget,
  toBar,
  toneOfTarget,
  WAITS_LOOK,
  worstRiskOf,
} from '../../../runtime/ui/logic/campaigns.ts'

test('a campaign that waits for approval looks like a single request that does, and is as risky as its riskiest group', () => {
  expect(lookOf({ status: 'requested', counts: {} })).toEqual(WAITS_LOOK)
  // What was rolled back has one shape, the campaign and each of its workloads.
  expect(shapeOfTarget({ state: 'rolled_back' })).toBe(lookOf({ status: 'rolled_back', counts: {} })[1])
  expect(say(campaignStatusTexts).status.requested).toBe(say(changeTexts).state.pending)
  expect(worstRiskOf([{ risk: 'low' }, { risk: 'high' }, {}])).toBe('high')
  expect(worstRiskOf([{ risk: 'none' }, { risk: 'medium' }])).toBe('medium')
  // What cannot be compared is not known to be of no risk.
  expect(worstRiskOf([{ risk: 'low' }, {}])).toBeNull()
})

test('a plan that changes nobody says so, and not that it waits for anything', () => {
  const planned = (count: number, verdicts = {}) => {
    const plan = { target_count: count, waves: [], verdicts, refused: {} }
    return { status: 'planned', counts: {}, plan } as unknown as CampaignRecord
  }
  expect(describeCampaign(planned(2), 0)).toEqual([
    'Nothing changes before this plan is approved and started.',
  ])
  expect(describeCampaign(planned(0), 0)).toEqual([
    'The plan changes no workload, so there is nothing to approve: change whom or what it means, or remove it.',
  ])
  // With why, and the way out where there is one.
  expect(describeCampaign(planned(0, { unmanaged: 12, same: 1 }), 0).slice(1)).toEqual([
    'It leaves out: 12 never pushed to and 1 runs it already.',
    'Adopt those that muster never pushed to: then it can change them.',
  ])
  expect(describeCampaign(planned(0, { same: 3 }), 0).slice(1)).toEqual(['It leaves out: 3 runs it already.'])
})

test('a workload that waits says what for: the campaign that stands still, or another push', () => {
  const target = { state: 'waiting' } as CampaignTarget
  expect(describeWait(target, 'halted')).toBe('Not begun: the campaign is halted.')
  expect(describeWait(target, 'paused')).toBe('Not begun: the campaign is paused.')
  expect(describeWait(target, 'running')).toBe('')
  expect(describeWait({ ...target, is_busy: true }, 'running')).toBe(
    'Another push of it is open: it is started once that has ended.',
  )
  const reach = { target_count: 3, applied_count: 2, failed_count: 1, no_status_count: 0 }
  const error = {
    error_cause: 'port_in_use',
    error_title: 'Port already in use',
    error_parameters: { port: '4317' },
  }
  expect(describeFate({ ...target, state: 'applied', reach: { ...reach, error } })).toBe(
    '2 of 3 instances have it, 1 failed it: Port already in use (port 4317)',
  )
})

const done = (counts: CampaignRecord['counts']) =>
  ({ status: 'done', counts, plan: { target_count: 40, waves: [] } }) as unknown as CampaignRecord

test('a campaign that is done says which workloads do not run it, and looks like it', () => {
  expect(describeCampaign(done({ applied: 40 }), 0)).toEqual(['Done: all 40 workloads run it.'])
  expect(describeCampaign(done({ applied: 38, overtaken: 2 }), 0)).toEqual([
    'Done: 38 of 40 workloads run it.',
  ])
  expect(lookOf(done({ applied: 40 }))[0]).toBe('ok')
  const late = done({ applied: 38, expired: 2 })
  expect(lookOf(late)).toEqual(['warn', 'triangle'])
  expect(describeCampaign(late, 0)).toContain('2 workloads did not come back in time.')
  const partly = done({ applied: 36, failed: 1, no_answer: 2, skipped: 1 })
  expect(describeCampaign(partly, 0)).toEqual([
    'Done, but not everywhere: 36 of 40 workloads run it.',
    '1 workload failed.',
    '2 workloads did not answer.',
    '1 workload was skipped.',
    'Bring these a config that works for them, by a change or a campaign of their own.',
  ])
  // With whom it has not reached and why, as far as that was read.
  const store = { workload_id: 'w', workload_name: 'store', workload_place: 'store-17' }
  const missed: CampaignMiss[] = [
    { state: 'no_answer', count: 2, workloads: [{ ...store, workload_place: 'store-18' }] },
    { state: 'failed', cause: 'port_in_use', title: 'Port already in use', count: 1, workloads: [store] },
  ]
  expect(describeCampaign(partly, 0, missed).slice(1, 4)).toEqual([
    '1 workload failed: store · store-17 – Port already in use.',
    '2 workloads did not answer: store · store-18 and 1 more.',
    '1 workload was skipped.',
  ])
  expect(lookOf(partly)[0]).toBe('warn')
})

test('a campaign that waits for some instances says for whom and until when, and how many failed', () => {
  const until = '2026-03-01T10:10:00Z'
  const started = { workload_count: 2, instance_count: 4, until, workloads: [] }
  const running = {
    status: 'running',
    wave: 0,
    counts: { applied: 3, failed: 1, no_answer: 1, started: 2 },
    plan: { target_count: 7, waves: [{}, {}] },
    in_part: { started },
  } as unknown as CampaignRecord
  const said = (nowMs: number) => describeCampaign(running, nowMs)
  expect(said(Date.parse('2026-03-01T10:02:00Z'))).toEqual([
    'Wave 1 of 2: 3 of 7 workloads run it, 2 failed or did not answer.',
    '2 workloads have been getting it for more than a minute, and 4 of their instances have not applied it so far.',
    expect.stringMatching(/^They are waited for until \d\d:\d\d at the latest\.$/),
  ])
  // It does not look as if all went well.
  expect(lookOf(running)[0]).toBe('bad')
  expect(lookOf({ ...running, counts: { applied: 3 } })[0]).toBe('busy')
  // A time that has passed says nothing.
  expect(said(Date.parse('2026-03-01T10:11:00Z'))).toHaveLength(2)
})

test('a workload that has the change on some of its instances does not look as if all had it', () => {
  const reach = { target_count: 10, applied_count: 7, failed_count: 1, no_status_count: 2 }
  const of = { state: 'applied', verdict: 'changes', reach } as CampaignTarget
  expect(toneOfTarget(of)).toBe('warn')
  expect(describeState(of)).toBe('applied in part')
  expect(describeFate(of)).toBe('7 of 10 instances have it, 2 did not answer, 1 failed it')
  const all = { state: 'applied', verdict: 'changes' } as CampaignTarget
  expect([toneOfTarget(all), describeState(all), describeFate(all)]).toEqual(['ok', 'applied', ''])
  expect(toneOfTarget({ ...of, state: 'started' })).toBe('busy')
})

test('a countdown is never longer than the wave is watched for, whatever the clock of the browser says', () => {
  const watched = {
    status: 'running',
    wave: 0,
    wave_ends_at: '2026-03-01T10:01:00Z',
    counts: { applied: 1 },
    plan: { target_count: 2, waves: [{ dwell_seconds: 60 }, { dwell_seconds: 0 }] },
  } as unknown as CampaignRecord
  const said = (at: string) => describeCampaign(watched, Date.parse(at))[0]
  expect(said('2026-03-01T10:00:20.400Z')).toBe('Wave 1 is done and watched for 40 s more.')
  expect(said('2026-03-01T09:59:00Z')).toBe('Wave 1 is done and watched for 1 min more.')
  expect(said('2026-03-01T10:01:05Z')).toBe('Wave 1 is done and watched for 0 s more.')
})

test('who is rolled back with a campaign are those that it reaches: where it is cut to scopes, nobody outside', () => {
  const kept = { count: 7, without_base: 3, workloads: [] }
  expect(rolledBackToo({})).toBeNull()
  expect(rolledBackToo({ by_itself: kept })).toMatchObject({ count: 7, without_base: 3 })
  const cut = (count: number) => ({ by_itself: { ...kept, in_cut: { count, without_base: 0 } } })
  expect(rolledBackToo(cut(2))).toEqual({ count: 2, without_base: 0 })
  expect(rolledBackToo(cut(0))).toBeNull()
})

describe('a campaign that was taken back', () => {
  const back = { ...done({ rolled_back: 37, moved_on: 1 }), status: 'rolled_back' } as CampaignRecord

  test('shows nobody as running the change', () => {
    const bar = toBar(back.counts)
    expect(bar.find(([tone]) => tone === 'ok')).toEqual(['ok', 0])
    expect(bar.find(([tone]) => tone === 'warn')).toEqual(['warn', 37])
    expect(toneOfTarget({ state: 'rolled_back' })).not.toBe('ok')
  })

  test('counts who was taken back, in the same words wherever that is told', () => {
    expect(describeReach(back.status, back.counts, 38)).toBe('37 of 38 rolled back')
    expect(describeReach('running', { applied: 3, failed: 1, no_answer: 1 }, 38)).toBe(
      '3 of 38 applied, 2 failed',
    )
  })
})

describe('who a plan leaves out', () => {
  const targets = [
    { verdict: 'held', reason: 'held' },
    { verdict: 'held', reason: 'frozen' },
    { verdict: 'refused', reason: 'component_missing' },
    { verdict: 'same' },
  ] as const satisfies Pick<CampaignTarget, 'verdict' | 'reason'>[]

  test.each([
    [
      'en',
      ['held', 'frozen', 'refused', 'runs it already'],
      ['2 held', '1 frozen', '3 refused (a component is not installed)', '4 runs it already'],
    ],
    [
      'fr',
      ['retenu', 'gelé', 'refusé', 'l’exécute déjà'],
      ['2 retenu', '1 gelé', '3 refusé (un composant n’est pas installé)', '4 l’exécute déjà'],
    ],
  ] as const)(
    'is told in the same words in its numbers and in the list of workloads (%s)',
    (words, one, many) => {
      language.value = words
      expect(targets.map(describeVerdict)).toEqual(one)
      expect(describeLeftOut({ held: 2, frozen: 1, component_missing: 3, same: 4 })).toEqual(many)
      language.value = 'en'
    },
  )

  test('whoever holds or froze a workload is named once beside its verdict', () => {
    const by = { verdict: 'held', reason: 'frozen', title: 'ann@example.com: the audit' } as const
    expect(describeTarget(by)).toBe('ann@example.com: the audit')
  })
})

test('one that was away says whether it is back, what it waits for, and that only the newer change comes', () => {
  const away = { state: 'offline' } as CampaignTarget
  const rival = { waits_for: { campaign_id: 'c', name: 'Patch 2' } }
  const told = (more: Partial<CampaignTarget>) => [
    describeState({ ...away, ...more }),
    describeWait({ ...away, ...more }, 'running'),
  ]
  expect(told({})).toEqual(['away', ''])
  expect(told(rival)).toEqual([
    'away',
    'When it is back it gets what the newer campaign “Patch 2” brings, and not this change.',
  ])
  expect(told({ is_back: true })).toEqual([
    'back, waits',
    'It is connected again, and gets the change at its turn.',
  ])
  expect(told({ is_back: true, ...rival })[1]).toMatch(
    /waits: the newer campaign “Patch 2” comes to it first/,
  )
  // One whose campaign the reader does not see is not named.
  expect(told({ waits_for: {} })[1]).toMatch(/what a newer campaign brings/)
  const older = { overtakes: { campaign_id: 'o', name: 'Patch 1' } }
  expect(told(older)[1]).toMatch(
    /^The older campaign “Patch 1” waits for it as well: it gets this change only/,
  )
  expect(told({ ...older, is_back: true })[1]).toMatch(/at its turn\. The older campaign/)
  expect(describeWait({ ...rival, state: 'applied' } as CampaignTarget, 'running')).toBe('')
  // So does one whose next stage waits, with what ends that.
  const part = { state: 'started', hold: { reason: 'became_production' } } as CampaignTarget
  expect(describeWait(part, 'running')).toMatch(
    /others wait: it became production.*within ten minutes\. Otherwise.*left as it is\.$/,
  )
  const frozen = { reason: 'frozen' as const, about: 'sale' }
  expect(describeWait({ ...part, hold: frozen }, 'running')).toMatch(
    /frozen \(sale\)\. .*once that is over.*roll it back\.$/,
  )
  const inGit = { reason: 'kept_in_git' as const, about: 'infra/edge' }
  expect(describeWait({ ...part, hold: inGit }, 'running')).toContain('kept in Git by infra/edge')
  language.value = 'fr'
  expect(told({ is_back: true, ...rival })[1]).toMatch(/^Il est de nouveau connecté, et attend/)
  language.value = 'en'
})

describe('in French', () => {
  afterEach(() => {
    language.value = 'en'
  })

  test('why a workload failed, and why a campaign halted, are French too', () => {
    language.value = 'fr'
    const failed = { cause: 'port_in_use', title: 'Port in use' } as CampaignTarget
    expect(describeTarget(failed)).toBe('Un port est déjà utilisé')
    expect(describeTarget({ cause: 'rollout_halted', title: 'The rollout' } as CampaignTarget)).toMatch(
      /arrêté/,
    )
    const of = { cause: 'port_in_use', title: 'Port in use' }
    const halt: CampaignHalt = { gate: 'failed', value: 1, limit: 0, wave: 0, workload_ids: [], ...of }
    expect(describeHalt(halt).join(' ')).toContain('Un port est déjà utilisé')
  })
})

describe('a halt', () => {
  const halt: CampaignHalt = {
    gate: 'failed',
    value: 2,
    limit: 0,
    wave: 1,
    workload_ids: [],
    title: 'Port in use',
  }
  const halted = (of: CampaignHalt) =>
    ({ status: 'halted', counts: { waiting: 3 }, halt: of }) as unknown as CampaignRecord
  const alertOf = ({ workload_ids: _, ...details }: CampaignHalt) =>
    ({ rule: 'campaign_halted', message: '', details }) as unknown as AlertRecord

  test.each<[CampaignHalt['gate'], string]>([
    ['failed', 'Halted in wave 2: 2 workloads failed, at most 0 may.'],
    ['policy_changed', 'Halted: the config policy is another one than that of the plan.'],
  ])('for %s is one sentence with what to do next, on the page and in its alert', (gate, sentence) => {
    const said = describeCampaign(halted({ ...halt, gate }), 0).join(' ')
    expect(said.startsWith(sentence)).toBe(true)
    expect(describeAlert(alertOf({ ...halt, gate }))).toBe(said)
  })

  test('whose approval does not hold any more is not told to just continue: it would halt again', () => {
    const [, next] = [describeHaltNext(halt), describeHaltNext({ gate: 'approver_gone' })]
    expect(next).not.toBe(describeHaltNext(halt))
    for (const holds of [true, false])
      expect(describeHaltNext({ gate: 'approver_gone', holds }, false)).toMatch(
        /abort.* It cannot be rolled back: no workload that runs it has a former config\.$/,
      )
    expect(next).toContain('only once that is as it was')
  })

  test('names the first of whom it is about, and what most of them failed of', () => {
    const workloads = ['a', 'b', 'c', 'd'].map((id) => ({ workload_id: id, workload_name: `vm-${id}` }))
    expect(describeHalt({ ...halt, value: 25, workloads, cause: 'port_in_use' })).toEqual([
      'Halted in wave 2: 25 workloads failed, at most 0 may.',
      'vm-a, vm-b, vm-c and 22 more.',
      'Most of them: Port in use.',
    ])
    // They are called as elsewhere on the page.
    const placed = workloads.map((one) => ({ ...one, workload_place: `rack-${one.workload_id}` }))
    const campaign = halted({ ...halt, value: 4, workloads: placed })
    const said = describeCampaign(campaign, 0, [], (name, place) => `${place} · ${name}`).join(' ')
    expect(said).toContain('rack-a · vm-a, rack-b · vm-b')
    // Most of one is no sentence.
    expect(describeHalt({ ...halt, value: 1, cause: 'port_in_use' }).at(-1)).toBe('Cause: Port in use.')
    const gone: CampaignHalt = { ...halt, gate: 'approver_gone', value: 1, approvers: ['ann@example.com'] }
    expect(describeHalt(gone)[1]).toBe('ann@example.com.')
  })

  test('is not urged to go on where it would halt again at once', () => {
    expect(isUrged('continue', halted({ ...halt, holds: true, passed: [halt] }))).toBe(false)
    expect(isUrged('continue', halted({ ...halt, holds: false }))).toBe(true)
    expect(isUrged('roll-back', halted(halt))).toBe(false)
  })

  test('says whom it reaches to undo it, how many that is, and whom it does not help', () => {
    const counts = { applied: 6, started: 1, waiting: 10, offline: 1, failed: 6 }
    const way_back = { goes_back: 4, no_way_back: 1, moved_on: 2 }
    const of = {
      ...halted(halt),
      counts,
      way_back,
      failed_since: { rollback_failed: 6 },
    } as unknown as CampaignRecord
    expect(describeUndone('roll-back', of)).toMatch(
      /^4 workloads go back to their former config; 1 has no former config and keeps what it brought; 2 are to run something else by now and are left alone\. None of those that failed could go back: they may run nothing that works until another config reaches them\.$/,
    )
    expect(describeUndone('abort', of)).toMatch(
      /^5 workloads keep it; 11 that it has not reached stay as they are\. None of those that failed could go back/,
    )
  })

  test('says what came of taking it back, and does not call it taken back where nothing went back', () => {
    const tell = (counts: object) => {
      const plan = { target_count: 24, waves: [] }
      const of = { ...halted(halt), status: 'rolled_back', counts, plan } as unknown as CampaignRecord
      return [nameStatus(of), ...describeCampaign(of, 0)]
    }
    expect(tell({ rolled_back: 24 })).toEqual([
      'rolled back',
      'Rolled back.',
      '24 of 24 workloads have their former config again.',
    ])
    expect(tell({ rolled_back: 20, no_way_back: 3, rollback_failed: 1 })).toEqual([
      'rolled back',
      'Rolled back.',
      '20 of 24 workloads have their former config again; 3 had no former config and keep what it brought; 1 could not be rolled back.',
    ])
    expect(tell({ no_way_back: 23, failed: 1 })).toEqual([
      'nothing rolled back',
      'Rolled back.',
      'Nothing was rolled back; 23 had no former config and keep what it brought.',
    ])
  })

  test('that ended says by whom, when and why, and how far it had come', () => {
    const closed_by = 'ann@example.com'
    const ended_at = new Date(tick.value).toISOString()
    const plan = { target_count: 5, waves: [] }
    const tell = (of: object) => describeCampaign({ plan, counts: {}, ...of } as unknown as CampaignRecord, 0)
    const closed = { closed_by, ended_at, close_comment: 'too slow' }
    expect(tell({ ...closed, status: 'rolled_back', counts: { rolled_back: 5 } })).toEqual([
      'Rolled back by ann@example.com (now): “too slow”.',
      '5 of 5 workloads have their former config again.',
    ])
    expect(tell({ ...closed, status: 'aborted', counts: { applied: 1, waiting: 4 } })).toEqual([
      'Aborted by ann@example.com (now): “too slow”.',
      '1 of 5 applied.',
      'What was done stays. Roll it back, or plan another campaign for the rest.',
    ])
    expect(tell({ status: 'paused', counts: { applied: 1, failed: 1 } })[0]).toBe(
      'Paused: 1 of 5 applied, 1 failed.',
    )
  })

  test('says that all of them failed of one cause only where all of them did', () => {
    const missed = (count: number) =>
      [{ state: 'failed', cause: 'port_in_use', count, workloads: [] }] as unknown as CampaignMiss[]
    const of = halted({ ...halt, value: 4, cause: 'port_in_use' })
    expect(describeCampaign(of, 0, missed(4))).toContain('All of them: Port in use.')
    expect(describeCampaign(of, 0, missed(3))).toContain('Most of them: Port in use.')
  })

  test('does not advise to take it back where no workload has a former config', () => {
    const way_back = { goes_back: 0, no_way_back: 8, moved_on: 0 }
    const change = { kind: 'text' }
    const of = { ...halted({ ...halt, holds: true }), change, way_back } as unknown as CampaignRecord
    expect(describeCampaign(of, 0).at(-1)).toMatch(
      /continue with a higher limit, or abort\. It cannot be rolled back/,
    )
    expect(describeDeadEnd('roll-back', of)).toMatch(/has a former config, so nothing would be rolled back/)
    const version = { ...of, change: { kind: 'version' } } as unknown as CampaignRecord
    expect(describeDeadEnd('roll-back', version)).toBeNull()
  })

  test('says whom it reaches before it is asked for, approved or started', () => {
    const wave = { instance_count: 2, production_count: 2, dwell_seconds: 0 }
    const plan = {
      target_count: 24,
      instance_count: 48,
      production_count: 24,
      no_way_back_count: 24,
      environments: ['prod'],
      waves: [
        { ...wave, target_count: 2 },
        { ...wave, target_count: 22 },
        { ...wave, target_count: 0 },
      ],
    }
    expect(describeScale({ plan } as unknown as CampaignRecord)).toBe(
      '24 workloads with 48 instances in prod, 24 of production, 24 without a config to go back to, 2 in the first of 2 waves.',
    )
  })

  test('leads on only where something can: else it says why not, and the way out', () => {
    const stuck = { ...halted(halt), counts: { failed: 2 } } as unknown as CampaignRecord
    expect(describeDeadEnd('continue', stuck)).toMatch(
      /No workload is left.*abort the campaign, or roll it back/,
    )
    expect(describeCampaign(stuck, 0).at(-1)).toBe(describeDeadEnd('continue', stuck))
    // Some run it: it can come to its end.
    const ran = { ...stuck, counts: { failed: 2, applied: 5 } } as unknown as CampaignRecord
    expect(describeDeadEnd('continue', ran)).toBeNull()
    // That it would only end is said in one sentence with what else can be done, and not of one that has somebody left.
    const onlyEnds = 'No workload is left to be changed: continue to end it as done, abort, or roll it back.'
    expect(describeCampaign(ran, 0).at(-1)).toBe(onlyEnds)
    const still = { ...ran, halt: { ...halt, holds: true } } as CampaignRecord
    expect(describeCampaign(still, 0).at(-1)).toBe(
      'No workload is left to be changed: continue with a higher limit to end it as done, abort, or roll it back.',
    )
    for (const more of [{ counts: { failed: 2, applied: 5, waiting: 1 } }, { stages_halted: 1 }])
      expect(describeCampaign({ ...ran, ...more } as CampaignRecord, 0)).not.toContain(onlyEnds)
    const lapsed = halted({ ...halt, gate: 'policy_changed', holds: true })
    expect(describeDeadEnd('continue', lapsed)).toContain('only once that is as it was')
    expect(describeDeadEnd('continue', halted({ ...halt, gate: 'policy_changed', holds: false }))).toBeNull()
    expect(describeHaltNext({ gate: 'failed', holds: true })).toContain('with a higher limit')
    expect(describeDeadEnd('abort', stuck)).toBeNull()
  })

  test('says what became of those that failed, and that an end of the campaign helps none that is stuck', () => {
    const of = { ...halted(halt), failed_since: { went_back: 3, rollback_failed: 2, nowhere_to_go: 1 } }
    const said = describeCampaign(of, 0)
    expect(said.slice(-3)).toEqual([
      'Of those that failed: 3 went back, 2 could not go back either and 1 had nothing to go back to.',
      '3 of them may run nothing that works: only another config helps them.',
      describeHaltNext(halt),
    ])
    expect(describeFailedSince({ failed_since: { went_back: 1 } })).toEqual([
      'Of those that failed: 1 went back.',
    ])
    expect(describeFailedSince({})).toEqual([])
    const target = {
      state: 'failed',
      verdict: 'changes',
      cause: 'port_in_use',
      title: 'Port in use',
    } as CampaignTarget
    const aftermath = { kind: 'nowhere_to_go', running_count: 0 } as const
    expect(describeFate({ ...target, aftermath })).toBe(
      'Port in use. There was no earlier config to go back to. No live instance runs it. Push a config that works.',
    )
    expect(describeFate(target)).toBe('Port in use')
  })

  test('has passed what it passes now, and where that was not read what it halted over', () => {
    const passed = [{ gate: 'failed', value: 6, limit: 0 }] as const
    expect(passedBy({ halt: { ...halt, passed: [...passed] } })).toEqual(passed)
    expect(passedBy({ halt })).toEqual([halt])
    expect(passedBy({ halt: { ...halt, passed: [] } })).toMatchObject([halt])
    expect(passedBy({ halt: undefined })).toEqual([])
  })

  test('counts its wave from 1 in the audit log, too', () => {
    const detail = JSON.stringify({ wave: 1, halt: { gate: 'failed', wave: 1 } })
    expect(readDetail({ action: 'campaign.halt', detail })).toEqual([
      ['wave', 2],
      ['halt', { gate: 'failed', wave: 2 }],
    ])
  })

  test('is told in the audit log in the sentences of its page, and who did it without a person is muster', () => {
    const workloads = [{ workload_id: 'w1', workload_name: 'pos-collector', workload_place: 'pos-09' }]
    const stored = { gate: 'failed', value: 4, limit: 3, wave: 2, workload_ids: ['w1'], workloads } as const
    const detail = JSON.stringify({ wave: 2, halt: stored })
    const [, halted] = readDetail({ action: 'campaign.halt', detail })
    expect(describeOwnDetail(...halted!)).toBe(describeHalt(stored).join(' '))
    expect(describeOwnDetail('wave', 2)).toBeNull()
    expect(describeWho({ action: 'campaign.halt' })).toBe('muster, by itself')
    expect(describeWho({ action: 'campaign.start', email: 'a@example.com' })).toBe('a@example.com')
    expect(describeWho({ action: 'auth.login.failure' })).toBe('–')
  })
})

test('how the workloads of a campaign stand is told in one order, however they are counted', () => {
  const told = [
    ['failed', 1],
    ['rolled_back', 3],
  ]
  expect(inOrder({ rolled_back: 3, failed: 1 })).toEqual(told)
  expect(inOrder({ failed: 1, rolled_back: 3 })).toEqual(told)
})

describe('where a campaign would send to', () => {
  const to = (address: string, workloads: object[]) => ({
    address,
    exporter: 'otlphttp',
    signals: ['traces'],
    workload_count: 3,
    instance_count: 3,
    failing: { workload_count: 2, error_cause: 'x', error_title: 'A backend cannot be reached' },
    workloads,
  })
  const fails = to('mail.example.com:4318', [
    { id: 'a', display_name: 'mail-gateway', is_failing: true },
    { id: 'b', display_name: 'other' },
  ]) as unknown as ExportDestination
  const { failing: _none, ...well } = fails
  const yaml = (host: string) =>
    ({ change: { kind: 'text', yaml: `exporters: {otlphttp: {endpoint: "https://${host}:4318"}}` } }) as never

  test('is told where that fails for others now, by name and cause', () => {
    expect(listFailingThere(yaml('mail.example.com'), [fails])).toEqual([fails])
    expect(describeFailingThere([fails])).toBe(
      'mail.example.com:4318 (mail-gateway and 1 more: A backend cannot be reached)',
    )
    const patch = { change: { kind: 'patch', patch: { merge: { a: 'mail.example.com:4318' } } } } as never
    expect(listFailingThere(patch, [fails])).toEqual([fails])
  })

  test('is not told of a host that is only a part of another name, nor where all is well there, nor unread', () => {
    for (const host of ['webmail.example.com', 'mail.example.com.au', 'my-mail.example.com'])
      expect(listFailingThere(yaml(host), [fails])).toEqual([])
    expect(listFailingThere(yaml('mail.example.com'), [well as ExportDestination])).toEqual([])
    expect(listFailingThere({ change: { kind: 'text' } } as never, [fails])).toEqual([])
  })

  test('is not told of a host that the campaign leaves, or names in a comment alone', () => {
    const host = 'mail.example.com:4318'
    const patches = [
      { expect: [{ path: ['exporters', 'otlp', 'endpoint'], value: host }], merge: { a: 'new.example.com' } },
      { remove: [['exporters', `otlp/${host}`]] },
      { rename_component: [{ category: 'exporters', from: `otlp/${host}`, to: 'otlp/new' }] },
      { pipeline: [{ pipelines: ['*'], role: 'exporters', remove: `otlp/${host}` }] },
    ]
    for (const patch of patches)
      expect(listFailingThere({ change: { kind: 'patch', patch } } as never, [fails])).toEqual([])
    const texts = [`# was ${host}\na: 1\n`, `a: new.example.com # not ${host} any more\n`, `  # ${host}`]
    for (const yaml of texts)
      expect(listFailingThere({ change: { kind: 'text', yaml } } as never, [fails])).toEqual([])
    const kept = { change: { kind: 'text', yaml: `a: "x#y ${host}" # z` } } as never
    expect(listFailingThere(kept, [fails])).toEqual([fails])
  })
})

describe('a campaign after which workloads became unhealthy', () => {
  const unhealthy_since = {
    kind: 'unhealthy',
    count: 4,
    total: 4,
    component: 'exporter:otlphttp',
    error_cause: 'connection_failed',
    error_title: 'x',
    error_parameters: { address: 'mail.example.com:4318' },
  } as const
  const of = {
    status: 'running',
    wave: 2,
    counts: { applied: 5, started: 3 },
    plan: { target_count: 8, waves: [{}, {}, {}] },
    became_unhealthy: {
      count: 1,
      limit: 3,
      workloads: [{ workload_id: 'w', workload_name: 'mail-gateway', unhealthy_since }],
    },
  } as unknown as CampaignRecord

  test('says how many, which, of what, and how many may while it goes on', () => {
    const said = describeCampaign(of, 0).join(' ')
    expect(said).toMatch(
      /^Wave 3 of 3: 5 of 8 workloads run it\. 1 workload became unhealthy since it has it: mail-gateway – 4 of 4 unhealthy, cannot reach mail\.example\.com:4318 · exporter otlphttp\. At most 3 may; with one more it halts\.$/,
    )
    const done = { ...of, status: 'done', counts: { applied: 8 } } as unknown as CampaignRecord
    expect(describeCampaign(done, 0).join(' ')).toMatch(/became unhealthy since it has it: mail-gateway/)
    expect(describeCampaign(done, 0).join(' ')).not.toMatch(/may;/)
    expect(lookOf(of)).toEqual(['bad', 'half'])
  })

  test('names them once where it halted over them, each with why', () => {
    const workloads = [{ workload_id: 'w', workload_name: 'mail-gateway' }]
    const halt = { gate: 'unhealthy', value: 1, limit: 0, wave: 2, workloads, holds: true } as const
    const halted = { ...of, status: 'halted', halt } as unknown as CampaignRecord
    const said = describeCampaign(halted, 0).join(' ')
    expect(said.split('mail-gateway')).toHaveLength(2)
    expect(said).toMatch(/mail-gateway – 4 of 4 unhealthy, cannot reach/)
    // Once they are well again, the halt says who they were.
    const { became_unhealthy: _, ...well } = halted
    expect(describeCampaign(well, 0).join(' ')).toMatch(/mail-gateway\./)
  })

  test('names them also before it comes to them, in a plan', () => {
    const planned = {
      plan: { target_count: 8 },
      unwell_now: {
        count: 5,
        workloads: [
          { workload_id: 'a', workload_name: 'silent', trouble: { kind: 'drifted', count: 2, total: 5 } },
          { workload_id: 'b', workload_name: 'mail-gateway', trouble: unhealthy_since },
        ],
      },
    } as unknown as CampaignRecord
    expect(describeUnwellNow(planned)).toBe(
      '5 of 8: silent – 2 of 5 do not run the config; mail-gateway – 4 of 4 unhealthy, cannot reach mail.example.com:4318 · exporter otlphttp; 3 more',
    )
    expect(describeUnwellNow({})).toBe('')
    const { trouble } = planned.unwell_now!.workloads[0]!
    const waits = { state: 'waiting', verdict: 'changes', trouble } as CampaignTarget
    expect(describeFate(waits)).toBe('2 of 5 do not run the config')
  })

  test('marks it and says why in its row', () => {
    const target = { state: 'applied', verdict: 'changes', unhealthy_since } as unknown as CampaignTarget
    expect(describeState(target)).toBe('applied, unhealthy since')
    expect(describeFate(target)).toMatch(/4 of 4 unhealthy, cannot reach mail\.example\.com:4318/)
    expect([toneOfTarget(target), shapeOfTarget(target)]).toEqual(['bad', 'triangle'])
  })
})
