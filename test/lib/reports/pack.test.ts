import { describe, expect, it } from 'vitest'
import { encodePack } from '../../../lib/reports/canonical.ts'
import { assemblePack, limitSections } from '../../../lib/reports/pack.ts'
import { createRedactor } from '../../../lib/reports/redaction.ts'
import { fairCap, keepWithin } from '../../../lib/reports/row-limits.ts'
import { buildSections } from '../../../lib/reports/sections.ts'
import type { EvidencePack } from '../../../lib/wire/reports.ts'
import { reportFrame, reportMaterial, reportRequest } from '../../support/report-material.ts'

const sizes = { workloads: 6, pushes: 5, events: 40 }
const build = (campaigns = 0) =>
  buildSections(
    reportMaterial({ ...sizes, campaigns }),
    reportFrame().request.include,
    createRedactor(new Map()),
  )

it('tells workloads of one name apart by their ids, in each sentence that names one, and no others', () => {
  const material = reportMaterial({ ...sizes, campaigns: 0 })
  const [first, second, third] = material.workloads
  second!.displayName = first!.displayName
  const sections = buildSections(material, reportFrame().request.include, createRedactor(new Map()))
  const name = first!.displayName
  for (const { id, items } of sections) {
    if (['campaigns', 'alerts', 'workload_events', 'audit_verification'].includes(id)) continue
    const said = (workload: string) =>
      items.filter((one) => one.workloadId === workload).map(({ item }) => item.summary)
    for (const { id: workload } of [first!, second!])
      for (const summary of said(workload)) expect(summary).toContain(`${name} (${workload.slice(0, 12)})`)
    for (const summary of said(third!.id)) expect(summary).not.toContain(third!.id.slice(0, 12))
    expect(said(first!.id).length, id).toBeGreaterThan(0)
  }
  // What a workload is called is a fact of its own, as it is.
  const facts = sections
    .find(({ id }) => id === 'workloads')!
    .items.map(({ item }) => item.facts['display_name'])
  expect(facts.slice(0, 2)).toEqual([name, name])
})

describe('row limits', () => {
  it('give who needs little all of it and share the rest evenly', () => {
    expect(fairCap([1, 2, 3], 6)).toBe(Number.POSITIVE_INFINITY)
    expect(fairCap([1, 10, 10], 11)).toBe(5)
    expect(fairCap([5, 5], 1)).toBe(0)
  })

  it('keep the newest of each workload', () => {
    const rows = ['a', 'a', 'a', 'b', 'c', 'c'].map((workloadId, n) => ({ workloadId, weight: 1, n }))
    expect(keepWithin(rows, 5).map(({ n }) => n)).toEqual([0, 1, 3, 4, 5])
    expect(keepWithin(rows, 2).map(({ n }) => n)).toEqual([0, 3])
  })

  it('let no section starve another, stay within what there is, and say what was cut', () => {
    const { sections, warnings } = limitSections(build(), 'pdf', {}, 100)
    const kept = Object.fromEntries(sections.map(({ id, items }) => [id, items.length]))
    expect(kept).toMatchObject({ workloads: 6, drift: 6, config_history: 30, workload_events: 35 })
    expect(Object.values(kept).reduce((a, b) => a + b)).toBeLessThanOrEqual(100)
    expect(warnings).toEqual([
      {
        code: 'workload_events_truncated',
        message: expect.stringContaining('35 of 240 items, of each workload the newest'),
      },
    ])
  })

  it('cut the targets of campaigns, of each workload the oldest first, and say so; the campaigns stay', () => {
    const { sections, warnings } = limitSections(build(40), 'pdf', {}, 500)
    const kept = sections.find(({ id }) => id === 'campaigns')!.items
    const count = (resource: string) => kept.filter(({ item }) => item.resource === resource).length
    expect(count('campaign')).toBe(40)
    expect(count('campaign_target')).toBeGreaterThan(90)
    expect(count('campaign_target')).toBeLessThan(240)
    expect(kept[40]!.item.facts).toMatchObject({ campaign_id: 'cmp_40' })
    expect(warnings).toContainEqual({
      code: 'campaigns_truncated',
      message: expect.stringContaining(`${kept.length} of 280 items`),
    })
  })

  it('count lines and not items in CSV', () => {
    const { sections } = limitSections(build(1), 'csv', {}, 500)
    const lines = sections.flatMap(({ items }) => items.map(({ item }) => Object.keys(item.facts).length))
    expect(lines.reduce((a, b) => a + b)).toBeLessThanOrEqual(500)
    expect(sections.map(({ items }) => items.length > 0)).toEqual(Array(11).fill(true))
  })

  it('count what there is, and not what was read, where both the reading and the format cut', () => {
    const extents = { workload_events: { total: 1_000_000, perWorkload: 40 } }
    const { warnings } = limitSections(build(), 'pdf', extents, 100)
    expect(warnings).toEqual([
      {
        code: 'workload_events_truncated',
        message: expect.stringContaining('35 of 1000000 items'),
      },
    ])
  })

  it('say so when not everything was read in the first place', () => {
    const material = reportMaterial(sizes)
    material.extents.workload_events = { total: 1_000_000, perWorkload: 40 }
    material.extents.config_history = { total: 30, perWorkload: null }
    const { frame } = assemblePack(reportFrame(), material)
    expect(frame.warnings).toEqual([
      { code: 'workload_events_truncated', message: expect.stringContaining('240 of 1000000 items') },
    ])
  })
})

