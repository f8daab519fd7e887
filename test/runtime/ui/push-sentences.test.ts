import { afterEach, describe, expect, test } from 'vitest'
import type { Convergence } from '../../../lib/wire/convergence.ts'
import type { PushAftermath, RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { describeAftermath, describeTakenBack } from '../../../runtime/ui/i18n/aftermath.ts'
import { describeMessage } from '../../../runtime/ui/i18n/causes.ts'
import { language } from '../../../runtime/ui/i18n/define.ts'
import { describeEndedBy } from '../../../runtime/ui/i18n/history.ts'
import { describePush, describeSomeFailed } from '../../../runtime/ui/i18n/push-sentences.ts'
import { describeRunning } from '../../../runtime/ui/i18n/workload.ts'
import { isLateAnswer, sharesOf } from '../../../runtime/ui/logic/pushes.ts'

afterEach(() => {
  language.value = 'en'
})

const UNANSWERED =
  'Of these only what they ran before is known. See whether their supervisors are up, then push again or, where another config was applied before, roll back.'
const FAILED_NEXT = 'See what keeps those that failed from running it, or propose a config that they can run.'

describe('an answer that came after its push had ended', () => {
  const ended_at = '2026-11-29T13:00:00.500Z'
  test('is told as late; not one from before, nor that of an instance that joined since', () => {
    const before = { ended_at: '2026-11-29T13:00:00.400Z', joined_later: false }
    const after = { ended_at: '2026-11-29T13:00:00.600Z', joined_later: false }
    expect(isLateAnswer(after, { ended_at })).toBe(true)
    expect(isLateAnswer(before, { ended_at })).toBe(false)
    expect(isLateAnswer({ joined_later: false }, { ended_at })).toBe(false)
    expect(isLateAnswer({ ...after, joined_later: true }, { ended_at })).toBe(false)
    expect(isLateAnswer(after, {})).toBe(false)
  })
})

describe('how far a push got', () => {
  const push = (change: Partial<Convergence> = {}) =>
    ({
      status: 'pending',
      phase: 'applying',
      target_count: 6,
      applied_count: 3,
      failed_count: 0,
      no_status_count: 0,
      times_ms: { p50: 1000, p90: null, p99: null, p100: null },
      ...change,
    }) as Convergence

  test('is on its way only while it is, and one that has ended with some silent says so and what to do', () => {
    expect(describePush(push())).toEqual({ tone: 'busy', text: 'It is on its way: 3 of 6 have it.' })
    expect(describePush(push({ no_status_count: 3 }))).toEqual({
      tone: 'warn',
      text: `It is on its way: 3 of 6 have it. 3 do not answer. ${UNANSWERED}`,
    })
    const ended = push({ status: 'applied', phase: 'applied', no_status_count: 3 })
    expect(describePush(ended)).toEqual({
      tone: 'warn',
      text: `It has ended: 3 of 6 applied it. 3 do not answer. ${UNANSWERED}`,
    })
    language.value = 'fr'
    expect(describePush(ended).text).toMatch(
      /^Elle est terminée\s: 3 sur 6 l’ont appliquée\. 3 ne répondent pas\./,
    )
  })

  test('names those without an answer beside those that failed, and a next step unless it was taken back', () => {
    const part = { applied_count: 4, failed_count: 1, no_status_count: 1 }
    expect(describePush(push({ ...part, status: 'applied', phase: 'applied' })).text).toBe(
      `1 of 6 instances could not apply it. ${FAILED_NEXT} 1 does not answer. ${UNANSWERED}`,
    )
    expect(describePush(push({ ...part, status: 'failed', phase: 'failed' })).text).toBe(
      '1 of 6 instances could not apply it.',
    )
  })
})

test('who has not answered a push in time is not counted as waiting', () => {
  const counts = { applied_count: 3, failed_count: 0, pending_count: 3, status: 'pending' } as const
  expect(sharesOf({ ...counts, phase: 'applying', no_status_count: 3 } as const)).toMatchObject({
    waiting: 0,
    silent: 3,
  })
  const open = { ...counts, phase: 'applying', no_status_count: 1 } as const
  expect(sharesOf(open)).toMatchObject({ waiting: 2, silent: 1 })
  // Nor does anybody wait once it has ended.
  expect(sharesOf({ ...open, status: 'failed', phase: 'failed' })).toMatchObject({ waiting: 0, silent: 3 })
})

test('where one instance fails and one is silent, nobody says that all the others applied it', () => {
  const push = {
    target_count: 4,
    applied_count: 2,
    failed_count: 1,
    pending_count: 1,
    no_status_count: 1,
    is_rollback: true,
    error_groups: [{ cause: 'port_in_use', title: 'A port is already in use' }],
  } as RevisionRecord
  expect(describeSomeFailed(push)).toEqual([
    '1 of 4 instances cannot run the config that was rolled back to.',
    `Cause: A port is already in use. 2 applied it. ${FAILED_NEXT} 1 does not answer. ${UNANSWERED}`,
  ])
  const busy = { ...push, is_rollback: false, no_status_count: 0, error_groups: [] }
  expect(describeSomeFailed(busy)).toEqual([
    '1 of 4 instances cannot run the config.',
    `2 applied it, 1 is not done yet. ${FAILED_NEXT}`,
  ])
  language.value = 'fr'
  expect(describeSomeFailed(busy)[1]).toMatch(/^2 l’ont appliquée, 1 n’a pas encore fini\. Voyez/)
})

describe('what was done about a push that failed', () => {
  const back = {
    kind: 'going_back',
    config_hash: 'c580433aa',
    pushed_by: 'ada@example.com',
    target_count: 4,
    applied_count: 2,
    failed_count: 1,
    no_status_count: 1,
    running_count: 2,
  } as PushAftermath

  test('is not over while it goes back, and says meanwhile of whom it failed and who is silent', () => {
    expect(describeTakenBack(back)).toEqual({
      mark: 'being rolled back',
      sentence: 'It is being rolled back.',
    })
    expect(describeAftermath(back)).toBe(
      'A rollback is going back to c580433. It failed on 1. 1 has not answered.',
    )
    expect(describeAftermath({ ...back, failed_count: 0, no_status_count: 0 })).toBe(
      'A rollback is going back to c580433.',
    )
  })

  test('has gone back in part or not at all where that is so', () => {
    const said = (kind: PushAftermath['kind']) => describeTakenBack({ ...back, kind }).sentence
    expect(said('went_back')).toBe('It was rolled back.')
    expect(said('went_back_in_part')).toBe('It was rolled back in part.')
    expect(said('rollback_failed')).toBe('It could not be rolled back.')
    expect(describeTakenBack(undefined).mark).toBe('rolled back')
    language.value = 'fr'
    expect(said('going_back')).toBe('Le retour en arrière est en cours.')
  })
})

test('what an instance says of its error is told once: by its group, and beside the instance only its cause', () => {
  const said = 'listen tcp :4317: bind: address already in use'
  const row = { error_cause: 'port_in_use', error_title: 'A port is already in use', error_message: said }
  const group = { cause: 'port_in_use', title: 'A port is already in use', sample_message: said }
  expect(describeMessage(row, [group])).toBe('A port is already in use')
  expect(describeMessage({ ...row, error_message: 'another' }, [group])).toBe('another')
  expect(describeMessage(row, [])).toBe(said)
  // Without a cause of its own, its words are all there is.
  expect(describeMessage({ error_message: said }, [group])).toBe(said)
})

describe('what a rollback ends', () => {
  const workload = (push: Partial<RevisionRecord>) =>
    ({
      type: 'collector',
      accepts_remote_config: true,
      active_config_hash: 'dd38e98aaaa',
      connected_instance_count: 8,
      running_configs: {
        wanted_count: 6,
        instance_count: 8,
        unknown_count: 0,
        others: [{ config_hash: '516537fbbbb', instance_count: 2 }],
      },
      current_config_push: { status: 'pending', phase: 'applying', ...push },
    }) as WorkloadRecord

  test('of stages under way says who has the new config, and no more where somebody runs a third one', () => {
    const push = { config_hash: '516537fbbbb', rollout_status: 'running' } as const
    const staged = workload(push)
    expect(describeRunning(staged, staged.running_configs!)).toBe('in stages: 2 of 8 have the new 516537f')
    const others = [...staged.running_configs!.others, { config_hash: 'a third', instance_count: 1 }]
    const mixed = { ...staged, running_configs: { ...staged.running_configs!, others } }
    expect(describeRunning(mixed, mixed.running_configs)).toMatch(/^6 of 8 run it/)
    const halted = workload({ ...push, rollout_status: 'halted' })
    expect(describeRunning(halted, halted.running_configs!)).toMatch(/^6 of 8 run it/)
  })

  test('is a push under way, or a halted rollout with who runs what, and nothing of what is over', () => {
    expect(describeEndedBy(workload({}))).toBe('It supersedes a push that is under way.')
    expect(describeEndedBy(workload({ rollout_status: 'halted' }))).toBe(
      'dd38e98: 6 of 8 run it; 2 run 516537f. The halted rollout ends with this.',
    )
    expect(describeEndedBy(workload({ status: 'applied', phase: 'applied' }))).toBe('')
  })
})