describe('a pack', () => {
  it('has one inputs_hash for all formats, and neither the clock nor the audit head in it', () => {
    const base = assemblePack(reportFrame(), reportMaterial(sizes))
    const later = reportMaterial(sizes)
    later.audit = { ...later.audit!, headSeq: 413, headHash: 'f'.repeat(64), checkedCount: 413 }
    const packs = [
      assemblePack(reportFrame({ target: 'pdf' }), reportMaterial(sizes)),
      assemblePack(reportFrame({ target: 'csv' }), reportMaterial(sizes)),
      assemblePack(reportFrame({ generatedAt: '2027-01-01T00:00:00.000Z' }), reportMaterial(sizes)),
      assemblePack(reportFrame(), later),
    ]
    expect(packs.map(({ frame }) => frame.inputs_hash)).toEqual(Array(4).fill(base.frame.inputs_hash))
    expect(packs[3]!.frame.report_hash).not.toBe(base.frame.report_hash)
  })

  it('has another inputs_hash when a fact or the request changes', () => {
    const base = assemblePack(reportFrame(), reportMaterial(sizes)).frame.inputs_hash
    const changed = reportMaterial(sizes)
    changed.workloads[2]!.version = '9.9.9'
    expect(assemblePack(reportFrame(), changed).frame.inputs_hash).not.toBe(base)
    const request = reportRequest({ scope: { group_id: 'other' } })
    expect(assemblePack(reportFrame({ request }), reportMaterial(sizes)).frame.inputs_hash).not.toBe(base)
  })

  it('redacts what it repeats of the request', () => {
    const request = reportRequest({ scope: { selector: { owner: 'root@localhost', api_key: 'abc' } } })
    const { frame } = assemblePack(reportFrame({ request }), reportMaterial(sizes))
    expect(frame.scope.requested_scope).toEqual({ selector: { owner: '[redacted]', api_key: '[redacted]' } })
    expect(frame.scope.selector).toEqual({ owner: '[redacted]', api_key: '[redacted]' })
  })

  it('has [] for a section without items, and the signed audit where there is one', () => {
    const material = reportMaterial(sizes)
    material.alerts = []
    const signedAudit = { status: 'verified', verifier: 'edition', checked_at: '2026-07-02T12:00:00.000Z' }
    const { frame, sections } = assemblePack(reportFrame({ signedAudit }), material)
    const pack = JSON.parse(Buffer.concat(encodePack(frame, sections)).toString()) as EvidencePack
    expect(pack.sections.find(({ id }) => id === 'alerts')!.items).toEqual([])
    expect(pack.signed_audit).toEqual(signedAudit)
  })
})
